#include "core/place/domain_wait.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/state/node_labels.hpp"

namespace tidepool::core {
namespace {

bool is_apart(const Job& job) {
  return job.spec.placement.strategy == TopologyStrategy::kStrictSpread;
}
bool is_in_one(const Job& job) {
  return job.spec.placement.strategy == TopologyStrategy::kStrictPack;
}

std::string domain_at(const ClusterState& state, const Job& job, NodeId node) {
  return domain_of(*state.find_node(node), job.spec.placement.key);
}

// Workers that each domain would hold if it were empty.
std::map<std::string, int> held_by_empty(const ClusterState& state, const Job& job) {
  std::map<std::string, int> workers;
  for (const auto& [id, node] : state.nodes) {
    if (!node.takes_workers() || !may_run_on(job, node)) continue;
    workers[domain_of(node, job.spec.placement.key)] += static_cast<int>(node.owners.size()) / job.spec.gpus_per_worker;
  }
  return workers;
}

// The first one of those with most; the end of the map if there is none.
template <class Map>
auto most_of(const Map& map) {
  return std::max_element(map.begin(), map.end(), [](const auto& one, const auto& other) {
    return std::pair(one.second, other.first) < std::pair(other.second, one.first);
  });
}

// Of the nodes of this domain, or of all on which the job may be: that which holds most slots there.
JobId holder_in(const ClusterState& state, const Job& job, const std::string& domain) {
  std::map<JobId, int> held;
  for (const auto& [id, node] : state.nodes) {
    const bool counts = node.takes_workers() && may_run_on(job, node);
    if (!counts || (!domain.empty() && domain_of(node, job.spec.placement.key) != domain)) continue;
    for (const WorkerId owner : node.owners) {
      if (owner) ++held[state.find_worker(owner)->job];
    }
  }
  const auto most = most_of(held);
  return most == held.end() ? JobId() : most->first;
}

}  // namespace

std::vector<std::string> domains_by_room(const ClusterState& state, const Job& job,
                                         const std::vector<RoomOnNode>& rooms) {
  const std::map<std::string, int> empty = held_by_empty(state, job);
  std::map<std::string, int> room_in;
  for (const RoomOnNode& room : rooms) room_in[domain_at(state, job, room.node)] += room.workers;
  std::vector<std::pair<int, std::string>> order;
  for (const auto& [domain, workers] : room_in) {
    const auto all = empty.find(domain);
    if (all != empty.end() && all->second >= job.spec.elastic.sizes.front()) order.emplace_back(-workers, domain);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::string> domains;
  domains.reserve(order.size());
  for (auto& [workers, domain] : order) domains.push_back(std::move(domain));
  return domains;
}

Job bound_to(const ClusterState& state, const Job& job, const std::string& domain) {
  Job bound = job;
  PlacementSpec& placement = bound.spec.placement;
  std::vector<std::string> names;
  for (const auto& [id, node] : state.nodes) {
    if (domain_of(node, placement.key) == domain && may_run_on(job, node)) names.push_back(node.name);
  }
  placement.selector[kNodeLabel] = std::move(names);
  placement.strategy = TopologyStrategy::kPack;
  placement.key = kNodeLabel;
  return bound;
}

reason::WaitingForDomains waits_by_rules(const ClusterState& state, const FreeSlots& free, const Job& job, bool names) {
  const int each = job.spec.gpus_per_worker;
  const int smallest = job.spec.elastic.sizes.front();
  const PlacementSpec& placement = job.spec.placement;
  const std::vector<RoomOnNode> rooms = free.rooms_for({.job = &job, .slots_per_worker = each});
  const int room = workers_by_rules(state, job.spec, rooms);
  reason::WaitingForDomains why{.needed = is_apart(job) ? smallest : smallest * each,
                                .room = is_apart(job) ? room : room * each,
                                .apart = is_apart(job),
                                .exclusive = placement.exclusive,
                                .word = is_apart(job) || is_in_one(job) ? placement.key : std::string()};
  if (!names) return why;
  std::string domain;
  const auto domains = is_in_one(job) ? domains_by_room(state, job, rooms) : std::vector<std::string>();
  if (!domains.empty() && room > 0) {
    domain = domains.front();
    why.word = domain_text(domain, placement.key);
  }
  why.holder = holder_in(state, job, domain);
  return why;
}

reason::DomainsTooSmall domains_too_small(const ClusterState& state, const Job& job, bool names) {
  const int each = job.spec.gpus_per_worker;
  const int smallest = job.spec.elastic.sizes.front();
  const int most = empty_cluster_capacity(state, job);
  reason::DomainsTooSmall why{.needed = is_apart(job) ? smallest : smallest * each,
                              .room = is_apart(job) ? most : most * each,
                              .apart = is_apart(job),
                              .word = job.spec.placement.key};
  if (!names || is_apart(job)) return why;
  const std::map<std::string, int> empty = held_by_empty(state, job);
  if (const auto largest = most_of(empty); largest != empty.end()) {
    why.word = domain_text(largest->first, job.spec.placement.key);
  }
  return why;
}

reason::NoRoomByRules no_room_by_rules(const Job& job, int next) {
  reason::NoRoomByRules why{{.size = job.size(), .next = next}};
  why.apart = is_apart(job);
  why.exclusive = job.spec.placement.exclusive;
  if (is_apart(job) || is_in_one(job)) why.word = job.spec.placement.key;
  return why;
}

}  // namespace tidepool::core
