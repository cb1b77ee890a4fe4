#include "schedulerd/leader/job_file.hpp"

#include <algorithm>
#include <array>

#include "base/check.hpp"
#include "core/codec/arguments.hpp"

namespace tidepool::leader {
namespace {

// In the order of core::OnResize.
constexpr std::array<const char*, 6> kOnResize = {"constant", "linear", "sqrt", "adascale", "callback", "fixed_local"};

// In the order of core::TopologyStrategy.
constexpr std::array<const char*, 4> kStrategies = {"pack", "spread", "strict_pack", "strict_spread"};

core::TopologyStrategy strategy_of(const std::string& word) {
  const auto* found = std::find(kStrategies.begin(), kStrategies.end(), word);
  TP_CHECK(found != kStrategies.end(), "a checked spec has a known strategy");
  return static_cast<core::TopologyStrategy>(found - kStrategies.begin());
}

core::OnResize to_core_on_resize(const std::string& word) {
  const auto* found = std::find(kOnResize.begin(), kOnResize.end(), word);
  TP_CHECK(found != kOnResize.end(), "a checked spec has a known on_resize");
  return static_cast<core::OnResize>(found - kOnResize.begin());
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

api::v1::ScalingFields to_file_scaling(const core::ScalingSpec& from) {
  api::v1::ScalingFields scaling;
  scaling.policy = from.policy;
  scaling.every_steps = from.every_steps;
  scaling.spawn_size = from.spawn_size;
  scaling.efficiency_threshold = from.efficiency_threshold;
  scaling.price_cap = from.price_cap;
  if (from.linear_utility) {
    scaling.utility_linear_value = from.linear_utility->value;
    scaling.utility_linear_zero_at = from.linear_utility->zero_at;
  }
  if (from.piecewise_utility) {
    for (const auto& point : from.piecewise_utility->points)
      scaling.utility_piecewise.push_back({point.at, point.value});
  }
  return scaling;
}

core::RunSpec to_core_run(const api::v1::RunSpec& from) {
  auto args = core::arguments_from_json(from.args);
  TP_CHECK(args.ok(), "a checked spec has plain arguments");
  return {.trainer = from.trainer,
          .command = from.command,
          .args = *std::move(args),
          .env = from.env,
          .workdir = from.workdir};
}

std::vector<std::string> types_as_given(const core::JobSpec& spec) {
  if (!spec.slot_types_as_given.empty()) return spec.slot_types_as_given;
  return spec.slot_types.empty() ? std::vector<std::string>{"any"} : spec.slot_types;
}

}  // namespace

core::JobSpec to_core(const api::v1::JobSpecV1& file) {
  core::JobSpec spec;
  spec.name = file.name;
  spec.tenant = file.tenant;
  spec.priority = file.priority;
  spec.preemptible = file.preemptible;
  spec.gpus_per_worker = file.resources.gpus_per_worker;
  const auto& types = file.resources.gpu_types;
  const bool any = std::find(types.begin(), types.end(), "any") != types.end();
  if (!any) spec.slot_types = types;
  if (any && types.size() > 1) spec.slot_types_as_given = types;
  spec.type_speeds = file.resources.gpu_speeds;
  spec.mixed_types = file.resources.mixed_types;
  spec.cpus = file.resources.cpus;
  spec.memory = file.resources.memory;
  spec.pack_node = file.topology.pack_node;
  spec.placement = {.selector = file.placement.selector,
                    .strategy = strategy_of(file.topology.strategy),
                    .key = file.topology.key,
                    .exclusive = file.placement.exclusive};
  spec.run = to_core_run(file.run);
  spec.checkpoint = {.every = file.checkpoint_every, .dir = file.checkpoint_dir, .keep = file.checkpoint_keep};
  spec.resize = file.run.restart ? core::ResizeMode::kRestart : core::ResizeMode::kLive;
  const auto& elastic = file.elastic;
  spec.elastic = {elastic.min,      elastic.max,   elastic.preferred, elastic.sizes, elastic.min_runtime,
                  elastic.cooldown, elastic.grace, elastic.step,      elastic.group};
  spec.batch = {file.batch.global, file.batch.per_worker_max, to_core_on_resize(file.batch.on_resize),
                file.batch.global_max};
  spec.scaling = to_core_scaling(file.scaling);
  spec.straggler_detector = file.straggler_detector;
  spec.work_samples = file.work_samples;
  spec.deadline = file.deadline;
  spec.max_duration = file.max_duration;
  spec.max_restarts = file.max_restarts;
  spec.labels = file.labels;
  return spec;
}

api::v1::JobSpecV1 to_file(const core::JobSpec& spec) {
  api::v1::JobSpecV1 file;
  file.name = spec.name;
  file.tenant = spec.tenant;
  file.priority = spec.priority;
  file.preemptible = spec.preemptible;
  file.resources = {.gpus_per_worker = spec.gpus_per_worker,
                    .gpu_types = types_as_given(spec),
                    .gpu_speeds = spec.type_speeds,
                    .mixed_types = spec.mixed_types,
                    .cpus = spec.cpus,
                    .memory = spec.memory};
  file.topology = {.pack_node = spec.pack_node,
                   .strategy = kStrategies.at(static_cast<std::size_t>(spec.placement.strategy)),
                   .key = spec.placement.key};
  file.placement = {.selector = spec.placement.selector, .exclusive = spec.placement.exclusive};
  file.run = {spec.run->trainer,
              spec.run->command,
              spec.resize == core::ResizeMode::kRestart,
              core::arguments_to_json(spec.run->args),
              spec.run->env,
              spec.run->workdir};
  file.checkpoint_every = spec.checkpoint.every;
  file.checkpoint_dir = spec.checkpoint.dir;
  file.checkpoint_keep = spec.checkpoint.keep;
  const auto& elastic = spec.elastic;
  file.elastic = {elastic.min,   elastic.max,         elastic.preferred, elastic.sizes, elastic.step,
                  elastic.group, elastic.min_runtime, elastic.cooldown,  elastic.grace};
  file.batch = {spec.batch.global, spec.batch.per_worker_max,
                kOnResize.at(static_cast<std::size_t>(spec.batch.on_resize)), spec.batch.global_max};
  file.scaling = to_file_scaling(spec.scaling);
  file.straggler_detector = spec.straggler_detector;
  file.work_samples = spec.work_samples;
  file.deadline = spec.deadline;
  file.max_duration = spec.max_duration;
  file.max_restarts = spec.max_restarts;
  file.labels = spec.labels;
  return file;
}

nlohmann::json job_document(const core::JobSpec& spec) {
  return api::v1::effective_document(to_file(spec));
}

}  // namespace tidepool::leader
