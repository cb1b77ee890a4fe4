#include "core/decide/engine.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/check.hpp"
#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "core/decide/apply_plan.hpp"
#include "core/decide/cluster_planner.hpp"
#include "core/decide/decision_draft.hpp"
#include "core/decide/plan_grounds.hpp"
#include "core/decide/plan_validator.hpp"
#include "core/decide/reconciler.hpp"
#include "core/decide/size_planner.hpp"
#include "core/decide/slot_reservations.hpp"
#include "core/decide/state_wait.hpp"
#include "core/decide/transition_planner.hpp"
#include "core/decide/waiting_line.hpp"
#include "core/facts/apply_fact.hpp"
#include "core/state/cluster_invariants.hpp"

namespace tidepool::core {
namespace {

// Membership of one job in one index.
void put(IdSet<JobId>& index, JobId job, bool belongs) {
  if (belongs) {
    index.insert(job);
  } else {
    index.erase(job);
  }
}

// It may change which nodes a plan can count with.
bool speaks_of_node(const Fact& fact) {
  return std::holds_alternative<NodeJoined>(fact) || std::holds_alternative<NodeLost>(fact) ||
         std::holds_alternative<NodeCordonChanged>(fact);
}

}  // namespace

// Beside the state, indexes that say which jobs to look at. They follow from the state and from what has
// been looked at, are not part of it, and a restart begins with everything to be looked at.
struct Engine::Impl {
  Parts parts;
  ClusterState state;

  std::vector<std::shared_ptr<const Job>> ended;  // have left the state, and nobody has taken them yet
  Touched unseen;                                 // changed since the last accept
  IdSet<JobId> pending;                           // jobs that wait
  std::optional<WaitingLine> line;                // they in order, where the default policy is a rule
  bool nodes_changed = false;                     // since the last accept
  IdSet<JobId> claiming;                          // those of them that slots would help
  IdSet<JobId> held_back;                         // running jobs that free slots would let change
  IdSet<JobId> asking;                            // jobs that have not ended and ask for a type of slot
  IdSet<JobId> typed_waiting;                     // those of them that wait
  std::set<std::pair<Instant, JobId>> due;
  IdTable<JobId, Instant> due_of;

  // Of a default policy that plans; of a rule they stay empty.
  std::unique_ptr<Planner> planner;
  IdSet<JobId> counted;        // jobs that a plan may count with, and those that the newest one does
  IdSet<JobId> off_plan;       // of them, those that do not have what it gives them
  IdSet<JobId> releasing;      // jobs whose slots, or some of them, are on their way to being free
  std::uint64_t nodes = 0;     // digest of the nodes that a plan may count with
  IdSet<JobId> news;           // of a policy file: those whose grounds have changed since, so that it must be asked
  std::string planned_by;      // whose planner it is
  IdSet<JobId> slow_off_plan;  // of those off the plan: what other jobs report of their nodes may change their lot

  // What the newest reconciliation has left, while another one would find the same and change nothing. Invariant: none
  // of what a settlement looks at has changed since, which are the jobs off the plan or releasing slots, free slots,
  // nodes and the plan; whatever touches one of these calls disturb(). A decision from scratch neither reads nor writes
  // it.
  struct Rest {
    bool queue_waits = false;
    int reserved = 0;
  };
  mutable std::optional<Rest> rest;
  void disturb() { rest.reset(); }

  [[nodiscard]] const Policy& default_policy() const { return parts.in_charge(state); }

  // Everything anew for who decides now.
  void follow_policy() {
    planned_by = parts.name_in_charge(state);
    planner = default_policy().planner();
    TP_CHECK((planner == nullptr) == (default_policy().rule() != nullptr), "a policy is a rule or has a planner");
    line.reset();
    if (!planner) line.emplace(default_policy().line_rule() == LineRule::kStrict);
    nodes_changed = true;
    counted.clear();
    off_plan.clear();
    releasing.clear();
    nodes = digest_of_nodes(state);
    news.clear();
    unseen.capacity = true;
    slow_off_plan.clear();
    disturb();
    for (const auto& [id, job] : state.jobs) {
      unseen.jobs.insert(id);
      index(id, {.until = state.now});
    }
    if (planner) follow_ended(*planner);
  }

  void follow_ended(Planner& follower) const {
    for (const auto& [id, job] : state.ended) follower.follow(state, id);
  }

  // Who has left the state is in no index; planners learn what is remembered of it, and what no longer is.
  void forget(StateChange::Left left, IdSet<JobId>& looked_at) {
    for (auto& job : left.jobs) {
      const JobId id = job->id;
      if (off_plan.contains(id) || releasing.contains(id)) disturb();
      for (IdSet<JobId>* each : {&pending, &claiming, &held_back, &asking, &typed_waiting, &counted, &off_plan,
                                 &releasing, &news, &slow_off_plan, &unseen.jobs, &looked_at}) {
        each->erase(id);
      }
      if (line) line->leave(id);
      forget_due(id);
      if (planner) planner->follow(state, id);
      ended.push_back(std::move(job));
    }
    for (const JobId id : left.forgotten) {
      if (planner) planner->follow(state, id);
    }
  }

  void forget_due(JobId id) {
    const auto old = due_of.find(id);
    if (old == due_of.end()) return;
    due.erase({old->second, id});
    due_of.erase(old);
  }

  // Up to when a job's times have been looked at, and whether its newest verdict is of all that is known.
  struct Seen {
    Instant until;
    bool decided = false;
  };
  void index(JobId id, Seen seen) {
    const Job& job = *state.find_job(id);
    put(pending, id, job.state == JobState::kPending);
    if (line) line->follow(job, default_policy().rule()->rank(job), seen.decided);
    put(claiming, id, claims_free_slots(job));
    put(held_back, id, waits_for_capacity(job));
    const bool asks = !job.spec.slot_types.empty() && !is_final(job.state);
    put(asking, id, asks);
    put(typed_waiting, id, asks && job.state == JobState::kPending);
    if (planner) {
      if (off_plan.contains(id) || releasing.contains(id)) disturb();
      put(counted, id, job.allotted || counts(job, seen.until));
      put(releasing, id, releases_slots(state, job));
      const bool is_off = job.allotted && is_off_plan(job, job.allotted->allotment);
      put(off_plan, id, is_off);
      put(slow_off_plan, id, is_off && job.verdict.blocked.straggler);
      if (is_off || releasing.contains(id)) disturb();
      put(news, id, parts.file_decides(state) && grounds_have_changed(job, seen.until));
      planner->follow(state, id);
    }
    forget_due(id);
    if (const auto when = tidepool::core::next_due(state, job, parts.config, seen.until)) {
      due.emplace(*when, id);
      due_of.emplace(id, *when);
    }
  }

  void check_books(const IdSet<JobId>& jobs) const {
    for (const JobId id : jobs) {
      const auto broken = broken_invariant_of(state, id);
      TP_CHECK(!broken, broken->c_str());
    }
  }

  [[nodiscard]] IdSet<JobId> to_look_at(Instant now) const {
    IdSet<JobId> jobs = unseen.jobs;
    jobs.insert(news);
    for (const auto& [when, id] : due) {
      if (when > now) break;
      jobs.insert(id);
    }
    return jobs;
  }

  // What a decision looks at.
  struct Scope {
    IdSet<JobId> jobs;
    bool queue = false;                 // free slots, or who waits for them, have changed
    const WaitingLine* line = nullptr;  // null = the queue, if it is asked about, is gone through whole
    Planner* planner = nullptr;         // null = the default policy is a rule
    bool kept = false;                  // what is kept between decisions may be used; else from scratch
    StageTimes* times = nullptr;        // null = nobody wants to know

    void begin(Stage stage) const {
      if (times != nullptr) times->begin(stage);
    }
  };
  // Who waits and who runs at which size, by the plan for the whole cluster. Adds to `jobs` whom a new plan changes,
  // and returns whom it has dealt with; `rests`: nobody off the plan need be looked at.
  IdSet<JobId> follow_plan(DecisionDraft& draft, Scope& scope, bool& rests) const {
    IdSet<JobId>& jobs = scope.jobs;
    IdSet<JobId> more;  // off_plan, and whom a new plan changes
    const bool awaits = parts.file_decides(state) && !state.desk.answer;
    const PlanScope of_plan{.candidates = counted, .looked_at = jobs, .nodes = nodes};
    scope.begin(Stage::kPlan);
    if (!awaits && plan_is_due(draft, of_plan)) {
      const IdSet<JobId> changed = plan_cluster(draft, *scope.planner, of_plan);
      jobs.insert(changed);
      more = off_plan;
      more.insert(changed);
    }
    scope.begin(Stage::kReconcile);
    for (const JobId id : jobs) {
      const Job& job = *state.find_job(id);
      if (job.state != JobState::kPending) continue;
      const Allotment* allotment = draft.allotment_of(job);
      const bool holds_nothing = allotment != nullptr && allotment->size == 0;
      if (holds_nothing && !DecisionDraft::is_said(job, allotment->reason)) {
        draft.find(job, allotment->reason, allotment);
      }
      if (allotment == nullptr && awaits) draft.find(job, reason::AwaitsPolicy{});
    }
    rests = scope.kept && rest && !scope.queue && draft.changes_nothing() && leaves_at_rest(jobs);
    if (rests) {
      draft.set_queue_waits(rest->queue_waits);
      draft.reserve(rest->reserved);
      return {};
    }
    IdSet<JobId> dealt_with = reconcile(draft, OffPlan{.jobs = more.empty() ? off_plan : more, .releasing = releasing});
    if (scope.kept && draft.changes_nothing()) rest = Rest{draft.queue_waits(), draft.reserved()};
    return dealt_with;
  }

  // Nothing that is looked at now has a part in a reconciliation.
  [[nodiscard]] bool leaves_at_rest(const IdSet<JobId>& jobs) const {
    if (!slow_off_plan.empty() || !typed_waiting.empty()) return false;
    return std::none_of(jobs.begin(), jobs.end(),
                        [&](JobId id) { return off_plan.contains(id) || releasing.contains(id); });
  }
  [[nodiscard]] Decision decide(Scope scope, Instant now) const {
    TP_CHECK(now >= state.now, "a decision is not made before the newest fact");
    DecisionDraft draft(state, parts, now);
    draft.set_queue_waits(!claiming.empty());
    draft.set_asking(asking);
    // Who could move for a job that waits for a type of slot may be free to do so now.
    scope.queue = scope.queue || !typed_waiting.empty();
    IdSet<JobId>& jobs = scope.jobs;
    scope.begin(Stage::kTransitions);
    for (const JobId id : jobs) {
      const Job& job = *state.find_job(id);
      plan_transitions(draft, job);
      const bool leaves_queue = pending.contains(id) && is_ending(job, now);
      const auto held_until = state_wait_ends(job);
      scope.queue = scope.queue || leaves_queue || (held_until && now >= *held_until);
    }
    IdSet<JobId> dealt_with;
    bool rests = false;
    if (scope.planner != nullptr) {
      dealt_with = follow_plan(draft, scope, rests);
    } else if (scope.queue) {
      scope.begin(Stage::kReconcile);
      reconcile(draft, InLine{.pending = pending, .line = scope.line});
    }
    scope.begin(Stage::kSize);
    std::vector<JobId> sized(jobs.begin(), jobs.end());
    if (scope.queue || scope.planner != nullptr) {
      sized.clear();
      std::set_union(jobs.begin(), jobs.end(), held_back.begin(), held_back.end(), std::back_inserter(sized));
    }
    for (const JobId id : sized) {
      const Job& job = *state.find_job(id);
      const bool at_rest = rests && off_plan.contains(id) && draft.follows_plan(job);
      if (!at_rest && !dealt_with.contains(id)) plan_size(draft, job);
    }
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
  impl_->state = std::move(state);
  impl_->follow_policy();
}

Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

Result<std::vector<Event>> Engine::step(const TimedFact& fact) {
  if (fact.at < impl_->state.now) {
    return invalid_argument("a fact lies before the newest one; time does not go back");
  }
  StateChange change(impl_->state, fact.at);
  TP_TRY(apply_fact(change, fact.fact, impl_->parts.stragglers));
  impl_->state.now = fact.at;
  StateChange::Left left = change.let_ended_go();
  impl_->unseen.add(change.touched());
  impl_->forget(std::move(left), impl_->unseen.jobs);
  if (change.touched().capacity || change.touched().jobs.empty()) impl_->disturb();
  if (speaks_of_node(fact.fact)) {
    impl_->nodes_changed = true;
    impl_->disturb();
    if (impl_->planner) impl_->nodes = digest_of_nodes(impl_->state);
  }
  for (const JobId id : change.touched().jobs) impl_->index(id, {.until = fact.at});
  if (impl_->planned_by != impl_->parts.name_in_charge(impl_->state)) impl_->follow_policy();
  impl_->check_books(change.touched().jobs);
  return change.take_events();
}

Decision Engine::decide(Instant now, StageTimes* times) const {
  return impl_->decide({.jobs = impl_->to_look_at(now),
                        .queue = impl_->unseen.capacity,
                        .line = impl_->line && !impl_->nodes_changed ? &*impl_->line : nullptr,
                        .planner = impl_->planner.get(),
                        .kept = true,
                        .times = times},
                       now);
}

Decision Engine::decide_anew(Instant now) const {
  const std::unique_ptr<Planner> planner = impl_->planner ? impl_->default_policy().planner() : nullptr;
  const bool sees_nodes = !planner || impl_->nodes == digest_of_nodes(impl_->state);
  TP_CHECK(sees_nodes, "what is kept of the nodes follows from the state");
  IdSet<JobId> jobs;
  for (const auto& [id, job] : impl_->state.jobs) {
    if (!is_final(job->state) || !job->workers.empty()) jobs.insert(id);
    if (planner) planner->follow(impl_->state, id);
  }
  if (planner) impl_->follow_ended(*planner);
  return impl_->decide({.jobs = std::move(jobs), .queue = true, .planner = planner.get()}, now);
}

Status Engine::validate(const Decision& decision) const {
  return validate_decision(impl_->state, decision);
}

std::vector<Event> Engine::accept(const Decision& decision) {
  StateChange change(impl_->state, decision.at);
  IdSet<JobId> looked_at = impl_->to_look_at(decision.at);
  apply_decision(change, decision, impl_->nodes);
  StateChange::Left left = change.let_ended_go();
  looked_at.insert(change.touched().jobs);
  impl_->unseen = {};
  impl_->forget(std::move(left), looked_at);
  impl_->nodes_changed = false;
  if (!decision.plan.empty() || decision.replan) impl_->disturb();
  for (const JobId id : looked_at) impl_->index(id, {.until = decision.at, .decided = true});
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
  std::optional<Instant> first;
  if (!impl_->due.empty()) first = impl_->due.begin()->first;
  const ClusterPlan& plan = impl_->state.plan;
  if (impl_->planner && !impl_->counted.empty() && !plan.policy.empty()) {
    const Instant again = next_plan_at(plan, impl_->parts.config.plan_every);
    first = first ? std::min(*first, again) : again;
  }
  return first;
}

std::optional<std::int64_t> Engine::question(Instant now) const {
  const PolicyDesk& desk = impl_->state.desk;
  if (!impl_->parts.file_decides(impl_->state) || desk.answer) return std::nullopt;
  const DecisionDraft draft(impl_->state, impl_->parts, now);
  const IdSet<JobId> jobs = impl_->to_look_at(now);
  if (!plan_is_due(draft, {.candidates = impl_->counted, .looked_at = jobs, .nodes = impl_->nodes})) {
    return std::nullopt;
  }
  return desk.next_round;
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
