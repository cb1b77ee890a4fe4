#include "schedulerd/live/http/translate.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace tidepool::live::http {
namespace {

core::OnResize to_core_on_resize(const std::string& word) {
  if (word == "linear") return core::OnResize::kLinear;
  if (word == "sqrt") return core::OnResize::kSqrt;
  if (word == "adascale") return core::OnResize::kAdaScale;
  if (word == "callback") return core::OnResize::kCallback;
  if (word == "fixed_local") return core::OnResize::kFixedLocal;
  TP_CHECK(word == "constant", "a checked spec has a known on_resize");
  return core::OnResize::kConstant;
}

core::ScalingSpec to_core_scaling(const api::v1::ScalingFields& from) {
  core::ScalingSpec scaling;
  scaling.policy = from.policy;
  scaling.every_steps = from.every_steps;
  scaling.spawn_size = from.spawn_size;
  scaling.efficiency_threshold = from.efficiency_threshold;
  scaling.price_cap = from.price_cap;
  if (from.utility_linear_value) {
    scaling.linear_utility = core::LinearUtility{*from.utility_linear_value, from.utility_linear_zero_at.value()};
  }
  if (!from.utility_piecewise.empty()) {
    scaling.piecewise_utility.emplace();
    for (const auto& point : from.utility_piecewise)
      scaling.piecewise_utility->points.push_back({point.at, point.value});
  }
  return scaling;
}

}  // namespace

core::JobSpec to_core(const api::v1::JobSpecV1& from) {
  core::JobSpec spec;
  spec.name = from.name;
  spec.tenant = from.tenant;
  spec.priority = from.priority;
  spec.preemptible = from.preemptible;
  spec.gpus_per_worker = from.resources.gpus_per_worker;
  const auto& types = from.resources.gpu_types;
  if (std::find(types.begin(), types.end(), "any") == types.end()) spec.slot_types = types;
  spec.pack_node = from.pack_node;
  spec.resize = from.run.restart ? core::ResizeMode::kRestart : core::ResizeMode::kLive;
  spec.shared_checkpoints = !from.checkpoint_dir.empty();
  const auto& elastic = from.elastic;
  spec.elastic = {elastic.min,         elastic.max,      elastic.preferred, elastic.sizes,
                  elastic.min_runtime, elastic.cooldown, elastic.grace};
  spec.batch = {from.batch.global, from.batch.per_worker_max, to_core_on_resize(from.batch.on_resize),
                from.batch.global_max};
  spec.scaling = to_core_scaling(from.scaling);
  spec.straggler_detector = from.straggler_detector;
  spec.work_samples = from.work_samples;
  spec.deadline = from.deadline;
  spec.max_duration = from.max_duration;
  spec.max_restarts = from.max_restarts;
  spec.document = canonical_json(api::v1::effective_document(from));
  return spec;
}

}  // namespace tidepool::live::http
