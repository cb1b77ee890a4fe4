#include "core/place/placement.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "core/state/node_labels.hpp"

namespace tidepool::core {
namespace {

GangRequest on_type(GangRequest gang, const std::string& type) {
  gang.slot_types = {type};
  gang.one_type = false;
  return gang;
}

std::size_t free_in(const Node& node) {
  return static_cast<std::size_t>(std::count(node.owners.begin(), node.owners.end(), WorkerId()));
}

bool is_alone_on(const ClusterState& state, const Node& node, JobId job) {
  return std::all_of(node.owners.begin(), node.owners.end(),
                     [&](WorkerId owner) { return !owner || state.find_worker(owner)->job == job; });
}

// Workers of the job on empty nodes, in addition to those on `stay`.
int capacity_of(const ClusterState& state, const Job& job, const std::vector<NodeId>& stay) {
  const int each = job.spec.gpus_per_worker;
  std::map<std::string, std::vector<RoomOnNode>> rooms;  // by type, or all of them
  for (const auto& [id, node] : state.nodes) {
    if (!node.takes_workers() || !may_run_on(job, node)) continue;
    const std::string kind = job.spec.mixed_types ? std::string() : node.slot_type;
    rooms[kind].push_back({.node = id, .workers = static_cast<int>(node.owners.size()) / each});
  }
  int most = 0;
  for (const auto& [kind, nodes] : rooms) most = std::max(most, workers_by_rules(state, job.spec, nodes, stay));
  return most;
}

bool has_rules(const GangRequest& gang) {
  return gang.job != nullptr && has_gang_rule(gang.job->spec);
}

}  // namespace

FreeSlots::FreeSlots(const ClusterState& state, const IdSet<JobId>* exclusive) : state_(state) {
  find_kept(exclusive);
  for (const auto& [id, node] : state.nodes) {
    if (types_.empty() || *types_.rbegin() != node.slot_type) types_.insert(node.slot_type);
    if (!node.takes_workers()) continue;
    largest_ = std::max(largest_, static_cast<int>(node.owners.size()));
    if (!kept_.empty() && kept_.contains(id)) continue;
    const std::size_t free = free_in(node);
    if (free > 0) free_of_type_[node.slot_type] += static_cast<int>(free);
    if (free >= nodes_with_.size()) nodes_with_.resize(free + 1);
    nodes_with_[free].push_back(id);
    free_ += static_cast<int>(free);
  }
}

void FreeSlots::find_kept(const IdSet<JobId>* exclusive) {
  const auto keep = [&](const Job& job) {
    if (!job.spec.placement.exclusive) return;
    for (const WorkerId id : job.membership.workers) {
      const Node& node = *state_.find_node(state_.find_worker(id)->node);
      kept_[node.id] = is_alone_on(state_, node, job.id) ? job.id : JobId();
    }
  };
  if (exclusive != nullptr) {
    for (const JobId id : *exclusive) keep(*state_.find_job(id));
  } else {
    for (const auto& [id, job] : state_.jobs) keep(*job);
  }
}

int FreeSlots::room_for(int slots_per_worker) const {
  return room_for({.slots_per_worker = slots_per_worker});
}

int FreeSlots::room_for(const Job& job) const {
  return room_for({.job = &job, .slots_per_worker = job.spec.gpus_per_worker, .one_type = !job.spec.mixed_types});
}

int FreeSlots::room_for(const GangRequest& gang) const {
  const auto by_rules = [&](const GangRequest& any) {
    return workers_by_rules(state_, any.job->spec, rooms_for(any), any.stay);
  };
  if (has_rules(gang)) {
    if (!gang.one_type || !has_several_types()) return by_rules(gang);
    int most = 0;
    for (const std::string& type : types_open_to(gang)) most = std::max(most, by_rules(on_type(gang, type)));
    return most;
  }
  if (!gang.one_type || !has_several_types()) return room_anywhere(gang);
  int most = 0;
  for (const std::string& type : types_open_to(gang)) most = std::max(most, room_anywhere(on_type(gang, type)));
  return most;
}

std::vector<std::string> FreeSlots::types_open_to(const GangRequest& gang) const {
  const auto names = [](const std::vector<std::string>& list, const std::string& type) {
    return std::find(list.begin(), list.end(), type) != list.end();
  };
  std::vector<std::string> open;
  for (const std::string& type : types_) {
    if ((gang.slot_types.empty() || names(gang.slot_types, type)) && !names(gang.other_than, type))
      open.push_back(type);
  }
  return open;
}

// Of those with room for the whole gang: one that no other job asks for, if there is one, and of these the one on which
// its first worker would be.
std::optional<std::string> FreeSlots::type_for(const GangRequest& gang) const {
  std::vector<std::string> fitting;
  for (const std::string& type : types_open_to(gang)) {
    if (room_anywhere(on_type(gang, type)) >= gang.workers) fitting.push_back(type);
  }
  if (fitting.empty()) return std::nullopt;
  std::vector<std::string> unasked;
  for (const std::string& type : fitting) {
    if (gang.slot_types.empty() && !spared_.contains(type)) unasked.push_back(type);
  }
  GangRequest first = gang;
  first.one_type = false;
  first.slot_types = unasked.empty() ? std::move(fitting) : std::move(unasked);
  return state_.find_node(choose(first, gang.workers))->slot_type;
}

int FreeSlots::room_anywhere(const GangRequest& gang) const {
  const bool is_picky = gang.steady || gang.price_max || !gang.slot_types.empty() || !gang.other_than.empty() ||
                        gang.not_for != nullptr || (gang.job != nullptr && is_choosy(gang.job->spec));
  std::size_t workers = 0;
  for (auto free = static_cast<std::size_t>(gang.slots_per_worker); free < nodes_with_.size(); ++free) {
    const auto& nodes = nodes_with_[free];
    const auto open = is_picky ? static_cast<std::size_t>(std::count_if(nodes.begin(), nodes.end(),
                                                                        [&](NodeId id) { return suits(id, gang); }))
                               : nodes.size();
    workers += open * (free / static_cast<std::size_t>(gang.slots_per_worker));
  }
  const int room = static_cast<int>(workers);
  if (!gang.avoid_always || !may_take(gang.avoid, gang)) return room;
  return room - static_cast<int>(free_on(gang.avoid)) / gang.slots_per_worker;
}

void FreeSlots::close(const std::vector<std::string>& slot_types) {
  close_where([&](const Node& node) { return takes_slot_type(slot_types, node.slot_type); });
}

void FreeSlots::close_for(const Job& job) {
  close_where([&](const Node& node) { return may_run_on(job, node); });
}

void FreeSlots::close_where(const std::function<bool(const Node&)>& is_closed) {
  for (std::size_t slots = 0; slots < nodes_with_.size(); ++slots) {
    std::erase_if(nodes_with_[slots], [&](NodeId id) {
      if (!is_closed(*state_.find_node(id))) return false;
      free_ -= static_cast<int>(slots);
      free_of_type_[state_.find_node(id)->slot_type] -= static_cast<int>(slots);
      closed_slots_ += static_cast<int>(slots);
      closed_.insert(id);
      return true;
    });
  }
  for (const auto& [id, job] : kept_) {
    if (is_closed(*state_.find_node(id))) closed_kept_.insert(id);
  }
}

int FreeSlots::free_for(const Job& job) const {
  if (!is_choosy(job.spec)) return free_;
  std::size_t free = 0;
  for (std::size_t slots = 1; slots < nodes_with_.size(); ++slots) {
    for (const NodeId id : nodes_with_[slots]) free += may_run_on(job, *state_.find_node(id)) ? slots : 0;
  }
  return static_cast<int>(free);
}

int FreeSlots::free_of_type(const std::string& slot_type) const {
  const auto found = free_of_type_.find(slot_type);
  return found == free_of_type_.end() ? 0 : found->second;
}

std::optional<std::vector<WorkerPlacement>> FreeSlots::take(GangRequest gang, std::uint64_t& next_worker) {
  if (gang.workers < 1) return std::nullopt;
  if (gang.job != nullptr && is_arranged(gang.job->spec)) return take_arranged(std::move(gang), next_worker);
  if (gang.one_type && has_several_types()) {
    const auto type = type_for(gang);
    if (!type) return std::nullopt;
    gang = on_type(std::move(gang), *type);
  }
  if (room_anywhere(gang) < gang.workers) return std::nullopt;
  const auto need = static_cast<std::size_t>(gang.slots_per_worker);
  std::vector<WorkerPlacement> placements;
  for (int left = gang.workers; left > 0; --left) {
    const NodeId node = choose(gang, left);
    TP_CHECK(node, "a gang that fits finds a node for each worker");
    placements.push_back(take_one(node, need, next_worker));
    // A node that is full would be looked at again for each worker that follows.
    if (free_on(node) >= need) {
      gang.prefer.insert(node);
    } else {
      gang.prefer.erase(node);
    }
  }
  return placements;
}

// With those that are used last: the avoided one, and slots of types that others ask for.
std::vector<RoomOnNode> FreeSlots::rooms_for(const GangRequest& gang) const {
  const auto need = static_cast<std::size_t>(gang.slots_per_worker);
  const bool is_exclusive = gang.job->spec.placement.exclusive;
  const bool is_bound = !gang.slot_types.empty() || !gang.other_than.empty() || gang.not_for != nullptr;
  std::vector<RoomOnNode> rooms;
  const auto add = [&](NodeId id, std::size_t free) {
    const bool is_avoided = id == gang.avoid;
    if (free < need || (is_avoided && gang.avoid_always) || !suits(id, gang)) return;
    const bool is_spared = !is_bound && spared_.contains(state_.find_node(id)->slot_type);
    rooms.push_back({.node = id, .workers = static_cast<int>(free / need), .is_last = is_avoided || is_spared});
  };
  for (std::size_t free = need; free < nodes_with_.size(); ++free) {
    for (const NodeId id : nodes_with_[free]) {
      if (!is_exclusive || free == state_.find_node(id)->owners.size()) add(id, free);
    }
  }
  for (const auto& [id, job] : kept_) {
    if (job == gang.job->id) add(id, left_on(id));
  }
  std::sort(rooms.begin(), rooms.end(),
            [](const RoomOnNode& one, const RoomOnNode& other) { return one.node < other.node; });
  return rooms;
}

std::optional<std::vector<WorkerPlacement>> FreeSlots::take_arranged(GangRequest gang, std::uint64_t& next_worker) {
  std::vector<std::vector<std::string>> choices{gang.slot_types};
  if (gang.one_type && has_several_types()) {
    choices.clear();
    const auto types = types_open_to(gang);
    const bool any_do = gang.slot_types.empty();
    for (const bool is_last : {false, true}) {
      for (const std::string& type : types) {
        if ((any_do && spared_.contains(type)) == is_last) choices.push_back({type});
      }
    }
  }
  std::optional<std::vector<NodeId>> nodes;
  for (std::size_t at = 0; at < choices.size() && !nodes; ++at) {
    gang.slot_types = choices[at];
    nodes = arrange({.state = state_,
                     .spec = gang.job->spec,
                     .rooms = rooms_for(gang),
                     .stay = gang.stay,
                     .workers = gang.workers,
                     .first_on = gang.first_on});
  }
  if (!nodes) return std::nullopt;
  std::vector<WorkerPlacement> placements;
  for (const NodeId node : *nodes) {
    placements.push_back(take_one(node, static_cast<std::size_t>(gang.slots_per_worker), next_worker));
    if (gang.job->spec.placement.exclusive) keep_for(node, gang.job->id);
  }
  return placements;
}

void FreeSlots::hold_for(const Job& job, int workers) {
  GangRequest gang{.job = &job,
                   .slots_per_worker = job.spec.gpus_per_worker,
                   .slot_types = job.spec.slot_types,
                   .one_type = !job.spec.mixed_types};
  gang.workers = std::min(workers, room_for(gang));
  std::uint64_t no_worker = 0;
  if (gang.workers > 0) (void)take(std::move(gang), no_worker);
}

// What is left there is no other job's.
void FreeSlots::keep_for(NodeId node, JobId job) {
  const std::size_t free = free_on(node);
  if (!kept_.emplace(node, job).second) return;
  std::erase(nodes_with_[free], node);
  free_ -= static_cast<int>(free);
  free_of_type_[state_.find_node(node)->slot_type] -= static_cast<int>(free);
}

int FreeSlots::taken_on(NodeId node) const {
  const auto taken = taken_on_.find(node);
  return taken == taken_on_.end() ? 0 : static_cast<int>(taken->second.size());
}

int FreeSlots::kept_free(JobId job) const {
  std::size_t free = 0;
  for (const auto& [node, owner] : kept_) {
    if (owner == job) free += left_on(node);
  }
  return static_cast<int>(free);
}

WorkerPlacement FreeSlots::take_one(NodeId node, std::size_t slots, std::uint64_t& next_worker) {
  const std::size_t free = left_on(node);
  auto& taken = taken_on_[node];
  const auto& owners = state_.find_node(node)->owners;
  WorkerPlacement placement{WorkerId(next_worker++), node, {}};
  for (std::size_t slot = 0; placement.slots.size() < slots; ++slot) {
    const int index = static_cast<int>(slot);
    if (!owners.at(slot) && !std::binary_search(taken.begin(), taken.end(), index)) placement.slots.push_back(index);
  }
  taken.insert(taken.end(), placement.slots.begin(), placement.slots.end());
  std::sort(taken.begin(), taken.end());
  if (!kept_.contains(node)) move(node, free, free - slots);
  return placement;
}

std::vector<WorkerPlacement> FreeSlots::take_on(const std::map<NodeId, int>& workers, int slots_per_worker,
                                                std::uint64_t& next_worker) {
  std::vector<WorkerPlacement> placements;
  const auto slots = static_cast<std::size_t>(slots_per_worker);
  for (const auto& [node, count] : workers) {
    for (int worker = 0; worker < count; ++worker) placements.push_back(take_one(node, slots, next_worker));
  }
  return placements;
}

std::vector<NodeId> FreeSlots::emptiest(const GangRequest& gang, std::size_t count) const {
  std::vector<NodeId> found;
  const auto need = static_cast<std::size_t>(gang.slots_per_worker);
  for (std::size_t free = nodes_with_.size(); free-- > need && found.size() < count;) {
    for (const NodeId id : nodes_with_[free]) {
      if (found.size() == count) break;
      if (id != gang.avoid && suits(id, gang)) found.push_back(id);
    }
  }
  return found;
}

NodeId FreeSlots::smallest_with(int slots, const GangRequest& gang, const std::set<NodeId>& except) const {
  for (auto free = static_cast<std::size_t>(slots); free < nodes_with_.size(); ++free) {
    for (const NodeId id : nodes_with_[free]) {
      if (id != gang.avoid && !except.contains(id) && suits(id, gang)) return id;
    }
  }
  return {};
}

bool FreeSlots::may_take(NodeId node, const GangRequest& gang) const {
  const Node* found = state_.find_node(node);
  return found != nullptr && found->takes_workers() && !closed_.contains(node) && suits(node, gang);
}

int FreeSlots::largest_for(const Job& job) const {
  if (!is_choosy(job.spec)) return largest_;
  std::size_t largest = 0;
  for (const auto& [id, node] : state_.nodes) {
    if (node.takes_workers() && may_run_on(job, node)) largest = std::max(largest, node.owners.size());
  }
  return static_cast<int>(largest);
}

NodeId FreeSlots::choose(const GangRequest& gang, int workers_left) const {
  const auto need = static_cast<std::size_t>(gang.slots_per_worker);
  const bool is_first = workers_left == gang.workers;
  if (is_first && may_take(gang.first_on, gang) && free_on(gang.first_on) >= need) return gang.first_on;
  const bool is_bound = !gang.slot_types.empty() || !gang.other_than.empty() || gang.not_for != nullptr;
  if (!spared_.empty() && !is_bound) {
    GangRequest elsewhere = gang;
    elsewhere.other_than.assign(spared_.begin(), spared_.end());
    if (const NodeId id = best_of(elsewhere, workers_left)) return id;
  }
  const NodeId id = best_of(gang, workers_left);
  return id ? id : gang.avoid;
}

// None if only the avoided node has room.
NodeId FreeSlots::best_of(const GangRequest& gang, int workers_left) const {
  const auto need = static_cast<std::size_t>(gang.slots_per_worker);
  for (const NodeId id : gang.prefer) {
    if (id != gang.avoid && may_take(id, gang) && free_on(id) >= need) return id;
  }
  // The smallest node that takes all that is left, else the emptiest one.
  if (const NodeId id = smallest_with(gang.slots_per_worker * workers_left, gang)) return id;
  const std::vector<NodeId> emptiest_node = emptiest(gang, 1);
  return emptiest_node.empty() ? NodeId() : emptiest_node.front();
}

bool FreeSlots::suits(NodeId id, const GangRequest& gang) const {
  const Node& node = *state_.find_node(id);
  if (!gang.other_than.empty() && takes_slot_type(gang.other_than, node.slot_type)) return false;
  if (gang.not_for != nullptr && may_run_on(*gang.not_for, node)) return false;
  if (gang.job != nullptr && !may_run_on(*gang.job, node)) return false;
  const bool is_on_it = id == gang.first_on || gang.prefer.contains(id);
  if (gang.steady && !is_on_it && node.faults) return false;
  if (!gang.domains.empty() && !gang.domains.contains(domain_of(node, gang.job->spec.placement.key))) return false;
  return (!gang.price_max || node.price_per_slot_hour <= *gang.price_max) &&
         takes_slot_type(gang.slot_types, node.slot_type);
}

std::size_t FreeSlots::free_on(NodeId node) const {
  return kept_.contains(node) ? 0 : left_on(node);
}

std::size_t FreeSlots::left_on(NodeId node) const {
  if (!state_.find_node(node)->takes_workers() || closed_.contains(node)) return 0;
  return free_in(*state_.find_node(node)) - static_cast<std::size_t>(taken_on(node));
}

void FreeSlots::move(NodeId node, std::size_t from, std::size_t to) {
  std::erase(nodes_with_[from], node);
  auto& target = nodes_with_[to];
  target.insert(std::lower_bound(target.begin(), target.end(), node), node);
  free_ += static_cast<int>(to) - static_cast<int>(from);
  free_of_type_[state_.find_node(node)->slot_type] += static_cast<int>(to) - static_cast<int>(from);
}

int empty_cluster_capacity(const ClusterState& state, const Job& job) {
  return capacity_of(state, job, {});
}

int capacity_in_place(const ClusterState& state, const Job& job) {
  std::vector<NodeId> stay;
  if (is_in_one_domain(job.spec)) {
    for (const WorkerId id : job.membership.members) {
      if (const Worker* worker = state.find_worker(id)) stay.push_back(worker->node);
    }
  }
  return capacity_of(state, job, stay);
}

}  // namespace tidepool::core
