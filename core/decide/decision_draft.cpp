#include "core/decide/decision_draft.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include "base/digest.hpp"
#include "base/id_set.hpp"
#include "core/place/node_wait.hpp"
#include "core/state/account.hpp"
#include "core/state/budget_hold.hpp"
#include "core/state/measured/type_records.hpp"
#include "core/state/membership.hpp"
#include "core/state/price_cap.hpp"
#include "core/words/adjusted_reason.hpp"

namespace tidepool::core {
namespace {

constexpr std::size_t kAlternativesMax = 4;

// Of what the decision speaks about, not of the whole state: O(change).
std::uint64_t digest_of_inputs(const ClusterState& state, const Decision& decision) {
  Digest digest;
  digest.mix(state.next_event).mix(state.next_decision).mix(static_cast<std::uint64_t>(decision.at.count_us()));
  IdSet<JobId> jobs;
  for (const auto& planned : decision.plan) jobs.insert(job_of(planned.intent));
  for (const auto& verdict : decision.verdicts) jobs.insert(verdict.job);
  for (const JobId id : jobs) {
    const Job& job = *state.find_job(id);
    digest.mix(id.number()).mix(job.membership.generation).mix(static_cast<std::uint64_t>(job.progress.step));
    for (const auto& [size, record] : job.measurements.sizes) {
      digest.mix(static_cast<std::uint64_t>(size)).mix(static_cast<std::uint64_t>(record.steps));
      digest.mix(static_cast<std::uint64_t>(record.measured_at.count_us()));
    }
  }
  return digest.value();
}

// By node.
std::map<NodeId, int> slots_taken_by(const Plan& plan) {
  std::map<NodeId, int> taken;
  for (const PlannedIntent& planned : plan) {
    for (const WorkerPlacement& each : joining_workers_of(planned.intent)) {
      taken[each.node] += static_cast<int>(each.slots.size());
    }
  }
  return taken;
}

}  // namespace

DecisionDraft::DecisionDraft(const ClusterState& state, const EngineParts& parts, Instant now)
    : state_(state),
      parts_(parts),
      active_policy_(parts.active_policy(state)),
      now_(now),
      budget_(parts.config.step_budget),
      next_worker_(state.next_worker) {
  decision_.at = now;
  decision_.policy = parts_.active_policy_name(state_);
}

const JobRule* DecisionDraft::rule_of(const Job& job) const {
  // "default" is what is active, perhaps a policy file. Nearly every job has it, so it is not looked up.
  if (!job.spec.scaling.names_policy()) return active_policy_.rule();
  const auto found = parts_.policies.find(job.spec.scaling.policy);
  const JobRule* own = found == parts_.policies.end() ? nullptr : found->second->rule();
  return own != nullptr ? own : active_policy_.rule();
}

Target DecisionDraft::unplanned_target(const Job& job) {
  if (job.requests.pinned_size > 0) return pinned_target(job);
  if (const JobRule* rule = rule_of(job)) {
    Target target = rule->target(view(), job, budget_);
    const int least = job.spec.elastic.sizes.front();
    if (is_shrunk(job) && target.size >= least) target = {.size = least, .reason = why_shrunk(job)};
    return target;
  }
  const int held = job.size();
  if (held == 0) return {.reason = reason::PolicyFailed{}, .lost = {}, .mark = {}};
  return {.size = held, .reason = reason::FixedSize{{.size = held}}, .lost = {}, .mark = {}};
}

const Target* DecisionDraft::planned_target(const Job& job) const {
  if (active_policy_.rule() != nullptr) return nullptr;
  if (decision_.replan) {
    const auto& changes = decision_.replan->changes;
    const auto found = std::lower_bound(changes.begin(), changes.end(), job.id,
                                        [](const TargetChange& change, JobId id) { return change.job < id; });
    if (found != changes.end() && found->job == job.id) return found->now ? &*found->now : nullptr;
  }
  return job.planned ? &job.planned->target : nullptr;
}

const TenantPlan* DecisionDraft::tenant_plan(const std::string& tenant) const {
  if (decision_.replan) {
    const auto& changes = decision_.replan->tenants;
    const auto found =
        std::lower_bound(changes.begin(), changes.end(), tenant,
                         [](const TenantChange& change, const std::string& name) { return change.tenant < name; });
    if (found != changes.end() && found->tenant == tenant) return found->now ? &*found->now : nullptr;
  }
  const auto known = state_.plan.tenants.find(tenant);
  return known == state_.plan.tenants.end() ? nullptr : &known->second;
}

void DecisionDraft::set_replan(Replan replan) {
  decision_.replan = std::move(replan);
}

void DecisionDraft::conclude(const Job& job, Intent intent, const Reason& reason, const Target* target) {
  const Blocked blocked{.straggler = straggler_of(intent)};
  carry_out(std::move(intent), reason);
  find(job, reason, target, blocked);
}

void DecisionDraft::shrink(const Job& job, ShrinkIntent intent, const Reason& reason, const Target* target) {
  std::vector<WorkerId> members = job.membership.members;
  const IdSet<WorkerId> leaving(intent.leaving_workers.begin(), intent.leaving_workers.end());
  std::erase_if(members, [&](WorkerId id) { return leaving.contains(id); });
  conclude(job, std::move(intent), reason, target);
  carry_out(SwitchIntent{job.id, job.membership.generation + 1, std::move(members), false}, reason);
}

void DecisionDraft::carry_out(Intent intent, Reason reason) {
  changed_.insert(job_of(intent));
  const bool leaves_it =
      std::holds_alternative<StopWorkerIntent>(intent) || std::holds_alternative<ProbeIntent>(intent);
  if (!leaves_it) altered_.insert(job_of(intent));
  if (std::holds_alternative<EndJobIntent>(intent)) ended_.insert(job_of(intent));
  const bool resizes = std::holds_alternative<GrowIntent>(intent) || std::holds_alternative<ShrinkIntent>(intent) ||
                       std::holds_alternative<ReplaceIntent>(intent) || std::holds_alternative<MoveIntent>(intent) ||
                       std::holds_alternative<PreemptIntent>(intent) || std::holds_alternative<AskIntent>(intent);
  if (resizes) resized_.insert(job_of(intent));
  const std::vector<WorkerId> freed = workers_freed_by(state_, intent);
  leaving_workers_.insert(freed.begin(), freed.end());
  decision_.plan.push_back({std::move(intent), std::move(reason)});
}

void DecisionDraft::record_claimants(const std::map<JobId, std::vector<JobId>>& claimants) {
  const auto tell = [&](JobId job, Reason& reason) {
    const auto found = claimants.find(job);
    if (found == claimants.end()) return;
    const int others = static_cast<int>(found->second.size()) - 1;
    reason = with_claimants(std::move(reason), {.for_job = found->second.front(),
                                                .for_others = others > 0 ? std::optional(others) : std::nullopt});
  };
  for (auto& [intent, reason] : decision_.plan) {
    auto* shrink = std::get_if<ShrinkIntent>(&intent);
    if (shrink == nullptr && !std::holds_alternative<SwitchIntent>(intent)) continue;
    tell(job_of(intent), reason);
    if (shrink != nullptr && claimants.contains(shrink->job)) shrink->for_jobs = claimants.at(shrink->job);
  }
  for (Verdict& verdict : decision_.verdicts) tell(verdict.job, verdict.reason);
}

void DecisionDraft::record_rules(const std::map<JobId, reason::ShareRule>& rules) {
  const auto tell = [&](JobId job, Reason& reason) {
    const auto found = rules.find(job);
    if (found != rules.end()) reason = with_share_rule(std::move(reason), found->second);
  };
  for (auto& [intent, reason] : decision_.plan) tell(job_of(intent), reason);
  for (Verdict& verdict : decision_.verdicts) tell(verdict.job, verdict.reason);
}

void DecisionDraft::stop(StopWorkerIntent intent, const Reason& reason) {
  if (!stopped_.insert(intent.worker)) return;
  const Worker& worker = *state_.find_worker(intent.worker);
  // What a notice has promised it stands, whatever it is stopped for now.
  const bool keeps_promise = intent.grace > Duration() && worker.notice && worker.notice->by > now_;
  if (keeps_promise) intent.grace = std::max(intent.grace, worker.notice->by - now_);
  const auto& drain = state_.find_node(worker.node)->drain;
  if (drain) intent.grace = std::min(intent.grace, std::max(Duration(), drain->deadline - now_));
  carry_out(intent, reason);
}

bool DecisionDraft::is_said(const Job& job, const Reason& reason, const Blocked& blocked) {
  if (blocked.on == BlockedOn::kSavedState && !job.recovery.waits_near_since) return false;  // that begins the wait
  return job.verdict.job && job.verdict.blocked == blocked && says_the_same(job.verdict.reason, reason);
}

void DecisionDraft::find(const Job& job, const Reason& reason, const Target* target, const Blocked& blocked) {
  if (is_said(job, reason, blocked)) return;
  Verdict& verdict = decision_.verdicts.emplace_back();
  verdict.job = job.id;
  verdict.reason = reason;
  verdict.blocked = blocked;
  if (target == nullptr) return;
  verdict.chosen = Alternative{target->size, target->score, target->reason};
  const auto lost = target->lost.begin();
  const std::size_t count = std::min(kAlternativesMax, target->lost.size());
  verdict.lost.assign(lost, lost + static_cast<std::ptrdiff_t>(count));
}

FreeSlots& DecisionDraft::free_slots() {
  if (!free_) {
    kept_free_ == nullptr ? free_.emplace(state_, exclusive_) : free_.emplace(*kept_free_);
    free_->spare(types_asked_for());
  }
  return *free_;
}

const std::set<std::string>& DecisionDraft::types_asked_for() {
  const std::set<std::string>& known = free_slots().types();  // which asks for this once
  if (types_asked_for_) return *types_asked_for_;
  types_asked_for_.emplace();
  if (asking_ == nullptr) return *types_asked_for_;
  for (const JobId id : *asking_) {
    if (ends(id)) continue;  // ends are planned before slots are looked at
    for (const std::string& type : state_.find_job(id)->spec.slot_types) {
      if (known.contains(type)) types_asked_for_->insert(type);
    }
    if (types_asked_for_->size() == known.size()) break;
  }
  return *types_asked_for_;
}

const TypeGuarantees& DecisionDraft::type_guarantees() {
  return type_guarantees_ ? *type_guarantees_ : type_guarantees_.emplace(state_);
}

int DecisionDraft::capacity(const Job& job) {
  const JobSpec& spec = job.spec;
  const auto [found, is_new] = capacity_.try_emplace({spec.gpus_per_worker, spec.mixed_types, node_demand(spec)}, 0);
  if (is_new) found->second = empty_cluster_capacity(state_, job);
  return found->second;
}

std::vector<std::string> DecisionDraft::types_for_more(const Job& job) {
  const auto bound = free_slots().has_several_types() ? bound_type(state_, job) : std::nullopt;
  return bound ? std::vector<std::string>{*bound} : job.spec.slot_types;
}

const DecisionDraft::SlotPrices& DecisionDraft::slot_prices(const Job& job) {
  const auto [known, is_new] = slot_prices_.try_emplace(node_demand(job.spec));
  if (!is_new) return known->second;
  std::optional<SlotPrices> found;
  for (const auto& [id, node] : state_.nodes) {
    if (!node.takes_workers() || !may_run_on(job, node)) continue;
    const Money price = node.price_per_slot_hour;
    if (!found) found = SlotPrices{.cheapest = price, .dearest = price};
    found->cheapest = std::min(found->cheapest, price);
    found->dearest = std::max(found->dearest, price);
  }
  return known->second = found.value_or(SlotPrices());
}

std::optional<Reason> DecisionDraft::above_cap(const Job& job, int more) {
  const auto& cap = job.spec.scaling.price_cap;
  if (!cap) return std::nullopt;
  const Money added = Money::micros(slot_prices(job).cheapest.count_micros() * more * job.spec.gpus_per_worker);
  const Money price = price_per_hour(state_, job) + added;
  if (price <= *cap) return std::nullopt;
  return reason::PriceCap{.cap = *cap, .price = price};
}

std::optional<Reason> DecisionDraft::never_within_cap(const Job& job) {
  const auto why = least_prices_.above_cap(state_, job);
  return why ? std::optional<Reason>(*why) : std::nullopt;
}

bool DecisionDraft::may_be_above_cap(const Job& job, int more) {
  const auto most = slot_price_max(state_, job, more * job.spec.gpus_per_worker);
  return most && *most < slot_prices(job).dearest;
}

NodeDemand DecisionDraft::demand_within_cap(const Job& job, int more) {
  NodeDemand demand = node_demand(job.spec);
  if (const auto bound = bound_type(state_, job)) demand.slot_types = {*bound};
  demand.slot_price_max = slot_price_max(state_, job, more * job.spec.gpus_per_worker);
  return demand;
}

std::optional<Job> DecisionDraft::asking_within_cap(const Job& job, const NodeDemand& demand, int more) {
  const auto known = capacity_.find({job.spec.gpus_per_worker, job.spec.mixed_types, demand});
  if (known != capacity_.end() && known->second < more) return std::nullopt;
  Job asks = job;
  asks.spec.slot_types = demand.slot_types;
  asks.spec.slot_price_max = demand.slot_price_max;
  return capacity(asks) < more ? std::nullopt : std::optional(std::move(asks));
}

std::optional<std::vector<WorkerPlacement>> DecisionDraft::place_within_cap(const Job& job, GangRequest request) {
  request.price_max = slot_price_max(state_, job, request.workers * request.slots_per_worker);
  request.job = &job;
  if (request.slot_types.empty()) request.slot_types = types_for_more(job);
  request.one_type = !job.spec.mixed_types;
  return free_slots().take(std::move(request), next_worker_);
}

// Also those that are kept for others: what the wait has been for is read once it is over, too.
void DecisionDraft::record_free_slots() {
  std::optional<std::map<NodeId, int>> taken;
  std::map<std::pair<NodeDemand, bool>, int> known;
  for (Verdict& verdict : decision_.verdicts) {
    const Job& job = *state_.find_job(verdict.job);
    if (job.state() != JobState::kPending || changed(job.id)) continue;
    fill_in_free_slots(verdict.reason, [&] {
      if (!taken) taken = slots_taken_by(decision_.plan);
      const auto [free, is_new] = known.try_emplace({node_demand(job.spec), job.spec.mixed_types}, 0);
      if (is_new) free->second = slots_free_for(state_, job, *taken);
      return free->second;
    });
  }
}

Decision DecisionDraft::finish() && {
  record_free_slots();
  decision_.steps_counted = budget_.used();
  decision_.inputs_digest = digest_of_inputs(state_, decision_);
  if (!decision_.empty()) decision_.id = DecisionId(state_.next_decision);
  return std::move(decision_);
}

}  // namespace tidepool::core
