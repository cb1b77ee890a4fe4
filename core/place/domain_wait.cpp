#include "core/place/domain_wait.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "core/state/node_labels.hpp"
#include "core/state/worker_groups.hpp"

namespace tidepool::core {
namespace {

// Workers, of which each group has to be in one domain, while the job may be in several; none: there are no groups.
std::optional<int> apart_groups(const Job& job) {
  return has_groups(job.spec) && !is_in_one_domain(job.spec) ? std::optional(job.spec.elastic.group) : std::nullopt;
}
// Their slots.
std::optional<int> slots_of_groups(const Job& job) {
  const auto group = apart_groups(job);
  return group ? std::optional(*group * job.spec.gpus_per_worker) : std::nullopt;
}

bool goes_by_domains(const Job& job) {
  return has_strict_topology(job.spec) || has_groups(job.spec);
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

// On slots of the type on which most of its workers have room, unless it may mix types.
std::vector<RoomOnNode> rooms_of_one_type(const ClusterState& state, const FreeSlots& free, const Job& job) {
  std::vector<RoomOnNode> rooms = free.rooms_for({.job = &job, .slots_per_worker = job.spec.gpus_per_worker});
  if (job.spec.mixed_types || !free.has_several_types()) return rooms;
  std::map<std::string, std::vector<RoomOnNode>> of_type;
  for (const RoomOnNode& room : rooms) of_type[state.find_node(room.node)->slot_type].push_back(room);
  const auto most = std::max_element(of_type.begin(), of_type.end(), [&](const auto& one, const auto& other) {
    return workers_by_rules(state, job.spec, one.second) < workers_by_rules(state, job.spec, other.second);
  });
  return most == of_type.end() ? std::vector<RoomOnNode>{} : most->second;
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

struct RoomAt {
  int all = 0;   // workers of the job that it would hold if it were empty
  int free = 0;  // those that it has room for now
  int slots = 0;
  int kept = 0;  // of its slots, held by jobs that are not preempted

  void add(const ClusterState& state, const Job& job, const Node& node, Instant now) {
    const int more = static_cast<int>(node.owners.size());
    all += more / job.spec.gpus_per_worker;
    slots += more;
    for (const WorkerId owner : node.owners) {
      const Worker* worker = owner ? state.find_worker(owner) : nullptr;
      if (worker == nullptr || worker->started_at >= now) continue;
      if (!state.find_job(worker->job)->spec.preemptible) ++kept;
    }
  }
};

std::vector<WaitPlace> best_of_each_type(const std::map<WaitPlace, RoomAt>& rooms, const Job& job) {
  const int smallest = job.spec.elastic.sizes.front();
  std::vector<std::tuple<bool, int, WaitPlace>> ranked;
  for (const auto& [place, room] : rooms) {
    if (room.all < smallest) continue;
    const bool is_kept = room.slots - room.kept < smallest * job.spec.gpus_per_worker;
    ranked.emplace_back(is_kept, -room.free, place);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<WaitPlace> best;
  for (auto& [is_kept, free, place] : ranked) {
    const auto has_its_type = [&](const WaitPlace& other) { return other.type == place.type; };
    if (std::none_of(best.begin(), best.end(), has_its_type)) best.push_back(std::move(place));
  }
  return best;
}

}  // namespace

std::vector<WaitPlace> places_to_wait_for(const ClusterState& state, const FreeSlots& free, const Job& job,
                                          Instant now) {
  const bool by_type = !job.spec.mixed_types && job.spec.slot_types.size() != 1 && free.has_several_types();
  if (!by_type && !is_in_one_domain(job.spec)) return {WaitPlace{}};
  const auto place_of = [&](const Node& node) {
    WaitPlace place;
    if (by_type) place.type = node.slot_type;
    if (is_in_one_domain(job.spec)) place.domain = domain_of(node, job.spec.placement.key);
    return place;
  };
  std::map<WaitPlace, RoomAt> rooms;
  for (const auto& [id, node] : state.nodes) {
    if (!node.takes_workers() || !may_run_on(job, node) || free.is_closed(id)) continue;
    rooms[place_of(node)].add(state, job, node, now);
  }
  for (const RoomOnNode& room : free.rooms_for({.job = &job, .slots_per_worker = job.spec.gpus_per_worker})) {
    rooms[place_of(*state.find_node(room.node))].free += room.workers;
  }
  return best_of_each_type(rooms, job);
}

Job bound_to(const ClusterState& state, const Job& job, const WaitPlace& place) {
  Job bound = job;
  if (place.type) bound.spec.slot_types = {*place.type};
  if (!place.domain) return bound;
  PlacementSpec& placement = bound.spec.placement;
  std::vector<std::string> names;
  for (const auto& [id, node] : state.nodes) {
    if (domain_of(node, placement.key) == *place.domain && may_run_on(bound, node)) names.push_back(node.name);
  }
  placement.selector[kNodeLabel] = std::move(names);
  placement.strategy = TopologyStrategy::kPack;
  if (!has_groups(bound.spec)) placement.key = kNodeLabel;  // each group still has to be in the domain
  return bound;
}

reason::WaitingForDomains waits_by_rules(const ClusterState& state, const FreeSlots& free, const Job& job, bool names) {
  const int each = job.spec.gpus_per_worker;
  const int smallest = job.spec.elastic.sizes.front();
  const PlacementSpec& placement = job.spec.placement;
  const std::vector<RoomOnNode> rooms = rooms_of_one_type(state, free, job);
  const int room = workers_by_rules(state, job.spec, rooms);
  reason::WaitingForDomains why{.needed = is_one_per_domain(job.spec) ? smallest : smallest * each,
                                .room = is_one_per_domain(job.spec) ? room : room * each,
                                .apart = is_one_per_domain(job.spec),
                                .exclusive = placement.exclusive,
                                .group = slots_of_groups(job),
                                .word = goes_by_domains(job) ? placement.key : std::string()};
  if (!names) return why;
  const auto domain = is_in_one_domain(job.spec) && room > 0 ? roomiest(state, job, rooms) : std::nullopt;
  if (domain) why.word = domain_text(*domain, placement.key);
  why.holder = holder_in(state, job, domain.value_or(""));
  return why;
}

reason::DomainsTooSmall domains_too_small(const ClusterState& state, const Job& job, bool names) {
  const int each = job.spec.gpus_per_worker;
  const int smallest = job.spec.elastic.sizes.front();
  const int most = empty_cluster_capacity(state, job);
  reason::DomainsTooSmall why{.needed = is_one_per_domain(job.spec) ? smallest : smallest * each,
                              .room = is_one_per_domain(job.spec) ? most : most * each,
                              .apart = is_one_per_domain(job.spec),
                              .group = slots_of_groups(job),
                              .word = job.spec.placement.key};
  if (!names || is_one_per_domain(job.spec) || why.group) return why;
  const std::map<std::string, int> empty = held_by_empty(state, job);
  if (const auto largest = most_of(empty); largest != empty.end()) {
    why.word = domain_text(largest->first, job.spec.placement.key);
  }
  return why;
}

reason::NoRoomByRules no_room_by_rules(const Job& job, int next) {
  reason::NoRoomByRules why{{.size = job.size(), .next = next}};
  why.apart = is_one_per_domain(job.spec);
  why.exclusive = job.spec.placement.exclusive;
  why.group = apart_groups(job);
  if (goes_by_domains(job)) why.word = job.spec.placement.key;
  return why;
}

}  // namespace tidepool::core
