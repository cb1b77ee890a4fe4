#include "core/decide/node_clearing.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/decide/open_slots.hpp"
#include "core/decide/size_planner.hpp"
#include "core/decide/type_moves.hpp"
#include "core/place/clearing.hpp"
#include "core/state/measured/change_costs.hpp"
#include "core/state/measured/job_work.hpp"
#include "core/state/membership.hpp"
#include "core/state/node_constraints.hpp"
#include "core/state/node_labels.hpp"
#include "core/state/worker_groups.hpp"

namespace tidepool::core {
namespace {

constexpr int kTriesMost = 8;  // each without a job more that finds no room elsewhere

enum class Way { kStays, kMoves, kStartsAgain };

// Workers of a job that leave together, as LeavingWorkers.
struct Departure {
  const Job* job = nullptr;
  std::vector<WorkerId> workers;
  Way way = Way::kStays;
};

// What of the job needs slots of one node together, at its smallest size: its workers, or its groups. None: no nodes
// are cleared for it.
std::optional<GangSize> cleared_size(const JobSpec& spec) {
  if (spec.scaling.price_cap || spec.placement.exclusive || has_strict_topology(spec)) return std::nullopt;
  if (has_groups(spec) && spec.placement.key != kNodeLabel) return std::nullopt;
  const int group = spec.elastic.group;
  const GangSize size{.workers = spec.elastic.sizes.front() / group, .slots_each = group * spec.gpus_per_worker};
  return size.slots_each == 1 ? std::nullopt : std::optional(size);
}

std::optional<int> group_of(const Job& job) {
  return has_groups(job.spec) ? std::optional(job.spec.elastic.group) : std::nullopt;
}

// What a clearing uses up, beside the slots of the draft.
struct Room {
  SlotReservations& reservations;
  PreemptionLimits& limits;
};

class NodeClearing {
 public:
  // `type`: of slots, where all workers have to be on one; null = any. Requires: nodes are cleared for the job.
  NodeClearing(DecisionDraft& draft, const Job& waiting, Room room, const std::string* type)
      : draft_(draft),
        waiting_(waiting),
        reservations_(room.reservations),
        limits_(room.limits),
        gang_(*cleared_size(waiting.spec)) {
    for (const auto& [id, node] : draft.state().nodes) {
      if (!may_hold(draft, node, waiting)) continue;
      if (type != nullptr && node.slot_type != *type) continue;
      free_[id] = static_cast<int>(draft.free_slots().free_on(id));
      // What comes free is for others, unless it was left for this job.
      open_[id] = is_cleared_for(waiting) ? reservations_.room_on(id) : free_[id];
    }
  }

  [[nodiscard]] bool has_slots_enough() const {
    int open = 0;
    for (const auto& [node, slots] : open_) open += slots;
    return open >= gang_.workers * gang_.slots_each;
  }

  bool clear() {
    for (const auto& [node, slots] : open_) look_at(*draft_.state().find_node(node));
    for (int tries = 0; tries < kTriesMost; ++tries) {
      const auto leave = who_leaves(open_, leaving_workers_, gang_);
      if (!leave) return false;
      const WorkersOn kept = nodes_kept(*leave);
      std::map<JobId, Departure> leaving;
      for (const std::size_t i : *leave) join(leaving[departures_[i].job->id], departures_[i]);
      const Job* stays = beyond_limit(leaving);
      if (stays == nullptr) stays = without_room_elsewhere(leaving, kept);
      if (stays == nullptr) {
        carry_out(leaving, kept);
        return true;
      }
      keep_where_it_is(*stays);
    }
    return false;
  }

 private:
  void look_at(const Node& node) {
    std::map<JobId, Departure> here;
    for (auto owner = node.owners.begin(); owner != node.owners.end(); ++owner) {
      if (!*owner || std::find(node.owners.begin(), owner, *owner) != owner) continue;
      const Worker& worker = *draft_.state().find_worker(*owner);
      const Way way = way_of(worker);
      if (way == Way::kStays) continue;
      const Job& job = *draft_.state().find_job(worker.job);
      if (way == Way::kStartsAgain && !whole_.insert(job.id)) continue;
      Departure& leaving = here[job.id];
      leaving.job = &job;
      leaving.way = way;
      if (way == Way::kStartsAgain) {
        leaving.workers = job.membership.workers;
      } else {
        leaving.workers.push_back(worker.id);
      }
    }
    for (auto& [id, leaving] : here) add(std::move(leaving));
  }

  void add(Departure leaving) {
    LeavingWorkers workers_leaving;
    for (const WorkerId id : leaving.workers) {
      const Worker& worker = *draft_.state().find_worker(id);
      workers_leaving.held[worker.node] += static_cast<int>(worker.slots.size());
    }
    const Job& job = *leaving.job;
    const auto workers = static_cast<int>(leaving.workers.size());
    workers_leaving.cost_s = leaving.way == Way::kMoves
                                 ? cost_of_moving(job, workers)
                                 : resume_cost(job).to_seconds() * workers * job.spec.gpus_per_worker;
    leaving_workers_.push_back(std::move(workers_leaving));
    departures_.push_back(std::move(leaving));
  }

  [[nodiscard]] Way way_of(const Worker& worker) {
    if (worker.is_gone() || comes_free(draft_.state(), worker, draft_.leaving_workers())) return Way::kStays;
    const auto [way, is_first] = ways_.try_emplace(worker.job);
    if (is_first) way->second = way_of(*draft_.state().find_job(worker.job));
    return way->second;
  }

  [[nodiscard]] SlotsFor claim() const { return {waiting_, gang_.workers * gang_.slots_each}; }

  [[nodiscard]] Way way_of(const Job& job) const {
    const bool is_bound = has_gang_rule(job.spec) || job.spec.scaling.price_cap;
    if (job.spec.gpus_per_worker >= gang_.slots_each || is_bound) return Way::kStays;
    if (!can_change(draft_, job) || draft_.alters(job.id) || job.membership.workers != members_of(job)) {
      return Way::kStays;
    }
    if (can_hand_on(job) && !cools_down(draft_, job)) return Way::kMoves;
    const bool outranks = job.spec.tenant == waiting_.spec.tenant && job.spec.priority > waiting_.spec.priority;
    if (outranks || !draft_.follows_plan(job) || job.requests.pinned_size > 0) return Way::kStays;
    if (preemption_barred(draft_, job) || ends_soon(job, draft_.now())) return Way::kStays;
    if (limits_.lets_refuse(claim(), job)) return Way::kStays;  // it could go on where it is
    return limits_.allow(claim(), job) ? Way::kStartsAgain : Way::kStays;
  }

  // Ascending.
  static std::vector<WorkerId> members_of(const Job& job) {
    std::vector<WorkerId> members = job.membership.members;
    std::sort(members.begin(), members.end());
    return members;
  }

  static void join(Departure& all, const Departure& more) {
    all.job = more.job;
    all.way = more.way;
    all.workers.insert(all.workers.end(), more.workers.begin(), more.workers.end());
  }

  // Once these have left.
  [[nodiscard]] WorkersOn nodes_kept(const std::vector<std::size_t>& leave) const {
    SlotsOn open = open_;
    for (const std::size_t i : leave) {
      for (const auto& [node, slots] : leaving_workers_[i].held) {
        if (const auto found = open.find(node); found != open.end()) found->second += slots;
      }
    }
    return nodes_kept_for(open, free_, gang_);
  }

  // The last that is preempted beyond what the pool's limit leaves; null = none is.
  [[nodiscard]] const Job* beyond_limit(const std::map<JobId, Departure>& leaving) const {
    std::optional<int> left = limits_.none() ? std::nullopt : limits_.left();
    const Job* last = nullptr;
    for (const auto& [id, each] : leaving) {
      if (!left || each.way != Way::kStartsAgain || limits_.covers(claim(), *each.job)) continue;
      if (--*left < 0) last = each.job;
    }
    return last;
  }

  // The first that finds none on free slots beside those that are kept; null = each finds some.
  [[nodiscard]] const Job* without_room_elsewhere(const std::map<JobId, Departure>& leaving, const WorkersOn& kept) {
    FreeSlots slots = draft_.free_slots();
    std::uint64_t no_worker = 0;
    for (const auto& [node, workers] : kept) {
      const int now = std::min(workers * gang_.slots_each, free_.at(node));
      if (now > 0) (void)slots.take_on({{node, 1}}, now, no_worker);
    }
    for (const auto& [id, each] : leaving) {
      if (!slots.take(request_of(each), no_worker)) return each.job;
    }
    return nullptr;
  }

  void keep_where_it_is(const Job& job) {
    for (std::size_t i = departures_.size(); i-- > 0;) {
      if (departures_[i].job != &job) continue;
      departures_.erase(departures_.begin() + static_cast<std::ptrdiff_t>(i));
      leaving_workers_.erase(leaving_workers_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  [[nodiscard]] GangRequest request_of(const Departure& leaving) {
    const auto workers = static_cast<int>(leaving.workers.size());
    if (leaving.way == Way::kMoves) {
      GangRequest request = gang_beside_members(draft_.state(), *leaving.job, workers);
      request.slot_types = draft_.types_for_more(*leaving.job);
      return request;
    }
    return {.job = leaving.job,
            .workers = workers,
            .slots_per_worker = leaving.job->spec.gpus_per_worker,
            .slot_types = leaving.job->spec.slot_types,
            .one_type = !leaving.job->spec.mixed_types};
  }

  void carry_out(const std::map<JobId, Departure>& leaving, const WorkersOn& kept) {
    for (const auto& [id, each] : leaving) {
      for (const WorkerId worker : each.workers) reservations_.add(*draft_.state().find_worker(worker));
    }
    for (const auto& [node, workers] : kept) reservations_.keep(node, workers * gang_.slots_each);
    for (const auto& [id, each] : leaving) {
      if (each.way == Way::kMoves) {
        move(each);
      } else {
        preempt_for(draft_, *each.job, waiting_.id, true);
      }
    }
  }

  void move(const Departure& leaving) {
    const Job& job = *leaving.job;
    auto joining = draft_.free_slots().take(request_of(leaving), draft_.next_worker());
    TP_CHECK(joining, "those that move have been found room elsewhere");
    std::vector<WorkerId> in_rank_order;
    for (const WorkerId id : job.membership.members) {
      if (contains(leaving.workers, id)) in_rank_order.push_back(id);
    }
    const reason::MovedForRoom reason{.for_job = waiting_.id,
                                      .size = waiting_.spec.elastic.sizes.front(),
                                      .slots_each = gang_.slots_each,
                                      .group = group_of(waiting_),
                                      .node = draft_.state().find_worker(in_rank_order.front())->node,
                                      .cost_s = cost_of_moving(job, static_cast<int>(in_rank_order.size()))};
    draft_.conclude(job, MoveIntent{job.id, *std::move(joining), std::move(in_rank_order), ReplaceCause::kTogether},
                    reason);
  }

  DecisionDraft& draft_;
  const Job& waiting_;
  SlotReservations& reservations_;
  PreemptionLimits& limits_;
  GangSize gang_;
  SlotsOn open_;
  SlotsOn free_;
  IdTable<JobId, Way> ways_;
  IdSet<JobId> whole_;  // jobs that give up all slots, if any
  std::vector<LeavingWorkers> leaving_workers_;
  std::vector<Departure> departures_;  // in the order of leaving_workers_
};

}  // namespace

bool is_cleared_for(const Job& job) {
  return job.state() == JobState::kPending && job.verdict.blocked.on == BlockedOn::kNodesCleared;
}

bool clear_nodes_for(DecisionDraft& draft, const Job& waiting, SlotReservations& reservations,
                     PreemptionLimits& limits) {
  if (!cleared_size(waiting.spec) || draft.reserved() > 0) return false;
  const FreeSlots& slots = draft.free_slots();
  std::vector<const std::string*> types{nullptr};
  if (!waiting.spec.mixed_types && slots.has_several_types()) {
    types.clear();
    for (const std::string& type : slots.types()) types.push_back(&type);
  }
  for (const std::string* type : types) {
    NodeClearing clearing(draft, waiting, Room{reservations, limits}, type);
    if (!clearing.has_slots_enough()) continue;
    draft.set_unsettled();
    if (clearing.clear()) return true;
  }
  return false;
}

Finding waits_for_cleared(const Job& job) {
  const GangSize size = *cleared_size(job.spec);
  return {reason::NodesBeingCleared{.workers = size.workers, .slots_each = size.slots_each, .group = group_of(job)},
          {BlockedOn::kNodesCleared}};
}

}  // namespace tidepool::core
