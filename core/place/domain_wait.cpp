#include "core/place/domain_wait.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

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

std::optional<std::string> roomiest(const ClusterState& state, const Job& job, const std::vector<RoomOnNode>& rooms) {
  std::map<std::string, int> room_in;
  for (const RoomOnNode& room : rooms) room_in[domain_at(state, job, room.node)] += room.workers;
  const auto most = most_of(room_in);
  return most == room_in.end() ? std::nullopt : std::optional(most->first);
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

std::optional<std::string> domain_to_wait_for(const ClusterState& state, const FreeSlots& free, const Job& job,
                                              Instant now) {
  struct Domain {
    int all = 0;   // workers of the job that it would hold
    int kept = 0;  // slots held by jobs that are not preempted
    int slots = 0;
    int room = 0;
  };
  std::map<std::string, Domain> domains;
  for (const auto& [id, node] : state.nodes) {
    if (!node.takes_workers() || !may_run_on(job, node) || free.is_closed(id)) continue;
    Domain& domain = domains[domain_of(node, job.spec.placement.key)];
    domain.all += static_cast<int>(node.owners.size()) / job.spec.gpus_per_worker;
    domain.slots += static_cast<int>(node.owners.size());
    for (const WorkerId owner : node.owners) {
      const Worker* worker = owner ? state.find_worker(owner) : nullptr;
      if (worker == nullptr || worker->started_at >= now) continue;
      if (!state.find_job(worker->job)->spec.preemptible) ++domain.kept;
    }
  }
  for (const RoomOnNode& room : free.rooms_for({.job = &job, .slots_per_worker = job.spec.gpus_per_worker})) {
    domains[domain_at(state, job, room.node)].room += room.workers;
  }
  const int smallest = job.spec.elastic.sizes.front();
  std::optional<std::tuple<bool, int, std::string>> best;
  for (const auto& [name, domain] : domains) {
    if (domain.all < smallest) continue;
    const bool is_kept = domain.slots - domain.kept < smallest * job.spec.gpus_per_worker;
    const std::tuple rank(is_kept, -domain.room, name);
    if (!best || rank < *best) best = rank;
  }
  return best ? std::optional(std::get<2>(*best)) : std::nullopt;
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
  const auto domain = is_in_one(job) && room > 0 ? roomiest(state, job, rooms) : std::nullopt;
  if (domain) why.word = domain_text(*domain, placement.key);
  why.holder = holder_in(state, job, domain.value_or(""));
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
