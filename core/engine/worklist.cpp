#include "core/engine/worklist.hpp"

#include "core/decide/cluster_planner.hpp"
#include "core/decide/gather.hpp"
#include "core/decide/plan_inputs.hpp"
#include "core/decide/size_planner.hpp"
#include "core/decide/slot_reservations.hpp"
#include "core/decide/transition_planner.hpp"
#include "core/state/budget_hold.hpp"
#include "core/state/node_constraints.hpp"

namespace tidepool::core {
namespace {

struct Known {
  const ClusterState& state;
  const EngineParts& parts;
  const Job& job;
  Instant until;
  bool planned;  // the policy in charge plans

  [[nodiscard]] bool is_pending() const { return job.state() == JobState::kPending && !is_withheld(job); }
  [[nodiscard]] bool asks() const { return is_choosy(job.spec) && !is_final(job.state()) && !is_withheld(job); }
  [[nodiscard]] bool is_off() const { return planned && job.planned && needs_reconcile(job, job.planned->target); }
};

struct Row {
  JobSet set;
  bool (*has)(const Known& known);
};
constexpr std::array<Row, kJobSets> kRows{{
    {JobSet::kPending, [](const Known& known) { return known.is_pending(); }},
    {JobSet::kClaiming,
     [](const Known& known) { return claims_free_slots(known.job) && !is_ending(known.job, known.until); }},
    {JobSet::kHeldBack, [](const Known& known) { return waits_for_capacity(known.job); }},
    {JobSet::kSpread, [](const Known& known) { return is_spread(known.state, known.job); }},
    {JobSet::kAsking, [](const Known& known) { return known.asks(); }},
    {JobSet::kExclusive,
     [](const Known& known) { return known.job.spec.placement.exclusive && !known.job.membership.workers.empty(); }},
    {JobSet::kPendingChoosy, [](const Known& known) { return known.asks() && known.is_pending(); }},
    {JobSet::kCounted,
     [](const Known& known) { return known.planned && (known.job.planned || counts(known.job, known.until)); }},
    {JobSet::kOffPlan, [](const Known& known) { return known.is_off(); }},
    {JobSet::kSlowOffPlan, [](const Known& known) { return known.is_off() && known.job.verdict.blocked.straggler; }},
    {JobSet::kReleasing, [](const Known& known) { return known.planned && releases_slots(known.state, known.job); }},
    {JobSet::kUnanswered,
     [](const Known& known) {
       return known.parts.file_decides(known.state) && inputs_have_changed(known.job, known.until);
     }},
}};

}  // namespace

void Worklist::reset(const ClusterState& state) {
  for (IdSet<JobId>& set : sets_) set.clear();
  for (std::uint64_t& revision : set_revisions_) ++revision;
  for (std::uint64_t& revision : inputs_) ++revision;
  due_.clear();
  due_of_.clear();
  unseen_ = {.jobs = {}, .capacity = true};
  for (const auto& [id, job] : state.jobs) unseen_.jobs.insert(id);
  nodes_changed_ = true;
}

void Worklist::follow(const ClusterState& state, const EngineParts& parts, const Job& job, Instant until) {
  const bool planned = parts.active_policy(state).rule() == nullptr;
  const Known known{.state = state, .parts = parts, .job = job, .until = until, .planned = planned};
  for (const Row& row : kRows) {
    const auto at = static_cast<std::size_t>(row.set);
    const bool was = sets_[at].contains(job.id);
    const bool is = row.has(known);
    if (was || is) ++set_revisions_[at];
    if (is && !was) sets_[at].insert(job.id);
    if (was && !is) sets_[at].erase(job.id);
  }
  forget_due(job.id);
  if (const auto when = tidepool::core::next_due(state, job, parts.config, until)) {
    due_.emplace(*when, job.id);
    due_of_.emplace(job.id, *when);
  }
}

void Worklist::forget(JobId job) {
  for (std::size_t at = 0; at < kJobSets; ++at) {
    if (sets_[at].erase(job)) ++set_revisions_[at];
  }
  unseen_.jobs.erase(job);
  forget_due(job);
}

void Worklist::forget_due(JobId job) {
  const auto old = due_of_.find(job);
  if (old == due_of_.end()) return;
  due_.erase({old->second, job});
  due_of_.erase(old);
}

void Worklist::learn(const Touched& touched, bool speaks_of_nodes) {
  unseen_.add(touched);
  nodes_changed_ = nodes_changed_ || speaks_of_nodes;
  if (touched.capacity) note(Input::kSlots);
  if (speaks_of_nodes) note(Input::kNodes);
  if (touched.jobs.empty()) note(Input::kDesk);
}

void Worklist::accept(const Decision& decision) {
  unseen_ = {};
  nodes_changed_ = false;
  if (!decision.plan.empty() || decision.replan) note(Input::kPlan);
}

IdSet<JobId> Worklist::to_look_at(Instant now) const {
  IdSet<JobId> jobs = unseen_.jobs;
  jobs.insert((*this)[JobSet::kUnanswered]);
  for (const auto& [when, id] : due_) {
    if (when > now) break;
    jobs.insert(id);
  }
  return jobs;
}

std::optional<Instant> Worklist::next_due() const {
  return due_.empty() ? std::nullopt : std::optional(due_.begin()->first);
}

bool Worklist::any_due(JobSet set, Instant now) const {
  const IdSet<JobId>& jobs = (*this)[set];
  for (const auto& [when, id] : due_) {
    if (when > now) break;
    if (jobs.contains(id)) return true;
  }
  return false;
}

Worklist::Stamp Worklist::stamp(const Inputs& inputs) const {
  Stamp stamp;
  for (const JobSet set : inputs.sets) stamp.push_back(set_revisions_[static_cast<std::size_t>(set)]);
  for (const Input input : inputs.others) stamp.push_back(inputs_[static_cast<std::size_t>(input)]);
  return stamp;
}

}  // namespace tidepool::core
