// A decision under construction: the state it is based on, what it has planned so far, and the resources that the plan
// has used. Planners read the state through it and write only here.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/id_set.hpp"
#include "core/decide/engine_parts.hpp"
#include "core/place/least_price.hpp"
#include "core/place/move_costs.hpp"
#include "core/place/placement.hpp"
#include "core/state/plan.hpp"
#include "core/tenants/type_guarantees.hpp"

namespace tidepool::core {

// The result for one job: the reason shown to users, and the state that later decisions read.
struct Finding {
  Reason reason;
  Blocked blocked = {};
};

// A job with its target, from the plan or from its rule.
struct TargetedJob {
  const Job* job;
  const Target* target;
};

class DecisionDraft {
 public:
  DecisionDraft(const ClusterState& state, const EngineParts& parts, Instant now);

  [[nodiscard]] const ClusterState& state() const { return state_; }
  [[nodiscard]] ClusterView view() const { return {state_, now_}; }
  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] const EngineParts& parts() const { return parts_; }
  [[nodiscard]] StepBudget& budget() { return budget_; }
  // The policy that decides, perhaps a policy file.
  [[nodiscard]] const Policy& active_policy() const { return active_policy_; }
  // The rule that sizes the job: that of its pinned policy, else of the active policy; null if the plan sizes it. A job
  // cannot pin a policy that plans for all jobs.
  [[nodiscard]] const JobRule* rule_of(const Job& job) const;
  [[nodiscard]] bool follows_plan(const Job& job) const { return rule_of(job) == nullptr; }
  // The job's target in the plan, including changes by this decision; null if the plan does not include the job, or the
  // active policy makes no plan.
  [[nodiscard]] const Target* planned_target(const Job& job) const;
  // The newest plan of the tenant, including changes by this decision; null if it has none.
  [[nodiscard]] const TenantPlan* tenant_plan(const std::string& tenant) const;
  // The target of a job that no plan sizes: its user's pinned size, or the answer of its rule, which is asked each
  // time. A job that follows a plan which does not include it keeps its size.
  [[nodiscard]] Target unplanned_target(const Job& job);
  // Calls `use` with the target of a running job: from the plan or, if no plan sizes it, its unplanned target.
  template <class Use>
  auto with_target(const Job& job, const Use& use) {
    const Target* planned = follows_plan(job) ? planned_target(job) : nullptr;
    return planned != nullptr ? use(*planned) : use(unplanned_target(job));
  }
  void set_replan(Replan replan);
  void set_nodes(std::vector<PlannedNode> nodes) { decision_.nodes = std::move(nodes); }

  // Adds an intent whose reason becomes the job's verdict. `target`: what its policy weighed, recorded with the
  // verdict; null = nothing.
  void conclude(const Job& job, Intent intent, const Reason& reason, const Target* target = nullptr);
  // Shrinks the job by these members. No worker must boot for that, so the switch follows in the same decision.
  void shrink(const Job& job, ShrinkIntent intent, const Reason& reason, const Target* target = nullptr);
  // Adds an intent that carries out an earlier conclusion.
  void carry_out(Intent intent, Reason reason);
  // Records for which jobs each shrunk job of this decision releases slots; by the releasing job, no list empty.
  void record_claimants(const std::map<JobId, std::vector<JobId>>& claimants);
  // Records by which rule between tenants each job of this decision releases slots.
  void record_rules(const std::map<JobId, reason::ShareRule>& rules);
  // Stops a worker, by the deadline of its node at the latest; a second stop of the same worker has no effect.
  void stop(StopWorkerIntent intent, const Reason& reason);
  // The job's newest verdict already says the same. The first verdict is always new.
  [[nodiscard]] static bool is_said(const Job& job, const Reason& reason, const Blocked& blocked = {});
  // Records a result without an intent; kept only if it is new.
  void find(const Job& job, const Reason& reason, const Target* target = nullptr, const Blocked& blocked = {});
  void find(const Job& job, const Finding& found, const Target* target = nullptr) {
    find(job, found.reason, target, found.blocked);
  }

  // The intents, so far.
  [[nodiscard]] const Plan& plan() const { return decision_.plan; }
  // No intent and no new plan, so far.
  [[nodiscard]] bool changes_nothing() const { return decision_.plan.empty() && !decision_.replan; }
  // The number of new results so far.
  [[nodiscard]] std::size_t findings() const { return decision_.verdicts.size(); }
  // This decision has an intent for the job, or ends it.
  [[nodiscard]] bool changed(JobId job) const { return changed_.contains(job); }
  // The same, without stops and probes of workers: the rest of the job may still be changed.
  [[nodiscard]] bool alters(JobId job) const { return altered_.contains(job); }
  [[nodiscard]] bool ends(JobId job) const { return ended_.contains(job); }
  // Workers whose slots this decision frees.
  [[nodiscard]] const IdSet<WorkerId>& leaving_workers() const { return leaving_workers_; }

  // Unended jobs that request particular nodes. They outlive the draft.
  void set_asking(const IdSet<JobId>& jobs) { asking_ = &jobs; }
  // Exclusive jobs that hold slots. They outlive the draft.
  void set_exclusive(const IdSet<JobId>& jobs) { exclusive_ = &jobs; }
  // The slot types requested by jobs that request particular nodes, restricted to types that nodes have.
  [[nodiscard]] const std::set<std::string>& types_asked_for();
  [[nodiscard]] const TypeGuarantees& type_guarantees();
  // The free slots after an earlier reconciliation whose result is reused. They outlive the draft.
  void set_free_slots(const FreeSlots& kept) {
    kept_free_ = &kept;
    free_.reset();
  }
  // The move costs that are kept between decisions. They outlive the draft.
  void set_move_costs(const MoveCosts& costs) { move_costs_ = &costs; }
  [[nodiscard]] const MoveCosts* move_costs() const { return move_costs_; }
  // Jobs with workers on nodes that are being drained. They outlive the draft.
  void set_on_drained(const IdSet<JobId>& jobs) { on_drained_ = &jobs; }
  [[nodiscard]] bool is_on_drained(JobId job) const { return on_drained_ != nullptr && on_drained_->contains(job); }
  // This decision changes the job's size or replaces a worker, so it must do neither again.
  [[nodiscard]] bool resizes(JobId job) const { return resized_.contains(job); }

  // Free slots, reduced by what this decision allocates; built on first use.
  [[nodiscard]] FreeSlots& free_slots();
  // Null = not built yet.
  [[nodiscard]] const FreeSlots* free_slots_seen() const { return free_ ? &*free_ : nullptr; }
  // Reserves this many more free slots for a waiting job; other jobs may use usable(). May be negative.
  void reserve(int slots) { reserved_ += slots; }
  [[nodiscard]] int reserved() const { return reserved_; }
  [[nodiscard]] int usable() { return free_slots().free() - reserved_; }
  // Including free slots on nodes of an exclusive job.
  [[nodiscard]] int usable_for(const Job& job) {
    return usable() + (job.spec.placement.exclusive ? free_slots().kept_free(job.id) : 0);
  }
  [[nodiscard]] std::uint64_t& next_worker() { return next_worker_; }
  // The slot types that further workers of the job may use; empty = all.
  [[nodiscard]] std::vector<std::string> types_for_more(const Job& job);
  // The number of workers of the job that an empty cluster would hold.
  [[nodiscard]] int capacity(const Job& job);

  // Places more workers of the job if there is room on an allowed type within its price cap: the remaining amount is
  // divided evenly among the new slots, and more expensive nodes are skipped.
  [[nodiscard]] std::optional<std::vector<WorkerPlacement>> place_within_cap(const Job& job, GangRequest request);
  // The reason if `more` workers exceed the price cap on every node; else none.
  [[nodiscard]] std::optional<Reason> above_cap(const Job& job, int more);
  // The reason if the job cannot start within its price cap even without other jobs; else none.
  [[nodiscard]] std::optional<Reason> never_within_cap(const Job& job);
  // Some node on which it may run exceeds its price cap if it gets this many more workers.
  [[nodiscard]] bool may_be_above_cap(const Job& job, int more);
  // Its node constraints including the price cap: no node that place_within_cap() would skip for this many more
  // workers.
  [[nodiscard]] NodeDemand demand_within_cap(const Job& job, int more);
  // A job with exactly these constraints, if this many workers of it would fit on these nodes without other jobs; else
  // none. Jobs with equal constraints are counted once.
  [[nodiscard]] std::optional<Job> asking_within_cap(const Job& job, const NodeDemand& demand, int more);

  // Whether a job waits that could run once slots are free; growing jobs leave the slots to it.
  void set_queue_waits(bool waits) { queue_waits_ = waits; }
  [[nodiscard]] bool queue_waits() const { return queue_waits_; }
  // A job waits for other jobs to move away. Time and measurements decide that, so the next decision checks again.
  void set_unsettled() { is_unsettled_ = true; }
  [[nodiscard]] bool is_unsettled() const { return is_unsettled_; }

  // Numbers the decision and closes it.
  [[nodiscard]] Decision finish() &&;

 private:
  // The price of a slot-hour over the nodes that take workers and on which a job may run; 0 without any.
  struct SlotPrices {
    Money cheapest;
    Money dearest;
  };
  [[nodiscard]] const SlotPrices& slot_prices(const Job& job);
  // Fills the number of free slots after this decision into the reasons of waiting jobs.
  void record_free_slots();

  const ClusterState& state_;
  const EngineParts& parts_;
  const Policy& active_policy_;  // for this state
  Instant now_;
  StepBudget budget_;
  Decision decision_;
  std::optional<FreeSlots> free_;
  IdSet<WorkerId> stopped_;
  std::map<std::tuple<int, bool, NodeDemand>, int> capacity_;  // by everything that determines it
  std::map<NodeDemand, SlotPrices> slot_prices_;
  LeastPrices least_prices_;
  std::uint64_t next_worker_;
  bool queue_waits_ = false;
  bool is_unsettled_ = false;
  IdSet<JobId> changed_;
  IdSet<JobId> altered_;
  IdSet<JobId> ended_;
  IdSet<WorkerId> leaving_workers_;
  IdSet<JobId> resized_;
  const IdSet<JobId>* asking_ = nullptr;     // null = none
  const IdSet<JobId>* exclusive_ = nullptr;  // null = they are looked for
  const IdSet<JobId>* on_drained_ = nullptr;
  const FreeSlots* kept_free_ = nullptr;   // null = all that the state has
  const MoveCosts* move_costs_ = nullptr;  // null = they are looked up
  std::optional<std::set<std::string>> types_asked_for_;
  std::optional<TypeGuarantees> type_guarantees_;  // none = not looked up yet
  int reserved_ = 0;
};

}  // namespace tidepool::core
