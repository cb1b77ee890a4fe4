#include "core/decide/gather.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/decide/open_slots.hpp"
#include "core/decide/size_planner.hpp"
#include "core/place/together.hpp"
#include "core/state/membership.hpp"
#include "core/state/node_constraints.hpp"
#include "core/state/node_labels.hpp"
#include "core/state/worker_groups.hpp"

namespace tidepool::core {
namespace {

constexpr int kNodesTried = 8;  // to have one emptied for a job

GangRequest gang_of(DecisionDraft& draft, const Job& job, int workers) {
  GangRequest gang{.job = &job, .workers = workers, .slots_per_worker = job.spec.gpus_per_worker};
  gang.slot_types = draft.types_for_more(job);
  // A job that takes any slots does not come to those that others ask for.
  const std::set<std::string>& asked = draft.types_asked_for();
  if (job.spec.mixed_types && job.spec.slot_types.empty()) gang.other_than.assign(asked.begin(), asked.end());
  // Whatever moves stays in the domains in which the job is: it comes to no more of them.
  const std::string& key = job.spec.placement.key;
  if (!is_arranged(job.spec)) return gang;
  for (const auto& [node, count] : nodes_of(draft.state(), job.membership.members)) {
    gang.domains.insert(domain_of(*draft.state().find_node(node), key));
  }
  return gang;
}

// They lie together or apart by what the job asks, which placing alone sees to.
bool lies_by_itself(const Job& job) {
  return job.spec.placement.exclusive || has_groups(job.spec) || asks_to_spread(job.spec);
}

TogetherRequest together_request(DecisionDraft& draft, const Job& job, int workers) {
  return {.gang = gang_of(draft, job, workers),
          .own = nodes_of(draft.state(), job.membership.members),
          .nodes_max = nodes_together(fewest_nodes(draft.free_slots(), job, workers))};
}

// The changes that bring the job's workers to these nodes.
struct Regrouping {
  WorkersOn joining;
  std::vector<WorkerId> leaving;  // in rank order
  int nodes = 1;                  // that all its workers are on then

  [[nodiscard]] int joins() const {
    int workers = 0;
    for (const auto& [node, count] : joining) workers += count;
    return workers;
  }
};

Regrouping change_to(const DecisionDraft& draft, const Job& job, const WorkersOn& wanted) {
  Regrouping change{.joining = wanted, .leaving = {}, .nodes = static_cast<int>(wanted.size())};
  for (const WorkerId id : job.membership.members) {
    const auto there = change.joining.find(draft.state().find_worker(id)->node);
    if (there == change.joining.end()) {
      change.leaving.push_back(id);
    } else if (--there->second == 0) {
      change.joining.erase(there);
    }
  }
  return change;
}

// A worker that took the place of a slow one stays away from where that one was, and workers stay on nodes whose labels
// have changed.
bool may_be_gathered(const DecisionDraft& draft, const Job& job) {
  const auto& members = job.membership.members;
  const bool may = !job.spec.scaling.price_cap && !lies_by_itself(job);
  return may && std::all_of(members.begin(), members.end(), [&](WorkerId id) {
           const Worker& worker = *draft.state().find_worker(id);
           return !worker.replaced && may_run_on(job, *draft.state().find_node(worker.node));
         });
}

std::optional<Regrouping> way_together(DecisionDraft& draft, const Job& job, int workers) {
  // At least one joins: a job that is apart does not come together with all its workers where they are.
  const int joins_least = std::max(1, workers - job.size());
  if (joins_least * job.spec.gpus_per_worker > draft.usable() || !may_be_gathered(draft, job)) return std::nullopt;
  TogetherRequest request = together_request(draft, job, workers);
  request.gang.steady = workers == job.size();  // a move that it can do without
  const auto wanted = lay_together(draft.free_slots(), request);
  if (!wanted) return std::nullopt;
  Regrouping change = change_to(draft, job, *wanted);
  const bool all_leave = change.leaving.size() == job.membership.members.size();
  if (change.joins() * job.spec.gpus_per_worker > draft.usable() || (all_leave && !can_hand_on(job))) {
    return std::nullopt;
  }
  return change;
}

// What its workers lose in so long if they are apart at this size, in slot-seconds.
double lost_apart(const Job& job, int size) {
  return kLostApart * size * job.spec.gpus_per_worker * kGatherWithin.to_seconds();
}

bool pays(const Job& job, int size, double cost_s) {
  return job.spec.pack_node || cost_s <= lost_apart(job, size);
}

bool may_move_now(const DecisionDraft& draft, const Job& job) {
  return can_change(draft, job) && !draft.alters(job.id) && !cools_down(draft, job) && can_hand_on(job) &&
         may_be_gathered(draft, job);
}

// A job that could leave a node for another one.
struct Neighbour {
  double cost_s = 0;
  const Job* job = nullptr;
  int slots = 0;
};

// A node that has room once these jobs have left it, in addition to slots that become free without a move.
struct Clearing {
  NodeId node;
  double cost_s = 0;
  std::vector<Neighbour> movers;
  WorkersOn joining;           // of the job for which it is
  std::set<NodeId> kept_free;  // nodes to which no other job moves
};

class RoomTogether {
 public:
  RoomTogether(DecisionDraft& draft, const Job& job, int size)
      : draft_(draft), job_(job), request_(together_request(draft, job, size)) {}

  [[nodiscard]] std::optional<Clearing> find() {
    std::optional<Clearing> best;
    for (const NodeId node : nodes_to_try()) {
      auto clearing = clear(node);
      if (clearing && (!best || clearing->cost_s < best->cost_s)) best = std::move(clearing);
    }
    return best;
  }

 private:
  // Those with most of its own workers, then those that lack least.
  [[nodiscard]] std::vector<NodeId> nodes_to_try() const {
    std::vector<std::pair<int, NodeId>> own;
    for (const auto& [node, workers] : request_.own) {
      if (draft_.free_slots().may_take(node, request_.gang)) own.emplace_back(-workers, node);
    }
    std::sort(own.begin(), own.end());
    std::vector<NodeId> nodes;
    nodes.reserve(own.size());
    for (const auto& [workers, node] : own) nodes.push_back(node);
    GangRequest any = request_.gang;
    any.slots_per_worker = 1;
    for (const NodeId node : draft_.free_slots().emptiest(any, kNodesTried)) {
      if (!request_.own.contains(node)) nodes.push_back(node);
    }
    if (nodes.size() > kNodesTried) nodes.resize(kNodesTried);
    return nodes;
  }

  // Jobs that are on this node alone, cheapest first.
  [[nodiscard]] std::vector<Neighbour> movers_on(NodeId node) const {
    std::vector<Neighbour> movers;
    std::set<JobId> seen;
    for (const WorkerId owner : draft_.state().find_node(node)->owners) {
      const Worker* worker = owner ? draft_.state().find_worker(owner) : nullptr;
      if (worker == nullptr || worker->job == job_.id || !seen.insert(worker->job).second) continue;
      const Job& other = *draft_.state().find_job(worker->job);
      const auto& workers = other.membership.workers;
      const bool is_here = std::all_of(workers.begin(), workers.end(),
                                       [&](WorkerId id) { return draft_.state().find_worker(id)->node == node; });
      if (!is_here || is_arranged(other.spec) || !may_move_now(draft_, other)) continue;
      movers.push_back({cost_of_moving(other, other.size()), &other, other.size() * other.spec.gpus_per_worker});
    }
    std::sort(movers.begin(), movers.end(), [](const Neighbour& one, const Neighbour& other) {
      return std::tuple(one.cost_s, one.job->id) < std::tuple(other.cost_s, other.job->id);
    });
    return movers;
  }

  [[nodiscard]] std::optional<Clearing> clear(NodeId node) {
    const int each = job_.spec.gpus_per_worker;
    const int open = static_cast<int>(draft_.free_slots().free_on(node)) + coming_on(node);
    const std::vector<Neighbour> movers = movers_on(node);
    int most = open;
    for (const Neighbour& mover : movers) most += mover.slots;
    TogetherRequest request = request_;
    request.emptied = node;
    request.emptied_room = most / each;
    const auto wanted = lay_together(draft_.free_slots(), request);
    if (!wanted || !wanted->contains(node)) return std::nullopt;
    Regrouping change = change_to(draft_, job_, *wanted);
    Clearing clearing{.node = node, .joining = std::move(change.joining)};
    const auto leaving = static_cast<int>(change.leaving.size());
    if (leaving > 0) clearing.cost_s = cost_of_moving(job_, leaving);
    for (const auto& [other, workers] : *wanted) clearing.kept_free.insert(other);
    const auto joining = clearing.joining.find(node);
    if (joining == clearing.joining.end()) return std::nullopt;
    int lacking = joining->second * each - open;
    for (const Neighbour& mover : movers) {
      if (lacking <= 0) break;
      lacking -= mover.slots;
      clearing.cost_s += mover.cost_s;
      clearing.movers.push_back(mover);
    }
    drop_unneeded(clearing, -lacking);
    return clearing;
  }

  // Slots of workers that leave the node anyway.
  [[nodiscard]] int coming_on(NodeId node) const {
    int slots = 0;
    for (const WorkerId owner : draft_.state().find_node(node)->owners) {
      const Worker* worker = owner ? draft_.state().find_worker(owner) : nullptr;
      if (worker != nullptr && comes_free(draft_.state(), *worker, draft_.leaving_workers())) ++slots;
    }
    return slots;
  }

  // So many slots more would come free than are lacking.
  static void drop_unneeded(Clearing& clearing, int spare) {
    for (std::size_t at = clearing.movers.size(); at-- > 0;) {
      const Neighbour& mover = clearing.movers[at];
      if (mover.slots > spare) continue;
      spare -= mover.slots;
      clearing.cost_s -= mover.cost_s;
      clearing.movers.erase(clearing.movers.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }

  DecisionDraft& draft_;
  const Job& job_;
  TogetherRequest request_;
};

// Where each of them goes; nothing if one finds no room. All its workers go to one node.
std::optional<std::vector<NodeId>> places_of(DecisionDraft& draft, const Clearing& clearing) {
  std::vector<NodeId> places;
  std::map<NodeId, int> taken;
  int slots = 0;
  for (const Neighbour& mover : clearing.movers) {
    std::set<NodeId> except = clearing.kept_free;
    GangRequest gang = gang_of(draft, *mover.job, mover.job->size());
    gang.steady = true;
    NodeId place;
    do {
      place = draft.free_slots().smallest_with(mover.slots, gang, except);
      except.insert(place);
    } while (place && static_cast<int>(draft.free_slots().free_on(place)) - taken[place] < mover.slots);
    if (!place) return std::nullopt;
    taken[place] += mover.slots;
    slots += mover.slots;
    places.push_back(place);
  }
  return slots <= draft.usable() ? std::optional(std::move(places)) : std::nullopt;
}

void move_to(DecisionDraft& draft, const Job& job, const Regrouping& change, const Cause& why) {
  auto joining = draft.free_slots().take_on(change.joining, job.spec.gpus_per_worker, draft.next_worker());
  if (change.leaving.empty()) {
    draft.conclude(job, GrowIntent{job.id, std::move(joining)}, why.reason, why.weighed);
  } else {
    draft.conclude(job, MoveIntent{job.id, std::move(joining), change.leaving, ReplaceCause::kTogether}, why.reason,
                   why.weighed);
  }
}

// What is free for the job already is no other's until the rest has come free.
void keep_free(DecisionDraft& draft, const Job& job, const WorkersOn& joining) {
  const int each = job.spec.gpus_per_worker;
  WorkersOn kept;
  for (const auto& [node, workers] : joining) {
    const int room = static_cast<int>(draft.free_slots().free_on(node)) / each;
    if (const int now = std::min(workers, room); now > 0) kept[node] = now;
  }
  std::uint64_t no_worker = 0;
  (void)draft.free_slots().take_on(kept, each, no_worker);
}

}  // namespace

bool is_spread(const ClusterState& state, const Job& job) {
  const auto& members = job.membership.members;
  const auto node_of = [&](WorkerId id) {
    const Worker* worker = state.find_worker(id);
    return worker == nullptr ? NodeId() : worker->node;
  };
  return job.state() == JobState::kRunning && std::any_of(members.begin(), members.end(), [&](WorkerId id) {
           return node_of(id) != node_of(members.front());
         });
}

bool is_apart(DecisionDraft& draft, const Job& job) {
  if (job.size() < 2 || lies_by_itself(job)) return false;
  const auto nodes = static_cast<int>(nodes_of(draft.state(), job.membership.members).size());
  return nodes > nodes_together(fewest_nodes(draft.free_slots(), job, job.size()));
}

bool grow_together(DecisionDraft& draft, const Job& job, int to, const Cause& why) {
  const auto change = way_together(draft, job, to);
  if (!change) return false;
  const double cost_s = change->leaving.empty() ? 0 : cost_of_moving(job, static_cast<int>(change->leaving.size()));
  if (!pays(job, to, cost_s)) return false;
  move_to(draft, job, *change, why);
  return true;
}

bool may_gather(DecisionDraft& draft) {
  return !draft.queue_waits() && draft.free_slots().free() > 0;
}

bool gathering_pays(const DecisionDraft& draft, const Job& job) {
  return !cools_down(draft, job) && pays(job, job.size(), cost_of_moving(job, 1));
}

bool gather(DecisionDraft& draft, const Job& job) {
  if (!may_gather(draft) || !gathering_pays(draft, job)) return false;
  if (!may_move_now(draft, job) || !is_apart(draft, job)) return false;
  const auto change = way_together(draft, job, job.size());
  if (!change) {
    (void)make_room_together(draft, job, job.size());
    return false;
  }
  const double cost_s = cost_of_moving(job, static_cast<int>(change->leaving.size()));
  if (!pays(job, job.size(), cost_s)) return false;
  const auto nodes_before = nodes_of(draft.state(), job.membership.members).size();
  move_to(draft, job, *change,
          {.reason = reason::MovedTogether{.workers = static_cast<int>(change->leaving.size()),
                                           .from_nodes = static_cast<int>(nodes_before),
                                           .to_nodes = change->nodes,
                                           .cost_s = cost_s}});
  return true;
}

bool make_room_together(DecisionDraft& draft, const Job& job, int size) {
  if (draft.queue_waits() || !may_be_gathered(draft, job)) return false;
  const auto clearing = RoomTogether(draft, job, size).find();
  if (!clearing || !pays(job, size, clearing->cost_s)) return false;
  const auto places = places_of(draft, *clearing);
  if (!places) return false;
  for (std::size_t at = 0; at < places->size(); ++at) {
    const Neighbour& mover = clearing->movers[at];
    const Regrouping change{.joining = {{(*places)[at], mover.job->size()}}, .leaving = mover.job->membership.members};
    move_to(draft, *mover.job, change,
            {.reason = reason::MovedForRoom{
                 .for_job = job.id, .size = size, .node = clearing->node, .cost_s = mover.cost_s}});
  }
  keep_free(draft, job, clearing->joining);
  return true;
}

}  // namespace tidepool::core
