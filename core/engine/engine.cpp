#include "core/engine/engine.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "base/first_after.hpp"
#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "core/decide/cluster_planner.hpp"
#include "core/decide/decision_draft.hpp"
#include "core/decide/drain_planner.hpp"
#include "core/decide/gather.hpp"
#include "core/decide/plan_inputs.hpp"
#include "core/decide/reconcile/reconciler.hpp"
#include "core/decide/size_planner.hpp"
#include "core/decide/state_wait.hpp"
#include "core/decide/tenant_planner.hpp"
#include "core/decide/transition_planner.hpp"
#include "core/decide/waiting_line.hpp"
#include "core/engine/apply_fact.hpp"
#include "core/engine/apply_plan.hpp"
#include "core/engine/fact_kinds.hpp"
#include "core/engine/worklist.hpp"
#include "core/facts/budget_facts.hpp"
#include "core/facts/nodes/maintenance_facts.hpp"
#include "core/facts/nodes/node_steadiness.hpp"
#include "core/facts/pool_facts.hpp"
#include "core/facts/price_facts.hpp"
#include "core/place/move_costs.hpp"
#include "core/provision/provision_stage.hpp"
#include "core/state/budget_hold.hpp"
#include "core/state/cluster_invariants.hpp"
#include "core/tenants/preemption_limits.hpp"
#include "core/validate/plan_validator.hpp"

namespace tidepool::core {

// Beside the state, what is kept between decisions (worklist.hpp). It follows from the state and from what has been
// looked at, is not part of it, and a restart begins with everything to be looked at.
struct Engine::Impl {
  Parts parts;
  ClusterState state;
  Worklist work;
  PoolBooks pool_books;
  BudgetDueTimes budget_due_times;
  std::vector<std::shared_ptr<const Job>> ended;  // have left the state and have not been taken yet
  std::optional<WaitingLine> line;                // the jobs that wait, in order, where the policy in charge is a rule
  std::unique_ptr<Planner> planner;               // of the policy in charge, where it plans
  MoveCosts move_costs;                           // of all jobs
  std::string planned_by;                         // whose planner, or line, it is
  bool is_shared = false;                         // by tenants
  IdSet<NodeId> with_faults;                      // nodes that failed lately
  std::optional<Instant> faults_due;              // when the first of their faults counts less or no more
  std::optional<Instant> decided_at;              // newest decision accepted

  // Of all nodes, found out when it is asked for: many nodes may come or go before that. None = nodes have changed.
  mutable std::optional<std::uint64_t> known_nodes;
  mutable std::optional<IdSet<NodeId>> known_draining;
  // Digest of the nodes that a plan may count with. Requires: the policy in charge plans.
  [[nodiscard]] std::uint64_t nodes() const {
    if (!known_nodes) known_nodes = digest_of_nodes(state);
    return *known_nodes;
  }
  // Nodes that are being drained.
  [[nodiscard]] const IdSet<NodeId>& draining() const {
    if (!known_draining) known_draining = draining_nodes(state);
    return *known_draining;
  }

  // Results of a reconciliation that changed nothing, reused until an input changes. A decision from scratch neither
  // reads nor writes them.
  struct Reconciled {
    bool queue_waits = false;
    int reserved = 0;
    std::shared_ptr<const FreeSlots> free_slots;  // that it left to others; null = all
  };
  mutable Memo<Reconciled> reconciled;
  // What a reconciliation by a plan examines, in addition to due jobs (stands_still).
  [[nodiscard]] Worklist::Stamp inputs_of_reconciliation() const {
    return work.stamp({.sets = {JobSet::kOffPlan, JobSet::kReleasing},
                       .others = {Input::kSlots, Input::kNodes, Input::kPlan, Input::kDesk}});
  }

  [[nodiscard]] const Policy& active_policy() const { return parts.active_policy(state); }

  [[nodiscard]] std::unique_ptr<Planner> make_planner() const {
    if (parts.tenants_share(state)) return make_tenant_planner(parts, state);
    return active_policy().planner();
  }

  // Rebuilds all that depends on the policy in charge, and on whether tenants share the pool.
  void follow_policy() {
    planned_by = parts.active_policy_name(state);
    is_shared = !state.tenants->empty();
    planner = make_planner();
    TP_CHECK((planner == nullptr) == (active_policy().rule() != nullptr), "a policy is a rule or has a planner");
    line.reset();
    if (!planner) line.emplace(active_policy().line_rule() == LineRule::kStrict);
    known_nodes.reset();
    known_draining.reset();
    find_faults();
    work.reset(state);
    move_costs = {};
    for (const auto& [id, job] : state.jobs) follow(id, {.until = state.now});
    if (planner) follow_ended(*planner);
  }

  void find_faults() {
    with_faults = nodes_with_faults(state);
    faults_due = next_faults_due(state, with_faults);
  }
  // Of these nodes they may have changed.
  void follow_faults(const IdSet<NodeId>& written) {
    for (const NodeId id : written) {
      const Node* node = state.find_node(id);
      if (node != nullptr && node->faults) {
        with_faults.insert(id);
      } else {
        with_faults.erase(id);
      }
    }
    faults_due = next_faults_due(state, with_faults);
  }

  void follow_ended(Planner& follower) const {
    for (const auto& [id, job] : state.ended) follower.follow(state, id);
  }

  // A job that has left the state is on no list; planners learn what is remembered of it, and what no longer is.
  void forget(StateChange::Left left) {
    for (auto& job : left.jobs) {
      const JobId id = job->id;
      work.forget(id);
      move_costs.forget(id);
      if (line) line->leave(id);
      if (planner) planner->follow(state, id);
      ended.push_back(std::move(job));
    }
    for (const JobId id : left.forgotten) {
      if (planner) planner->follow(state, id);
    }
  }

  // Up to when a job's times have been looked at, and whether its newest verdict is of all that is known.
  struct Seen {
    Instant until;
    bool decided = false;
  };
  void follow(JobId id, Seen seen) {
    const Job& job = *state.find_job(id);
    work.follow(state, parts, job, seen.until);
    move_costs.follow(state, job);
    if (line) line->follow(job, active_policy().rule()->rank(job), seen.decided);
    if (planner) planner->follow(state, id);
  }

  // A decision has closed some.
  void follow_nodes(const Touched& touched) {
    work.learn(touched, true);
    known_draining.reset();
    known_nodes.reset();
  }

  void check_books(const IdSet<JobId>& jobs) const {
    for (const JobId id : jobs) {
      const auto broken = broken_invariant_of(state, id);
      TP_CHECK(!broken, broken->c_str());
    }
  }

  // What a decision looks at.
  struct Scope {
    IdSet<JobId> jobs;
    bool queue = false;                 // free slots, or the jobs that wait for them, have changed
    const WaitingLine* line = nullptr;  // null = the queue, if it is asked about, is gone through whole
    Planner* planner = nullptr;         // null = the policy in charge is a rule
    bool kept = false;                  // what is kept between decisions may be used; else from scratch
    IdSet<NodeId> draining = {};
    StageTimes* times = nullptr;  // null = stages are not timed

    void begin(Stage stage) const {
      if (times != nullptr) times->begin(stage);
    }
  };
  // Why jobs wait that the plan gives nothing or, while the policy file's answer is awaited, does not count with.
  void tell_waiting(DecisionDraft& draft, const IdSet<JobId>& jobs, bool awaits) const {
    for (const JobId id : jobs) {
      const Job& job = *state.find_job(id);
      if (job.state() != JobState::kPending || is_withheld(job)) continue;
      const Target* target = draft.planned_target(job);
      const bool holds_nothing = target != nullptr && target->size == 0;
      if (holds_nothing && !DecisionDraft::is_said(job, target->reason)) {
        draft.find(job, target->reason, target);
      }
      if (target == nullptr && awaits) draft.find(job, reason::AwaitsPolicy{});
    }
  }

  // Which jobs wait and which run at which size, by the plan for the whole cluster. Adds to `jobs` those that a new
  // plan changes, and returns those that it has dealt with; `rests`: no job off the plan need be looked at.
  IdSet<JobId> follow_plan(DecisionDraft& draft, Scope& scope, bool& rests) const {
    IdSet<JobId>& jobs = scope.jobs;
    const IdSet<JobId>& to_reconcile = work[JobSet::kOffPlan];
    IdSet<JobId> more;  // to_reconcile, and those that a new plan changes
    const bool awaits = parts.file_decides(state) && !state.deployment.answer;
    const PlanScope of_plan{.candidates = work[JobSet::kCounted], .looked_at = jobs, .nodes = nodes()};
    scope.begin(Stage::kPlan);
    if (!awaits && plan_is_due(draft, of_plan)) {
      const IdSet<JobId> changed = plan_cluster(draft, *scope.planner, of_plan);
      jobs.insert(changed);
      more = to_reconcile;
      more.insert(changed);
    }
    scope.begin(Stage::kReconcile);
    tell_waiting(draft, jobs, awaits);
    const bool may_rest = scope.kept && !scope.queue && draft.changes_nothing() && stands_still(draft.now());
    const Reconciled* const known = may_rest ? reconciled.find(inputs_of_reconciliation()) : nullptr;
    rests = known != nullptr;
    if (rests) {
      draft.set_queue_waits(known->queue_waits);
      draft.reserve(known->reserved);
      if (known->free_slots) draft.set_free_slots(*known->free_slots);
      return {};
    }
    const std::size_t told = draft.findings();
    IdSet<JobId> dealt_with =
        reconcile(draft, OffPlan{.jobs = more.empty() ? to_reconcile : more, .releasing = work[JobSet::kReleasing]});
    if (scope.kept && draft.changes_nothing() && draft.findings() == told && !draft.is_unsettled()) {
      const FreeSlots* left = draft.free_slots_seen();
      const bool keeps_some = left != nullptr && left->keeps_some();
      reconciled.keep({.queue_waits = draft.queue_waits(),
                       .reserved = draft.reserved(),
                       .free_slots = keeps_some ? std::make_shared<const FreeSlots>(*left) : nullptr},
                      inputs_of_reconciliation());
    }
    return dealt_with;
  }

  // Running jobs that may change size or come together: `jobs`, and those that free slots would let.
  IdSet<JobId> to_size(DecisionDraft& draft, const IdSet<JobId>& jobs) const {
    IdSet<JobId> sized = jobs;
    sized.insert(work[JobSet::kHeldBack]);
    const IdSet<JobId>& spread = work[JobSet::kSpread];
    if (spread.empty() || !may_gather(draft)) return sized;
    for (const JobId id : spread) {
      if (gathering_pays(draft, *state.find_job(id))) sized.insert(id);
    }
    return sized;
  }
  // Neither time nor reports of other jobs have changed what a reconciliation looks at.
  [[nodiscard]] bool stands_still(Instant now) const {
    if (!work[JobSet::kSlowOffPlan].empty()) return false;
    if (const auto due = next_churn_due(state, decided_at); due && *due <= now) return false;
    return !work.any_due(JobSet::kOffPlan, now) && !work.any_due(JobSet::kReleasing, now);
  }
  // What is under way goes on; a job that leaves the queue, or waits no longer for its saved state, changes the queue.
  void plan_all_transitions(DecisionDraft& draft, Scope& scope) const {
    scope.begin(Stage::kTransitions);
    for (const JobId id : scope.jobs) {
      const Job& job = *state.find_job(id);
      plan_transitions(draft, job);
      const bool leaves_queue = job.state() == JobState::kPending && is_ending(job, draft.now());
      const auto held_until = state_wait_ends(job);
      scope.queue = scope.queue || leaves_queue || (held_until && draft.now() >= *held_until);
    }
  }
  // Whether it changes anything.
  [[nodiscard]] static bool leave_drained(DecisionDraft& draft, const IdSet<JobId>& jobs) {
    const std::uint64_t next_worker = draft.next_worker();
    plan_drains(draft, jobs);
    return draft.next_worker() != next_worker;
  }
  [[nodiscard]] Decision decide(Scope scope, Instant now) const {
    TP_CHECK(now >= state.now, "a decision is not made before the newest fact");
    DecisionDraft draft(state, parts, now);
    draft.set_queue_waits(!work[JobSet::kClaiming].empty());
    draft.set_asking(work[JobSet::kAsking]);
    draft.set_exclusive(work[JobSet::kExclusive]);
    if (scope.kept) draft.set_move_costs(move_costs);
    // Workers that could move for a job that waits for particular nodes may be free to do so now.
    scope.queue = scope.queue || (scope.planner == nullptr && !work[JobSet::kPendingChoosy].empty());
    const IdSet<JobId> on_drained = jobs_on(state, scope.draining);
    draft.set_on_drained(on_drained);
    scope.jobs.insert(on_drained);
    plan_all_transitions(draft, scope);
    if (leave_drained(draft, on_drained)) {
      // Slots are taken that jobs in the queue were told of.
      scope.queue = true;
      scope.line = nullptr;
    }
    IdSet<JobId> dealt_with;
    bool rests = false;
    if (scope.planner != nullptr) {
      dealt_with = follow_plan(draft, scope, rests);
    } else if (scope.queue) {
      scope.begin(Stage::kReconcile);
      reconcile(draft, InLine{.pending = work[JobSet::kPending], .line = scope.line});
    }
    scope.begin(Stage::kSize);
    for (const JobId id : to_size(draft, scope.jobs)) {
      const Job& job = *state.find_job(id);
      const bool at_rest = rests && work[JobSet::kOffPlan].contains(id) && draft.follows_plan(job);
      if (!at_rest && !dealt_with.contains(id)) plan_size(draft, job);
    }
    // Of nodes only where no job changes: what they free or take is known then, and the next decision sees it.
    if (draft.changes_nothing()) draft.set_nodes(parts.provision->plan(state, now));
    Decision decision = std::move(draft).finish();
    if (scope.times != nullptr) scope.times->end();
    return decision;
  }
};

Engine::Engine(Parts parts) : Engine(std::move(parts), ClusterState{}) {}

Engine::Engine(Parts parts, ClusterState state) : impl_(std::make_unique<Impl>()) {
  TP_CHECK(parts.policies.contains("default"), "there is a policy called default");
  TP_CHECK(parts.stragglers.usual != nullptr, "there is a straggler detector");
  impl_->parts = std::move(parts);
  if (!impl_->parts.provision) impl_->parts.provision = built_in_rule();
  impl_->state = std::move(state);
  impl_->pool_books = PoolBooks(impl_->state);
  impl_->budget_due_times = BudgetDueTimes(impl_->state.budgets);
  impl_->follow_policy();
}

Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

Result<std::vector<Event>> Engine::step(const TimedFact& fact) {
  if (fact.at < impl_->state.now) {
    return invalid_argument("a fact lies before the newest one; time does not go back");
  }
  StateChange change(impl_->state, fact.at, &impl_->pool_books, &impl_->budget_due_times);
  change.time_has_passed();
  TP_TRY(apply_fact(change, fact.fact, impl_->parts.stragglers));
  change.advance_time();
  const Instant since = std::exchange(impl_->state.now, fact.at);
  if (impl_->faults_due && *impl_->faults_due <= fact.at) follow_steadiness(change, impl_->with_faults);
  follow_maintenance(change, since, may_change_nodes(fact.fact));
  follow_pool_use(change);
  change.settle_budgets();
  change.settle_pool(fact.at);
  StateChange::Left left = change.drop_ended_jobs();
  const bool of_nodes = may_change_nodes(fact.fact) || change.touched().nodes || change.touched().prices;
  impl_->work.learn(change.touched(), of_nodes);
  impl_->forget(std::move(left));
  if (of_nodes) impl_->known_draining.reset();
  if (of_nodes || std::holds_alternative<NodeDampingConfigured>(fact.fact)) {
    impl_->follow_faults(change.written_nodes());
  }
  if (of_nodes || change.touched().closed) impl_->known_nodes.reset();
  for (const JobId id : change.touched().jobs) impl_->follow(id, {.until = fact.at});
  const bool is_shared = !impl_->state.tenants->empty();
  if (impl_->planned_by != impl_->parts.active_policy_name(impl_->state) || impl_->is_shared != is_shared) {
    impl_->follow_policy();
  }
  impl_->check_books(change.touched().jobs);
  return change.take_events();
}

Decision Engine::decide(Instant now, StageTimes* times) const {
  return impl_->decide({.jobs = impl_->work.to_look_at(now),
                        .queue = impl_->work.slots_have_changed(),
                        .line = impl_->line && !impl_->work.nodes_have_changed() ? &*impl_->line : nullptr,
                        .planner = impl_->planner.get(),
                        .kept = true,
                        .draining = impl_->draining(),
                        .times = times},
                       now);
}

Decision Engine::decide_from_scratch(Instant now) const {
  const std::unique_ptr<Planner> planner = impl_->planner ? impl_->make_planner() : nullptr;
  const bool sees_nodes = (!planner || impl_->nodes() == digest_of_nodes(impl_->state)) &&
                          impl_->with_faults == nodes_with_faults(impl_->state);
  TP_CHECK(sees_nodes, "what is kept of the nodes follows from the state");
  TP_CHECK(impl_->budget_due_times.next(impl_->state) == next_budget_due(impl_->state), "budgets are due as they say");
  IdSet<JobId> jobs;
  for (const auto& [id, job] : impl_->state.jobs) {
    if (!is_final(job->state()) || !job->membership.workers.empty()) jobs.insert(id);
    if (planner) planner->follow(impl_->state, id);
  }
  if (planner) impl_->follow_ended(*planner);
  return impl_->decide(
      {.jobs = std::move(jobs), .queue = true, .planner = planner.get(), .draining = draining_nodes(impl_->state)},
      now);
}

Status Engine::validate(const Decision& decision) const {
  return validate_decision(impl_->state, decision);
}

std::vector<Event> Engine::accept(const Decision& decision) {
  StateChange change(impl_->state, decision.at, &impl_->pool_books, &impl_->budget_due_times);
  IdSet<JobId> looked_at = impl_->work.to_look_at(decision.at);
  apply_decision(change, decision, decision.replan ? impl_->nodes() : 0);
  follow_pool_use(change);
  change.settle_budgets();
  change.settle_pool(decision.at);
  StateChange::Left left = change.drop_ended_jobs();
  looked_at.insert(change.touched().jobs);
  impl_->work.accept(decision);
  if (!decision.nodes.empty()) impl_->follow_nodes(change.touched());
  impl_->decided_at = decision.at;
  for (const auto& job : left.jobs) looked_at.erase(job->id);
  impl_->forget(std::move(left));
  for (const JobId id : looked_at) impl_->follow(id, {.until = decision.at, .decided = true});
  if (impl_->planner && decision.replan) impl_->planner->booked();
  impl_->check_books(change.touched().jobs);
  return change.take_events();
}

std::vector<std::shared_ptr<const Job>> Engine::take_ended() {
  return std::exchange(impl_->ended, {});
}

const ClusterState& Engine::view() const {
  return impl_->state;
}

std::optional<Instant> Engine::next_due() const {
  FirstAfter first;
  first.consider(impl_->work.next_due());
  first.consider(next_drain_due(impl_->state, impl_->draining(), impl_->decided_at));
  first.consider(next_churn_due(impl_->state, impl_->decided_at));
  first.consider(impl_->parts.provision->next_due(impl_->state, impl_->decided_at));
  first.consider(impl_->parts.next_pools_question(impl_->state));
  first.consider(clock_due());
  const ClusterPlan& plan = impl_->state.plan;
  if (impl_->planner && !impl_->work[JobSet::kCounted].empty() && !plan.policy.empty()) {
    first.consider(next_plan_at(plan, impl_->parts.config.plan_every));
  }
  return first.found();
}

std::optional<Instant> Engine::clock_due() const {
  FirstAfter first;
  first.consider(impl_->budget_due_times.next(impl_->state));
  first.consider(next_steady(impl_->state, impl_->with_faults));
  first.consider(next_maintenance_due(impl_->state));
  first.consider(next_price_due(impl_->state));
  return first.found();
}

std::optional<std::int64_t> Engine::pending_policy_request(Instant now) const {
  const PolicyDeployment& deployment = impl_->state.deployment;
  if (!impl_->parts.file_decides(impl_->state)) return std::nullopt;
  const auto of_pools = impl_->parts.next_pools_question(impl_->state);
  const bool asks_of_pools = of_pools && *of_pools <= now;
  if (deployment.answer && !asks_of_pools) return std::nullopt;
  const DecisionDraft draft(impl_->state, impl_->parts, now);
  const IdSet<JobId> jobs = impl_->work.to_look_at(now);
  const bool plans =
      plan_is_due(draft, {.candidates = impl_->work[JobSet::kCounted], .looked_at = jobs, .nodes = impl_->nodes()});
  const bool asks = plans ? !deployment.answer : asks_of_pools;
  return asks ? std::optional(deployment.next_round) : std::nullopt;
}

JobId Engine::next_job_id() const {
  return JobId(impl_->state.next_job);
}

NodeId Engine::node_id_for(const std::string& name) const {
  for (const auto& [id, node] : impl_->state.nodes) {
    if (node.name == name) return id;
  }
  return NodeId(impl_->state.next_node);
}

}  // namespace tidepool::core
