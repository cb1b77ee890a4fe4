#include "core/facts/event_data.hpp"

#include <nlohmann/json.hpp>

#include "core/codec/codec.hpp"
#include "core/codec/reason_numbers.hpp"
#include "core/facts/throughput.hpp"
#include "core/state/measured/node_speed.hpp"
#include "core/state/state_move.hpp"
#include "core/words/notice_words.hpp"
#include "core/words/sentence.hpp"
#include "core/words/unused_state_words.hpp"

namespace tidepool::core {
namespace {

nlohmann::json number_or_null(const std::optional<double>& number) {
  return number ? nlohmann::json(*number) : nlohmann::json(nullptr);
}

// Mean over the report's steps of each rank's compute time, in milliseconds.
nlohmann::json compute_ms(const StepsMeasured& report) {
  auto means = nlohmann::json::array();
  if (report.compute_us.empty()) return means;
  const std::size_t steps = static_cast<std::size_t>(report.steps);
  const std::size_t ranks = report.compute_us.size() / steps;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    double sum_us = 0;
    for (std::size_t step = 0; step < steps; ++step) {
      sum_us += static_cast<double>(report.compute_us[step * ranks + rank]);
    }
    means.push_back(sum_us / static_cast<double>(steps) / 1000.0);
  }
  return means;
}

// The relation of the newest generation to the previous one: "start", "resume", "failure", "restart", "grow", "shrink"
// or "replace".
const char* kind_of_switch(const Job& job) {
  if (job.membership.commit.from_size == 0) return job.started_at ? "resume" : "start";
  if (job.membership.commit.after_failure) return "failure";
  if (job.spec.resize == ResizeMode::kRestart) return "restart";
  if (job.size() == job.membership.commit.from_size) return "replace";
  return job.size() > job.membership.commit.from_size ? "grow" : "shrink";
}

}  // namespace

nlohmann::json reason_data(const Reason& reason) {
  auto data = to_json(reason);
  data["text"] = sentence(reason);
  return data;
}

nlohmann::json submitted_data(const JobSpec& spec) {
  return {
      {"name", spec.name}, {"min", spec.elastic.min}, {"max", spec.elastic.max}, {"preferred", spec.elastic.preferred}};
}

nlohmann::json progressed_data(const Job& job, const StepsMeasured& report) {
  const double seconds = report.elapsed.to_seconds();
  return {{"step", report.last_step},
          {"size", job.membership.stepping_size},
          {"generation", report.generation},
          {"samples_per_second", static_cast<double>(report.samples) / seconds},
          {"step_ms", seconds * 1000.0 / static_cast<double>(report.steps)},
          {"loss", report.loss},
          {"epoch", report.epoch},
          {"cost", to_text(job.account.cost)},
          {"compute_ms", compute_ms(report)},
          {"global_batch", report.global_batch > 0 ? nlohmann::json(report.global_batch) : nlohmann::json(nullptr)},
          {"noise_scale", number_or_null(job.progress.noise_scale)},
          {"statistical_efficiency", number_or_null(statistical_efficiency(job))}};
}

nlohmann::json finished_data(const Job& job) {
  return {{"state", to_text(job.state())},
          {"steps", job.progress.step},
          {"loss", job.progress.last_loss},
          {"reason", reason_data(job.verdict.reason)},
          {"cost", to_text(job.account.cost)},
          {"epochs_untold", job.progress.audits_untold},
          {"error", job.recovery.last_error.empty() || job.state() != JobState::kFailed
                        ? nlohmann::json(nullptr)
                        : nlohmann::json(job.recovery.last_error)}};
}

nlohmann::json resizing_data(const Transition& transition) {
  return {{"from", transition.from_size}, {"to", transition.to_size}, {"reason", reason_data(transition.reason)}};
}

nlohmann::json rebalanced_data(const Job& job, const SharesChanged& fact) {
  auto shares = nlohmann::json::array();
  for (std::size_t rank = 0; rank < job.shares.used.weights.size(); ++rank) {
    shares.push_back({{"worker", job.membership.members[rank].text()},
                      {"share", static_cast<double>(job.shares.used.weights[rank]) / static_cast<double>(kFullShare)}});
  }
  return {{"generation", fact.generation},
          {"number", fact.number},
          {"step", fact.step},
          {"stall_ms", fact.stall_ms},
          {"shares", std::move(shares)}};
}

nlohmann::json suspended_data(const Job& job) {
  const SavedState* kept = newest_kept(job);
  return {{"size", 0},
          {"step", job.progress.step},
          {"kept_step", kept == nullptr ? nlohmann::json(nullptr) : nlohmann::json(kept->step)}};
}

nlohmann::json changed_data(const JobSpec& spec) {
  return {{"min", spec.elastic.min},
          {"max", spec.elastic.max},
          {"preferred", spec.elastic.preferred},
          {"sizes", spec.elastic.sizes},
          {"priority", spec.priority}};
}

nlohmann::json switched_data(const Job& job, const GenerationSwitched& fact, bool measured) {
  nlohmann::json data = {{"generation", fact.generation},
                         {"kind", kind_of_switch(job)},
                         {"reason", reason_data(job.membership.commit.reason)},
                         {"from_size", job.membership.commit.from_size},
                         {"to_size", job.size()},
                         {"stall_ms", fact.stall_ms},
                         {"steps_redone", fact.steps_redone},
                         {"samples_repeated", fact.samples_repeated},
                         {"build_ms", fact.build_ms},
                         {"bytes_moved", fact.bytes_moved},
                         {"switch_step", fact.switch_step},
                         {"measured", measured}};
  if (fact.unused) {
    data["unused"] = {
        {"step", fact.unused->step}, {"why", to_text(fact.unused->why)}, {"text", sentence(*fact.unused)}};
  }
  return data;
}

nlohmann::json probed_data(const ClusterState& state, const Node& node) {
  auto devices = nlohmann::json::array();
  if (node.health) {
    for (const DeviceSpeed& each : node.health->devices) {
      devices.push_back(
          {{"device", each.device}, {"matmul_gflops", each.matmul_gflops}, {"copy_gbps", each.copy_gbps}});
    }
  }
  const auto speed = speed_of(state, node);
  return {{"name", node.name},
          {"devices", std::move(devices)},
          {"speed", number_or_null(speed)},
          {"slow", speed && *speed < kSlowNode}};
}

nlohmann::json straggling_data(const Reason& reason, const std::string& detector) {
  auto data = straggler_json(reason);
  data["detector"] = detector;
  return data;
}

nlohmann::json answered_data(const ClusterState& state, const NoticeAnswered& fact, Instant before) {
  const Worker& worker = *state.find_worker(fact.worker);
  const LeaveNotice& notice = *worker.notice;
  return {{"worker", fact.worker.text()},
          {"notice", fact.decision.text()},
          {"answer", to_text(notice.answer)},
          {"granted", notice.granted},
          {"asked_seconds", fact.needs.to_seconds()},
          {"added_seconds", (notice.by - before).to_seconds()},
          {"by_unix", (notice.by.count_us() + state.utc_us_at_zero) / 1'000'000},
          {"text", answer_text(state, worker)}};
}

nlohmann::json decision_data(const Decision& decision, const ClusterState& state) {
  auto intents = nlohmann::json::array();
  for (const auto& planned : decision.plan) {
    intents.push_back({{"kind", name_of(planned.intent)},
                       {"job", job_of(planned.intent).text()},
                       {"text", sentence(planned, state)}});
  }
  for (const auto& planned : decision.nodes) {
    intents.push_back({{"kind", name_of(planned.intent)}, {"job", nullptr}, {"text", sentence(planned)}});
  }
  return {{"policy", decision.policy}, {"intents", std::move(intents)}};
}

}  // namespace tidepool::core
