// The fields of the value types that facts, plans and the state share. Private to the core's codecs.
#pragma once

#include "base/codec/archive.hpp"
#include "base/codec/text_writer.hpp"
#include "core/state/device_speed.hpp"
#include "core/state/job_spec.hpp"
#include "core/state/leave_notice.hpp"
#include "core/state/plan.hpp"
#include "core/state/policy_deployment.hpp"
#include "core/state/reason.hpp"
#include "core/state/unused_state.hpp"

namespace tidepool::core {

inline auto names_of(ResizeMode) {
  using Name = codec::EnumName<ResizeMode>;
  return std::array{Name{ResizeMode::kLive, "live"}, Name{ResizeMode::kRestart, "restart"}};
}

inline auto names_of(TopologyStrategy) {
  using Name = codec::EnumName<TopologyStrategy>;
  return std::array{Name{TopologyStrategy::kPack, "pack"}, Name{TopologyStrategy::kSpread, "spread"},
                    Name{TopologyStrategy::kStrictPack, "strict_pack"},
                    Name{TopologyStrategy::kStrictSpread, "strict_spread"}};
}

void fields(auto& archive, codec::Like<UnusedState> auto& unused) {
  archive("step", unused.step);
  archive("why", unused.why);
}
inline auto names_of(NoticeAnswer) {
  const auto name = [](NoticeAnswer answer) { return codec::EnumName<NoticeAnswer>{answer, to_text(answer)}; };
  return std::array{name(NoticeAnswer::kNone), name(NoticeAnswer::kSaving), name(NoticeAnswer::kDone),
                    name(NoticeAnswer::kUntil), name(NoticeAnswer::kRefuse)};
}

inline auto names_of(OnResize) {
  using Name = codec::EnumName<OnResize>;
  return std::array{Name{OnResize::kConstant, "constant"}, Name{OnResize::kLinear, "linear"},
                    Name{OnResize::kSqrt, "sqrt"},         Name{OnResize::kAdaScale, "adascale"},
                    Name{OnResize::kCallback, "callback"}, Name{OnResize::kFixedLocal, "fixed_local"}};
}

void fields(auto& archive, codec::Like<PolicyFileRef> auto& file) {
  archive("name", file.name);
  archive("version", file.version);
  archive("params", file.params);
  archive("shares", file.shares);
  archive("provisions", file.provisions);
}

void fields(auto& archive, codec::Like<ReasonNumber> auto& number) {
  archive("name", number.name);
  archive("value", number.value);
}

void fields(auto& archive, codec::Like<PolicyJobAnswer> auto& wish) {
  archive("job", wish.job);
  archive("asked", wish.asked);
  archive("admitted", wish.admitted);
  archive("rank", wish.rank);
  archive("size", wish.size);
  archive("mark", wish.mark);
  archive("word", wish.word);
  archive("numbers", wish.numbers);
}

void fields(auto& archive, codec::Like<TenantClaim> auto& claim) {
  archive("tenant", claim.tenant);
  archive("slots", claim.slots);
}

void fields(auto& archive, codec::Like<PoolTarget> auto& wish) {
  archive("pool", wish.pool);
  archive("nodes", wish.nodes);
  archive("word", wish.word);
  archive("numbers", wish.numbers);
}

void fields(auto& archive, codec::Like<PolicyRound> auto& round) {
  archive("number", round.number);
  archive("asked_at", round.asked_at);
  archive("wishes", round.job_answers);
  archive("claims", round.claims);
  archive("pools", round.pools);
  archive("fault", round.fault);
  archive("message", round.message);
}

// Policy files of earlier versions had fewer hooks, and their rounds had fewer answers. Each may be null.
inline void add_missing_hooks(nlohmann::json& file) {
  if (!file.is_object()) return;
  file.emplace("shares", false);
  file.emplace("provisions", false);
}
inline void add_missing_answers(nlohmann::json& round) {
  if (!round.is_object()) return;
  round.emplace("claims", nlohmann::json::array());
  round.emplace("pools", nlohmann::json::array());
}

void fields(auto& archive, codec::Like<ElasticSpec> auto& spec) {
  archive("min", spec.min);
  archive("max", spec.max);
  archive("preferred", spec.preferred);
  archive("sizes", spec.sizes);
  archive("min_runtime", spec.min_runtime);
  archive("cooldown", spec.cooldown);
  archive("grace", spec.grace);
  archive("step", spec.step);
  archive("group", spec.group);
}

[[nodiscard]] nlohmann::json encode_value(const Argument& argument);
[[nodiscard]] Status decode_value(const nlohmann::json& in, const std::string& where, Argument& argument);

void fields(auto& archive, codec::Like<RunSpec> auto& run) {
  archive("trainer", run.trainer);
  archive("command", run.command);
  archive("args", run.args);
  archive("env", run.env);
  archive("workdir", run.workdir);
}

void fields(auto& archive, codec::Like<CheckpointSpec> auto& checkpoint) {
  archive("every", checkpoint.every);
  archive("dir", checkpoint.dir);
  archive("keep", checkpoint.keep);
}

void fields(auto& archive, codec::Like<BatchSpec> auto& spec) {
  archive("global", spec.global);
  archive("per_worker_max", spec.per_worker_max);
  archive("on_resize", spec.on_resize);
  archive("global_max", spec.global_max);
}

void fields(auto& archive, codec::Like<LinearUtility> auto& utility) {
  archive("value", utility.value);
  archive("zero_at", utility.zero_at);
}

void fields(auto& archive, codec::Like<PiecewiseUtility::Point> auto& point) {
  archive("at", point.at);
  archive("value", point.value);
}

void fields(auto& archive, codec::Like<PiecewiseUtility> auto& utility) {
  archive("points", utility.points);
}

void fields(auto& archive, codec::Like<ScalingSpec> auto& spec) {
  archive("policy", spec.policy);
  archive("every_steps", spec.every_steps);
  archive("spawn_size", spec.spawn_size);
  archive("efficiency_threshold", spec.efficiency_threshold);
  archive("linear_utility", spec.linear_utility);
  archive("piecewise_utility", spec.piecewise_utility);
  archive("price_cap", spec.price_cap);
}

void fields(auto& archive, codec::Like<PlacementSpec> auto& placement) {
  archive("selector", placement.selector);
  archive("strategy", placement.strategy);
  archive("key", placement.key);
  archive("exclusive", placement.exclusive);
}

void fields(auto& archive, codec::Like<JobSpec> auto& spec) {
  archive("name", spec.name);
  archive("tenant", spec.tenant);
  archive("priority", spec.priority);
  archive("preemptible", spec.preemptible);
  archive("gpus_per_worker", spec.gpus_per_worker);
  archive("slot_types", spec.slot_types);
  archive("slot_types_as_given", spec.slot_types_as_given);
  archive("mixed_types", spec.mixed_types);
  archive("type_speeds", spec.type_speeds);
  archive("cpus", spec.cpus);
  archive("memory", spec.memory);
  archive("pack_node", spec.pack_node);
  archive("placement", spec.placement);
  archive("run", spec.run);
  archive("checkpoint", spec.checkpoint);
  archive("resize", spec.resize);
  archive("elastic", spec.elastic);
  archive("batch", spec.batch);
  archive("scaling", spec.scaling);
  archive("straggler_detector", spec.straggler_detector);
  archive("work_samples", spec.work_samples);
  archive("deadline", spec.deadline);
  archive("max_duration", spec.max_duration);
  archive("max_restarts", spec.max_restarts);
  archive("labels", spec.labels);
  archive("defaults_from", spec.defaults_from);
}

// Also decodes the format of versions up to schema 9 (spec_codec.cpp).
[[nodiscard]] Status decode_value(const nlohmann::json& in, const std::string& where, JobSpec& spec);
[[nodiscard]] Status decode_sparse(const nlohmann::json& in, const std::string& where, JobSpec& spec);

void fields(auto& archive, codec::Like<DeviceSpeed> auto& speed) {
  archive("device", speed.device);
  archive("matmul_gflops", speed.matmul_gflops);
  archive("copy_gbps", speed.copy_gbps);
}

void fields(auto& archive, codec::Like<Alternative> auto& alternative) {
  archive("size", alternative.size);
  archive("score", alternative.score);
  archive("reason", alternative.reason);
}

void fields(auto& archive, codec::Like<Mark> auto& mark) {
  archive("level", mark.level);
  archive("since", mark.since);
  archive("numbers", mark.numbers);
}

void fields(auto& archive, codec::Like<Target> auto& target) {
  archive("size", target.size);
  archive("place", target.place);
  archive("reason", target.reason);
  archive("score", target.score);
  archive("lost", target.lost);
  archive("mark", target.mark);
  archive("unasked", target.unasked);
}

inline auto names_of(BlockedOn) {
  using Name = codec::EnumName<BlockedOn>;
  return std::array{Name{BlockedOn::kNothing, "nothing"},
                    Name{BlockedOn::kSlots, "slots"},
                    Name{BlockedOn::kQueue, "queue"},
                    Name{BlockedOn::kClusterSize, "cluster_size"},
                    Name{BlockedOn::kSavedState, "saved_state"},
                    Name{BlockedOn::kMoreSlots, "more_slots"},
                    Name{BlockedOn::kNodesCleared, "nodes_cleared"}};
}

void fields(auto& archive, codec::Like<Blocked> auto& blocked) {
  archive("on", blocked.on);
  archive("straggler", blocked.straggler);
  archive("domain", blocked.domain);
}

void fields(auto& archive, codec::Like<Verdict> auto& verdict) {
  archive("job", verdict.job);
  archive("reason", verdict.reason);
  archive("lost", verdict.lost);
  archive("chosen", verdict.chosen);
  archive("blocked", verdict.blocked);
}

// A reason's numbers are an object: {"code": "Grow", "numbers": {"from": 1}}.
[[nodiscard]] nlohmann::json encode_value(const Reason& reason);
[[nodiscard]] Status decode_value(const nlohmann::json& in, const std::string& where, Reason& reason);
void fields(codec::TextWriter& writer, const Reason& reason);
void fields(codec::BlankWriter& writer, const Reason& reason);

}  // namespace tidepool::core
