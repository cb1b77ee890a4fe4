// One decision in the making: the state it is made from, what it has planned so far, and what the plan
// has used up. Planners read the state through it and write only here.
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

// What was found about a job: why, in words, and what of it the engine goes by later.
struct Finding {
  Reason reason;
  Blocked blocked = {};
};

// A job and what its plan or its rule says of it.
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
  // The one in charge, perhaps of a policy file.
  [[nodiscard]] const Policy& active_policy() const { return active_policy_; }
  // The rule that sizes the job: that of its pinned policy, else of the one in charge; null if the plan does. A
  // policy that plans counts with every job or is not in charge, so it is no choice of a job's.
  [[nodiscard]] const JobRule* rule_of(const Job& job) const;
  [[nodiscard]] bool follows_plan(const Job& job) const { return rule_of(job) == nullptr; }
  // What the plan gives the job, with what this decision changes of it; null if the plan does not count with it, or the
  // policy in charge makes none.
  [[nodiscard]] const Target* planned_target(const Job& job) const;
  // The newest plan of the tenant, with what this decision changes; null if it has none.
  [[nodiscard]] const TenantPlan* tenant_plan(const std::string& tenant) const;
  // What a job should have that no plan sizes: what its user has pinned, or what its rule says, which is asked each
  // time. One that follows a plan which does not count with it keeps what it has.
  [[nodiscard]] Target unplanned_target(const Job& job);
  // `use` of what a running job should have: what the plan gives it or, where no plan sizes it, its unplanned target.
  template <class Use>
  auto with_target(const Job& job, const Use& use) {
    const Target* planned = follows_plan(job) ? planned_target(job) : nullptr;
    return planned != nullptr ? use(*planned) : use(unplanned_target(job));
  }
  void set_replan(Replan replan);
  void set_nodes(std::vector<PlannedNode> nodes) { decision_.nodes = std::move(nodes); }

  // An intent that says something new about its job is also its verdict. `target`: what its policy weighed, which is
  // told with the verdict; null = nothing.
  void conclude(const Job& job, Intent intent, const Reason& reason, const Target* target = nullptr);
  // The job goes on without these members. None has to boot for that, so the switch follows in the same decision.
  void shrink(const Job& job, ShrinkIntent intent, const Reason& reason, const Target* target = nullptr);
  // An intent that only carries out what has been concluded before.
  void carry_out(Intent intent, Reason reason);
  // For which jobs those that this decision shrinks give up slots, none of them empty; by the job that does.
  void tell_claimants(const std::map<JobId, std::vector<JobId>>& claimants);
  // By which rules between tenants jobs give up slots, of those that do so in this decision.
  void tell_rules(const std::map<JobId, reason::ShareRule>& rules);
  // Ends a worker, by the deadline of its node at the latest; a second stop of the same worker adds nothing.
  void stop(StopWorkerIntent intent, const Reason& reason);
  // The newest verdict on the job says the same already. The first one is always news.
  [[nodiscard]] static bool is_said(const Job& job, const Reason& reason, const Blocked& blocked = {});
  // What was found about the job without an intent; kept only if it is news.
  void find(const Job& job, const Reason& reason, const Target* target = nullptr, const Blocked& blocked = {});
  void find(const Job& job, const Finding& found, const Target* target = nullptr) {
    find(job, found.reason, target, found.blocked);
  }

  // The intents, so far.
  [[nodiscard]] const Plan& plan() const { return decision_.plan; }
  // No intent and no new plan, so far.
  [[nodiscard]] bool changes_nothing() const { return decision_.plan.empty() && !decision_.replan; }
  // How much has been found so far that is news.
  [[nodiscard]] std::size_t findings() const { return decision_.verdicts.size(); }
  // This decision has an intent for the job, or ends it.
  [[nodiscard]] bool changed(JobId job) const { return changed_.contains(job); }
  // The same, beside stops and probes of workers: what is left of the job may be changed still.
  [[nodiscard]] bool alters(JobId job) const { return altered_.contains(job); }
  [[nodiscard]] bool ends(JobId job) const { return ended_.contains(job); }
  // Workers whose slots this decision sets free.
  [[nodiscard]] const IdSet<WorkerId>& leaving_workers() const { return leaving_workers_; }

  // Jobs that have not ended and ask for particular nodes. They outlive the draft.
  void set_asking(const IdSet<JobId>& jobs) { asking_ = &jobs; }
  // Exclusive jobs that hold slots. They outlive the draft.
  void set_exclusive(const IdSet<JobId>& jobs) { exclusive_ = &jobs; }
  // The types that those ask for that ask for particular nodes, of those that nodes have.
  [[nodiscard]] const std::set<std::string>& types_asked_for();
  [[nodiscard]] const TypeGuarantees& type_guarantees();
  // As a reconciliation left them whose result is used again. They outlive the draft.
  void set_free_slots(const FreeSlots& kept) {
    kept_free_ = &kept;
    free_.reset();
  }
  // As they are kept between decisions. They outlive the draft.
  void set_move_costs(const MoveCosts& costs) { move_costs_ = &costs; }
  [[nodiscard]] const MoveCosts* move_costs() const { return move_costs_; }
  // Jobs with workers on nodes that are being drained. They outlive the draft.
  void set_on_drained(const IdSet<JobId>& jobs) { on_drained_ = &jobs; }
  [[nodiscard]] bool is_on_drained(JobId job) const { return on_drained_ != nullptr && on_drained_->contains(job); }
  // This decision changes the job's size or replaces a worker, so it can do neither once more.
  [[nodiscard]] bool resizes(JobId job) const { return resized_.contains(job); }

  // Slots as this decision uses them up; built when first asked for.
  [[nodiscard]] FreeSlots& free_slots();
  // Null = nothing has asked for them.
  [[nodiscard]] const FreeSlots* free_slots_seen() const { return free_ ? &*free_ : nullptr; }
  // Keeps so many more of them for a job that waits; the others may take what is usable. May be below 0.
  void reserve(int slots) { reserved_ += slots; }
  [[nodiscard]] int reserved() const { return reserved_; }
  [[nodiscard]] int usable() { return free_slots().free() - reserved_; }
  // With what is free on nodes of an exclusive job.
  [[nodiscard]] int usable_for(const Job& job) {
    return usable() + (job.spec.placement.exclusive ? free_slots().kept_free(job.id) : 0);
  }
  [[nodiscard]] std::uint64_t& next_worker() { return next_worker_; }
  // Of which types of slot further workers of the job may be; empty = all.
  [[nodiscard]] std::vector<std::string> types_for_more(const Job& job);
  // Workers of the job that an empty cluster would hold.
  [[nodiscard]] int capacity(const Job& job);

  // Places more workers of the job if there is room of a type that it may be on and that its price cap allows: what
  // the cap leaves is shared out evenly among the new slots, and dearer nodes are left alone.
  [[nodiscard]] std::optional<std::vector<WorkerPlacement>> place_within_cap(const Job& job, GangRequest request);
  // Why `more` workers are too dear wherever they went, if they are.
  [[nodiscard]] std::optional<Reason> above_cap(const Job& job, int more);
  // Why the job cannot start within its price cap, were there no other job, if that is so.
  [[nodiscard]] std::optional<Reason> never_within_cap(const Job& job);
  // Some node where it may run is too dear for its price cap, if it is to have so many workers more.
  [[nodiscard]] bool may_be_above_cap(const Job& job, int more);
  // What it asks of nodes with its price cap: none that place_within_cap() would leave alone for so many workers more.
  [[nodiscard]] NodeDemand demand_within_cap(const Job& job, int more);
  // A job that asks for just this; none: so many workers of it would not fit on these nodes, were there no other job.
  // Jobs that ask for the same are counted once.
  [[nodiscard]] std::optional<Job> asking_within_cap(const Job& job, const NodeDemand& demand, int more);

  // Whether a job waits that could run once slots are free; growing jobs leave the slots to it.
  void set_queue_waits(bool waits) { queue_waits_ = waits; }
  [[nodiscard]] bool queue_waits() const { return queue_waits_; }
  // A job waits for others to move away, which time and what is measured of them decide: the next decision looks again.
  void set_unsettled() { is_unsettled_ = true; }
  [[nodiscard]] bool is_unsettled() const { return is_unsettled_; }

  // Numbers the decision and closes it.
  [[nodiscard]] Decision finish() &&;

 private:
  // Of a slot for an hour, over the nodes that take workers and on which a job may run; 0 without any.
  struct SlotPrices {
    Money cheapest;
    Money dearest;
  };
  [[nodiscard]] const SlotPrices& slot_prices(const Job& job);
  // Jobs that wait are told how many slots are free once this decision has been carried out.
  void tell_what_is_free();

  const ClusterState& state_;
  const EngineParts& parts_;
  const Policy& active_policy_;  // as of this state
  Instant now_;
  StepBudget budget_;
  Decision decision_;
  std::optional<FreeSlots> free_;
  IdSet<WorkerId> stopped_;
  std::map<std::tuple<int, bool, NodeDemand>, int> capacity_;  // by what decides it
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
