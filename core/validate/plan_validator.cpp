#include "core/validate/plan_validator.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/id_set.hpp"
#include "core/place/gang_rules.hpp"
#include "core/provision/provision_stage.hpp"
#include "core/state/job_state.hpp"
#include "core/state/membership.hpp"
#include "core/state/node_constraints.hpp"
#include "core/state/worker_groups.hpp"

namespace tidepool::core {
namespace {

Status breaks(const char* invariant, const std::string& what) {
  return conflict(std::string(invariant) + ": " + what);
}

// Walks over a plan in order, with what the intents before have already used up.
class PlanCheck {
 public:
  explicit PlanCheck(const ClusterState& state) : state_(state), next_worker_(state.next_worker) {}

  Status check(const Intent& intent) {
    const JobId id = job_of(intent);
    const Job* job = state_.find_job(id);
    if (job == nullptr) return breaks("JobExists", "there is no " + id.text());
    return std::visit([&](const auto& any) { return check(*job, any); }, intent);
  }

 private:
  Status check(const Job& job, const StartIntent& intent) {
    TP_TRY(one_change(job));
    if (job.state() != JobState::kPending) return breaks("StateAllowsIt", job.id.text() + " does not wait for a start");
    if (job.hold) return breaks("BudgetHolds", job.id.text() + " would start though a budget is spent");
    TP_TRY(size_allowed(job, static_cast<int>(intent.joining_workers.size())));
    TP_TRY(placements(job, intent.joining_workers));
    return fit_together(job, intent.joining_workers, {});
  }

  Status check(const Job& job, const GrowIntent& intent) {
    TP_TRY(resizable(job));
    const bool is_large = job.size() >= job.spec.elastic.sizes.front();
    if (job.hold && is_large) return breaks("BudgetHolds", job.id.text() + " would grow though a budget is spent");
    if (intent.joining_workers.empty()) return breaks("SizeIsAllowed", job.id.text() + " grows by no worker");
    TP_TRY(size_allowed(job, job.size() + static_cast<int>(intent.joining_workers.size())));
    TP_TRY(placements(job, intent.joining_workers));
    return fit_together(job, intent.joining_workers, {});
  }

  Status check(const Job& job, const ShrinkIntent& intent) {
    TP_TRY(resizable(job));
    const IdSet<WorkerId> leaving_workers(intent.leaving_workers.begin(), intent.leaving_workers.end());
    if (leaving_workers.empty() || leaving_workers.size() != intent.leaving_workers.size()) {
      return breaks("LeavingWorkersAreMembers", job.id.text() + " names no leaving worker, or one twice");
    }
    TP_TRY(are_members(job, leaving_workers));
    TP_TRY(whole_groups(job, intent.leaving_workers));
    leaving_workers_[job.id] = intent.leaving_workers;
    return size_allowed(job, job.size() - static_cast<int>(leaving_workers.size()));
  }

  Status check(const Job& job, const ReplaceIntent& intent) {
    TP_TRY(resizable(job));
    if (!contains(job.membership.members, intent.leaving_worker))
      return breaks("LeavingWorkersAreMembers", intent.leaving_worker.text());
    TP_TRY(whole_groups(job, {intent.leaving_worker}));
    TP_TRY(hands_on(job, 1));
    TP_TRY(placements(job, {intent.joining_worker}));
    return fit_together(job, {intent.joining_worker}, {intent.leaving_worker});
  }

  Status check(const Job& job, const MoveIntent& intent) {
    TP_TRY(resizable(job));
    const std::string name = job.id.text();
    const IdSet<WorkerId> leaving(intent.leaving_workers.begin(), intent.leaving_workers.end());
    if (leaving.empty() || leaving.size() != intent.leaving_workers.size()) {
      return breaks("LeavingWorkersAreMembers", name + " names no leaving worker, or one twice");
    }
    TP_TRY(are_members(job, leaving));
    TP_TRY(whole_groups(job, intent.leaving_workers));
    const int more = static_cast<int>(intent.joining_workers.size()) - static_cast<int>(leaving.size());
    if (more < 0) return breaks("SizeIsAllowed", name + " would be smaller");
    if (more > 0) TP_TRY(size_allowed(job, job.size() + more));
    TP_TRY(hands_on(job, static_cast<int>(leaving.size())));
    TP_TRY(placements(job, intent.joining_workers));
    return fit_together(job, intent.joining_workers, intent.leaving_workers);
  }

  Status check(const Job& job, const RebalanceIntent& intent) {
    TP_TRY(resizable(job));
    const std::string name = job.id.text();
    if (job.spec.resize != ResizeMode::kLive) return breaks("StateAllowsIt", name + " takes no change of shares");
    if (intent.generation != job.membership.generation || intent.number != job.shares.ordered.number + 1) {
      return breaks("SharesAreNext", name + " is at table " + std::to_string(job.shares.ordered.number) +
                                         " of generation " + std::to_string(job.membership.generation));
    }
    if (intent.weights.size() != job.membership.members.size()) return breaks("EveryMemberHasAShare", name);
    for (const std::int64_t weight : intent.weights) {
      if (weight < 1 || weight > kFullShare) return breaks("SharesWithinBounds", name);
    }
    if (!contains(job.membership.members, intent.worker)) return breaks("EveryMemberHasAShare", intent.worker.text());
    return ok_status();
  }

  Status check(const Job& job, const SwitchIntent& intent) {
    if (!is_active(job.state())) return breaks("StateAllowsIt", job.id.text() + " is " + to_text(job.state()));
    if (intent.number != job.membership.generation + 1) {
      return breaks("GenerationIsNext", job.id.text() + " is at " + std::to_string(job.membership.generation));
    }
    if (!switched_.insert(job.id)) return breaks("OneChangeAtATime", job.id.text() + " switches twice");
    if (job.recovery.moving) return breaks("StateComesFirst", job.id.text() + " would start while its state moves");
    const IdSet<WorkerId> distinct(intent.members.begin(), intent.members.end());
    if (distinct.size() != intent.members.size()) return breaks("MemberHasOneRank", job.id.text());
    const IdSet<WorkerId> members(job.membership.members.begin(), job.membership.members.end());
    const Transition* transition = job.phase.transition();
    const auto joining = transition == nullptr ? std::vector<WorkerId>() : transition->joining_workers;
    const IdSet<WorkerId> joins(joining.begin(), joining.end());
    for (const WorkerId id : intent.members) {
      if (!can_step(job, id, members.contains(id), joins.contains(id)))
        return breaks("MembersCanStep", id.text() + " cannot step in " + job.id.text());
    }
    const auto size = static_cast<int>(intent.members.size());
    if (size % job.spec.elastic.group != 0) return splits_a_group(job, size);
    if (size < job.spec.elastic.min || size > job.spec.elastic.max) {
      return breaks("SizeWithinBounds", job.id.text() + " would have " + std::to_string(size) + " workers");
    }
    return leaving_workers_stay_out(job, intent);
  }

  // No program of an older generation may live when those of the next one start: they would share a checkpoint.
  Status check(const Job& job, const LaunchIntent& intent) {
    const std::string name = job.id.text();
    if (job.spec.resize != ResizeMode::kRestart) return breaks("StateAllowsIt", name + " switches while it steps");
    if (!is_active(job.state()) || job.membership.members.empty())
      return breaks("StateAllowsIt", name + " has nothing to launch");
    if (intent.number != job.membership.generation || switched_.contains(job.id)) {
      return breaks("LaunchIsOfTheNewest", name + " is at " + std::to_string(job.membership.generation));
    }
    if (job.membership.restart_state.launched >= intent.number || !launched_.insert(job.id)) {
      return breaks("LaunchedOnce", name + " has launched " + std::to_string(intent.number));
    }
    if (const auto busy = still_running(state_, job)) return breaks("AllHaveStopped", busy->text() + " of " + name);
    return ok_status();
  }

  Status check(const Job& job, const PreemptIntent& intent) {
    TP_TRY(one_change(job));
    if (!is_active(job.state())) return breaks("StateAllowsIt", job.id.text() + " is " + to_text(job.state()));
    if (intent.number == 0) return ok_status();
    if (intent.number != job.membership.generation + 1) {
      return breaks("GenerationIsNext", job.id.text() + " is at " + std::to_string(job.membership.generation));
    }
    if (!switched_.insert(job.id)) return breaks("OneChangeAtATime", job.id.text() + " switches twice");
    if (job.membership.stepping_generation == 0) return breaks("StateAllowsIt", job.id.text() + " has nothing to park");
    return ok_status();
  }

  Status check(const Job& job, const AskIntent& intent) {
    TP_TRY(resizable(job));
    const Job* claimant = state_.find_job(intent.for_job);
    if (claimant != nullptr && claimant != &job) return ok_status();
    return breaks("JobExists", job.id.text() + " would leave for " + intent.for_job.text());
  }

  Status check(const Job& job, const StopWorkerIntent& intent) {
    const Worker* worker = state_.find_worker(intent.worker);
    if (worker == nullptr || worker->job != job.id) return breaks("JobOwnsItsWorkers", intent.worker.text());
    if (worker->kill_at || !stopped_.insert(intent.worker)) {
      return breaks("StoppedOnce", intent.worker.text() + " is being stopped already");
    }
    if (intent.grace < Duration()) return breaks("GraceIsTime", intent.worker.text());
    return ok_status();
  }

  Status check(const Job& job, const ProbeIntent& intent) {
    const Worker* worker = state_.find_worker(intent.worker);
    if (worker == nullptr || worker->job != job.id) return breaks("JobOwnsItsWorkers", intent.worker.text());
    const Node* node = state_.find_node(intent.node);
    if (node == nullptr || node->state != NodeState::kUp) return breaks("NodeIsUsable", intent.node.text());
    return ok_status();
  }

  Status check(const Job& job, const EndJobIntent&) {
    TP_TRY(one_change(job));
    if (is_final(job.state())) return breaks("StateAllowsIt", job.id.text() + " has already ended");
    if (has_live_workers(state_, job)) return breaks("NoLostRelease", job.id.text() + " still has live workers");
    return ok_status();
  }

  Status one_change(const Job& job) {
    if (changed_.insert(job.id)) return ok_status();
    return breaks("OneChangeAtATime", job.id.text() + " is changed twice");
  }

  Status resizable(const Job& job) {
    TP_TRY(one_change(job));
    if (!runs_unchanged(job) || winds_down(job))
      return breaks("OneChangeAtATime", job.id.text() + " is not free to change its size");
    return ok_status();
  }

  // A live job has its state in its workers. When all of them leave, one must be in a generation with a joining worker.
  [[nodiscard]] static Status hands_on(const Job& job, int leaving) {
    const bool keeps = leaving < job.size() || job.spec.resize == ResizeMode::kRestart || job.size() > 1;
    const bool may_have_two = job.spec.elastic.max >= 2 && job.spec.batch.global >= 2;
    return keeps || may_have_two ? ok_status() : breaks("StateIsHandedOn", job.id.text() + " has a single worker");
  }

  // Topology rules of a job: for workers that join, together with those that stay.
  Status fit_together(const Job& job, const std::vector<WorkerPlacement>& joining,
                      const std::vector<WorkerId>& leaving) {
    TP_TRY(of_one_type(job, joining, leaving));
    GangChange change{.job = job, .join = {}};
    const IdSet<WorkerId> leaves(leaving.begin(), leaving.end());
    for (const WorkerPlacement& placement : joining) change.join.push_back(placement.node);
    for (const WorkerId id : job.membership.members) {
      const Worker* worker = leaves.contains(id) ? nullptr : state_.find_worker(id);
      if (worker != nullptr) change.stay.push_back(worker->node);
    }
    for (const GangRule& rule : gang_rules()) {
      if (const auto broken = rule.broken(state_, change, placed_)) return breaks(rule.law, *broken);
    }
    for (const NodeId node : change.join) placed_[node].insert(job.id);
    return ok_status();
  }

  // All workers of a job are on slots of one type, but for a single one that hands its state on. A job of an earlier
  // version may have mixed them: it comes to no further type.
  [[nodiscard]] Status of_one_type(const Job& job, const std::vector<WorkerPlacement>& joining,
                                   const std::vector<WorkerId>& leaving) const {
    if (job.spec.mixed_types) return ok_status();
    const auto type_of = [&](NodeId id) {
      const Node* node = state_.find_node(id);
      return node == nullptr ? std::string() : node->slot_type;
    };
    const IdSet<WorkerId> leaves(leaving.begin(), leaving.end());
    std::set<std::string> held;
    for (const WorkerId id : job.membership.members) {
      const Worker* worker = state_.find_worker(id);
      if (worker != nullptr && !leaves.contains(id)) held.insert(type_of(worker->node));
    }
    std::set<std::string> joined;
    for (const WorkerPlacement& placement : joining) joined.insert(type_of(placement.node));
    const bool hands_state_on = job.size() == 1 && leaving.empty();
    const bool is_known = held.empty() || hands_state_on || held.contains(*joined.begin());
    if (joined.size() == 1 && is_known) return ok_status();
    return breaks("GangIsOfOneType", job.id.text() + " would be on slots of several types");
  }

  // Its workers leave in the groups in which they came.
  [[nodiscard]] static Status whole_groups(const Job& job, const std::vector<WorkerId>& leaving) {
    if (are_whole_groups(job, leaving)) return ok_status();
    return splits_a_group(job, job.size() - static_cast<int>(leaving.size()));
  }
  [[nodiscard]] static Status splits_a_group(const Job& job, int size) {
    return breaks("GroupsAreWhole", job.id.text() + " would have " + std::to_string(size) +
                                        " workers, and not all of a group of " +
                                        std::to_string(job.spec.elastic.group));
  }

  [[nodiscard]] Status size_allowed(const Job& job, int size) const {
    const auto& sizes = job.spec.elastic.sizes;
    if (std::binary_search(sizes.begin(), sizes.end(), size)) return ok_status();
    return breaks("SizeIsAllowed", job.id.text() + " may not have " + std::to_string(size) + " workers");
  }

  Status placements(const Job& job, const std::vector<WorkerPlacement>& joining_workers) {
    for (const auto& placement : joining_workers) {
      if (placement.worker.number() != next_worker_++) return breaks("IdsAreHandedOutOnce", placement.worker.text());
      TP_TRY(slots(job, placement));
    }
    return ok_status();
  }

  Status slots(const Job& job, const WorkerPlacement& placement) {
    const Node* node = state_.find_node(placement.node);
    if (node == nullptr || !node->takes_workers()) {
      return breaks("NodeIsUsable", placement.worker.text() + " on " + placement.node.text());
    }
    if (const NodeConstraint* broken = broken_constraint(job.spec, *node)) {
      return breaks(broken->law, job.id.text() + " on " + node->id.text() + ", " + broken->told(*node));
    }
    if (placement.slots.size() != static_cast<std::size_t>(job.spec.gpus_per_worker)) {
      return breaks("GangIsWhole", placement.worker.text() + " has the wrong number of slots");
    }
    for (const int slot : placement.slots) {
      const std::string where = node->id.text() + " slot " + std::to_string(slot);
      const bool exists = slot >= 0 && static_cast<std::size_t>(slot) < node->owners.size();
      if (!exists) return breaks("SlotExists", where);
      const bool free = !node->owners[static_cast<std::size_t>(slot)];
      if (!free || !claimed_.emplace(node->id, slot).second) return breaks("SlotHasOneOwner", where + " is taken");
    }
    return ok_status();
  }

  [[nodiscard]] static Status are_members(const Job& job, const IdSet<WorkerId>& workers) {
    const IdSet<WorkerId> members(job.membership.members.begin(), job.membership.members.end());
    for (const WorkerId id : workers) {
      if (!members.contains(id)) return breaks("LeavingWorkersAreMembers", id.text() + " is no member");
    }
    return ok_status();
  }

  [[nodiscard]] bool can_step(const Job& job, WorkerId id, bool is_member, bool joins) const {
    const Worker* worker = state_.find_worker(id);
    if (worker == nullptr || worker->job != job.id || worker->is_gone()) return false;
    return is_member ? worker->phase == WorkerPhase::kMember : worker->phase == WorkerPhase::kReady && joins;
  }

  [[nodiscard]] Status leaving_workers_stay_out(const Job& job, const SwitchIntent& intent) const {
    const auto found = leaving_workers_.find(job.id);
    if (found == leaving_workers_.end()) return ok_status();
    const IdSet<WorkerId> members(intent.members.begin(), intent.members.end());
    for (const WorkerId id : found->second) {
      if (members.contains(id)) return breaks("LeaversLeave", id.text() + " is told to leave and to stay");
    }
    return ok_status();
  }

  const ClusterState& state_;
  std::uint64_t next_worker_;
  std::set<std::pair<NodeId, int>> claimed_;
  IdSet<JobId> changed_;
  IdSet<JobId> switched_;
  IdSet<JobId> launched_;
  IdSet<WorkerId> stopped_;
  std::map<JobId, std::vector<WorkerId>> leaving_workers_;
  JobsOnNodes placed_;
};

Status check_targets(const ClusterState& state, const Replan& replan) {
  JobId before;
  for (const auto& [id, now, words_only] : replan.changes) {
    const Job* job = state.find_job(id);
    if (job == nullptr) return breaks("JobExists", "there is no " + id.text());
    if (before && !(before < id)) return breaks("TargetedOnce", id.text());
    before = id;
    const auto& sizes = job->spec.elastic.sizes;
    const bool allowed = !now || now->size == 0 || std::binary_search(sizes.begin(), sizes.end(), now->size);
    if (!allowed) return breaks("SizeIsAllowed", id.text() + " may not have " + std::to_string(now->size) + " workers");
    const bool has_more = words_only && (!job->planned || !now || now->size != job->planned->target.size);
    if (has_more) return breaks("WordsMoveNoSlots", id.text());
  }
  return ok_status();
}

Status check_verdict(const ClusterState& state, const Verdict& verdict) {
  if (state.find_job(verdict.job) == nullptr) return breaks("JobExists", "there is no " + verdict.job.text());
  const WorkerId straggler = verdict.blocked.straggler;
  const Worker* worker = straggler ? state.find_worker(straggler) : nullptr;
  const bool is_its_own = !straggler || (worker != nullptr && worker->job == verdict.job);
  return is_its_own ? ok_status() : breaks("JobOwnsItsWorkers", straggler.text());
}

}  // namespace

Status validate_decision(const ClusterState& state, const Decision& decision) {
  if (decision.empty()) return ok_status();
  if (decision.id.number() != state.next_decision) {
    return breaks("DecisionIsNext", "expected " + DecisionId(state.next_decision).text());
  }
  if (decision.at < state.now) return breaks("TimeGoesForward", decision.id.text() + " lies before the newest fact");
  PlanCheck check(state);
  for (const auto& planned : decision.plan) TP_TRY(check.check(planned.intent));
  if (const auto broken = broken_node_rule(state, decision.nodes)) return conflict(*broken);
  if (decision.replan) TP_TRY(check_targets(state, *decision.replan));
  for (const auto& verdict : decision.verdicts) TP_TRY(check_verdict(state, verdict));
  return ok_status();
}

}  // namespace tidepool::core
