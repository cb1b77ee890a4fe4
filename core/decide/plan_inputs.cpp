#include "core/decide/plan_inputs.hpp"

#include <algorithm>
#include <bit>

#include "base/digest.hpp"
#include "core/decide/restart_planner.hpp"
#include "core/decide/transition_planner.hpp"
#include "core/facts/throughput.hpp"
#include "core/place/arrangement.hpp"
#include "core/state/budget_hold.hpp"
#include "core/state/job_state.hpp"
#include "core/state/node_labels.hpp"

namespace tidepool::core {
namespace {

bool noticeable(double before, double now) {
  return now > before * kNoticeable || before > now * kNoticeable;
}

// By what a measured size is judged.
void mix_judgement(const ScalingSpec& scaling, Digest& digest) {
  const auto mix = [&](double value) { digest.mix(std::bit_cast<std::uint64_t>(value)); };
  const auto mix_time = [&](Duration time) { digest.mix(static_cast<std::uint64_t>(time.count_us())); };
  digest.mix(static_cast<std::uint64_t>(scaling.every_steps)).mix(static_cast<std::uint64_t>(scaling.spawn_size));
  mix(scaling.efficiency_threshold);
  digest.mix(std::uint64_t{scaling.linear_utility.has_value()} * 2 +
             std::uint64_t{scaling.piecewise_utility.has_value()});
  if (scaling.linear_utility) {
    mix(scaling.linear_utility->value);
    mix_time(scaling.linear_utility->zero_at);
  }
  if (!scaling.piecewise_utility) return;
  for (const PiecewiseUtility::Point& point : scaling.piecewise_utility->points) {
    mix_time(point.at);
    mix(point.value);
  }
}

void mix_tenants(const TenantTree& tree, Digest& digest) {
  const auto mix = [&](std::int64_t number) { digest.mix(static_cast<std::uint64_t>(number)); };
  mix(tree.half_life.count_us());
  mix(tree.rebalance_every.count_us());
  if (tree.churn && tree.churn->per_job) {
    digest.mix("per_job");
    mix(*tree.churn->per_job);
    mix(tree.churn->window.count_us());
  }
  for (const Tenant& tenant : tree.tenants) {
    digest.mix("tenant").mix(tenant.name).mix(tenant.parent);
    mix(tenant.guarantee);
    for (const auto& [type, slots] : tenant.guarantee_by_type) {
      digest.mix("type").mix(type);
      mix(slots);
    }
    mix(tenant.weight);
    mix(tenant.borrow.value_or(-1));
    mix(tenant.lend.value_or(-1));
    if (!tenant.notice_refusal) continue;
    digest.mix("refusal");
    mix(tenant.notice_refusal->count_us());
  }
}

// It is looked at with every report of a job, so nothing is put together for the comparison.
bool measured_otherwise(const std::map<int, double>& before, const Job& job) {
  auto known = before.begin();
  for (const auto& [size, record] : job.measurements.sizes) {
    if (!is_measured(record, job)) continue;
    if (known == before.end() || known->first != size || noticeable(known->second, record.step_seconds)) return true;
    ++known;
  }
  return known != before.end();
}

}  // namespace

std::uint64_t digest_of_request(const Job& job) {
  const auto number = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  const JobSpec& spec = job.spec;
  Digest digest;
  digest.mix(number(spec.elastic.preferred)).mix(number(spec.priority)).mix(number(spec.gpus_per_worker));
  digest.mix(number(spec.preemptible ? 1 : 0)).mix(number(job.requests.pinned_size)).mix(number(spec.batch.global));
  digest.mix(spec.scaling.policy).mix(number(spec.scaling.price_cap ? spec.scaling.price_cap->count_micros() : -1));
  digest.mix(number(spec.work_samples.value_or(-1))).mix(number(spec.deadline ? spec.deadline->count_us() : -1));
  if (job.progress.length.steps) digest.mix("steps").mix(number(*job.progress.length.steps));
  if (job.progress.length.samples) digest.mix("samples").mix(number(*job.progress.length.samples));
  for (const std::string& type : spec.slot_types) digest.mix(type);
  for (const auto& [key, values] : spec.placement.selector) {
    digest.mix("label").mix(key);
    for (const std::string& value : values) digest.mix(value);
  }
  if (spec.memory) digest.mix("memory").mix(number(*spec.memory));
  if (is_arranged(spec)) {
    digest.mix(spec.placement.key).mix(number(static_cast<int>(spec.placement.strategy)));
    digest.mix(number(spec.placement.exclusive ? 1 : 0));
  }
  if (spec.mixed_types) digest.mix("mixed");
  for (const auto& [type, speed] : spec.type_speeds) digest.mix(std::bit_cast<std::uint64_t>(speed));
  for (const int size : spec.elastic.sizes) digest.mix(number(size));
  digest.mix(number(spec.pack_node ? 1 : 0));
  mix_judgement(spec.scaling, digest);
  const auto& refused = job.preemption.refused_until;
  if (refused) digest.mix("refuses").mix(number(refused->count_us()));
  if (is_shrunk(job)) digest.mix("shrunk").mix(job.hold->tenant).mix(number(job.hold->window_ends_us));
  return digest.value();
}

bool counts(const Job& job, Instant now) {
  return !is_final(job.state()) && job.state() != JobState::kSuspended && !job.requests.suspend && !is_withheld(job) &&
         !is_ending(job, now);
}

std::optional<Instant> resizable_at(const Job& job) {
  std::optional<Instant> until;
  if (job.last_start_at) until = *job.last_start_at + job.spec.elastic.min_runtime;
  if (job.recovery.cooldown_waived || !job.last_resize_at) return until;
  const Instant cooled = *job.last_resize_at + job.spec.elastic.cooldown;
  return until ? std::max(*until, cooled) : cooled;
}

bool resize_is_blocked(const Job& job, Instant now) {
  if (job.state() == JobState::kPending) return false;
  if (!runs_unchanged(job) && !may_leave_before_launch(job, now)) return true;
  const auto until = resizable_at(job);
  return until && now < *until;
}

PlanInputs inputs_of(const Job& job, Instant now) {
  PlanInputs inputs{.asked = digest_of_request(job), .resize_blocked = resize_is_blocked(job, now), .step_seconds = {}};
  for (const auto& [size, record] : job.measurements.sizes) {
    if (is_measured(record, job)) inputs.step_seconds.emplace(size, record.step_seconds);
  }
  return inputs;
}

namespace {

// Why the node is closed, which reasons of waiting jobs name; 0: it is open.
std::uint64_t closed_by(const Node& node) {
  if (!node.is_closed()) return 0;
  return 1U + (node.drain ? 2U : 0U) + (node.is_unsteady() ? 4U : 0U) + (node.cordoned ? 8U : 0U);
}

}  // namespace

std::uint64_t digest_of_nodes(const ClusterState& state) {
  Digest digest;
  for (const auto& [id, node] : state.nodes) {
    if (node.state != NodeState::kUp) continue;
    digest.mix(id.number()).mix(std::uint64_t{node.owners.size()}).mix(closed_by(node));
    if (node.is_closed()) digest.mix(static_cast<std::uint64_t>(node.slots_held()));
    digest.mix(static_cast<std::uint64_t>(node.price_per_slot_hour.count_micros())).mix(node.slot_type);
    if (node.memory_per_slot) digest.mix("memory").mix(static_cast<std::uint64_t>(*node.memory_per_slot));
    for (const auto& [key, value] : labels_of(node)) digest.mix(key).mix(value);
  }
  if (!state.tenants->empty()) mix_tenants(*state.tenants, digest);
  return digest.value();
}

bool inputs_have_changed(const Job& job, Instant now) {
  const bool counted = counts(job, now);
  if (counted != job.planned.has_value()) return true;
  if (!counted) return false;
  if (job.planned->target.unasked) return true;
  const PlanInputs& before = job.planned->inputs;
  return (before.resize_blocked && !resize_is_blocked(job, now)) || measured_otherwise(before.step_seconds, job) ||
         before.asked != digest_of_request(job);
}

bool plan_is_due(const DecisionDraft& draft, const PlanScope& scope) {
  const ClusterState& state = draft.state();
  const ClusterPlan& plan = state.plan;
  const bool by_itself = plan.policy != draft.parts().active_policy_name(state) ||
                         (state.deployment.job_ended && draft.parts().file_decides(state)) ||
                         draft.now() >= next_plan_at(plan, draft.parts().config.plan_every) ||
                         plan.nodes != scope.nodes;
  if (by_itself && !scope.candidates.empty()) return true;
  return std::any_of(scope.looked_at.begin(), scope.looked_at.end(), [&](JobId id) {
    const Job& job = *state.find_job(id);
    return inputs_have_changed(job, draft.now()) || (draft.ends(id) && job.planned);
  });
}

Instant next_plan_at(const ClusterPlan& plan, Duration every) {
  const Instant regular = plan.made_at + every;
  return plan.wake && *plan.wake > plan.made_at ? std::min(regular, *plan.wake) : regular;
}

}  // namespace tidepool::core
