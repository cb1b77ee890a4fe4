#include "schedulerd/leader/report_facts.hpp"

#include <algorithm>

#include "base/money.hpp"
#include "base/overloaded.hpp"
#include "base/process_end.hpp"
#include "base/utf8.hpp"

namespace tidepool::leader {
namespace {

constexpr std::size_t kNameMax = 63;
constexpr std::size_t kToldMax = 1'024;

core::StepsMeasured fact_of_steps(const api::StepsMessage& said, const core::Worker& worker) {
  return {.job = worker.job,
          .generation = said.generation,
          .last_step = said.last_step,
          .steps = said.steps,
          .elapsed = Duration::micros(said.elapsed_us),
          .samples = said.samples,
          .loss = said.loss,
          .epoch = said.epoch,
          .compute_us = said.compute_us,
          .samples_total = said.samples_total,
          .global_batch = said.global_batch,
          .noise_scale = said.noise_scale,
          .shares = said.shares};
}

core::SharesChanged fact_of_shares(const api::RebalancedMessage& said, const core::Worker& worker) {
  return {.job = worker.job,
          .generation = said.generation,
          .number = said.number,
          .step = said.step + 1,  // told: the committed ones
          .stall_ms = said.stall_ms};
}

core::NoticeAnswer to_core(api::NoticeAnswer answer) {
  switch (answer) {
    case api::NoticeAnswer::kSaving: return core::NoticeAnswer::kSaving;
    case api::NoticeAnswer::kDone: return core::NoticeAnswer::kDone;
    case api::NoticeAnswer::kUntil: return core::NoticeAnswer::kUntil;
    case api::NoticeAnswer::kRefuse: return core::NoticeAnswer::kRefuse;
  }
  return core::NoticeAnswer::kSaving;
}

core::NoticeAnswered fact_of_answer(const api::AnswerMessage& said, const core::Worker& worker) {
  return {.worker = worker.id,
          .decision = said.decision,
          .number = said.number,
          .answer = to_core(said.answer),
          .needs = Duration::millis(said.needs_ms)};
}

core::CheckpointFailed fact_of_failure(const api::CheckpointFailedMessage& said, const core::Worker& worker) {
  return {.job = worker.job,
          .worker = worker.id,
          .generation = said.generation,
          .step = said.step,
          .detail = told(said.error)};
}

std::optional<core::UnusedState> to_core(const std::optional<api::UnusedState>& unused) {
  if (!unused) return std::nullopt;
  return core::UnusedState{.step = unused->step, .why = unused->why};
}

core::GenerationSwitched fact_of_switch(const api::SwitchedMessage& said, const core::Worker& worker) {
  return {.job = worker.job,
          .generation = said.generation,
          .switch_step = said.switch_step + 1,  // told: the committed ones
          .stall_ms = said.stall_ms,
          .build_ms = said.build_ms,
          .steps_redone = said.steps_redone,
          .samples_repeated = said.samples_repeated,
          .bytes_moved = said.bytes_moved,
          .unused = to_core(said.unused)};
}

core::DataEpochAudited fact_of_audit(const api::EpochAuditedMessage& said, const core::Worker& worker) {
  return {.job = worker.job,
          .epoch = said.epoch,
          .expected = said.expected,
          .used = said.used,
          .checksum_ok = said.checksum_ok};
}

core::StateParked fact_of_parking(const api::ParkedMessage& said, const core::Worker& worker) {
  return {.job = worker.job,
          .worker = worker.id,
          .generation = said.generation,
          .step = said.step,
          .bytes = said.bytes,
          .write_ms = said.write_ms};
}

core::CheckpointTaken fact_of_checkpoint(const api::CheckpointedMessage& said, const core::Worker& worker) {
  return {.job = worker.job,
          .worker = worker.id,
          .generation = said.generation,
          .step = said.step,
          .bytes = said.bytes,
          .write_ms = said.write_ms,
          .path = said.path};
}

core::StateRestored fact_of_restoring(const api::RestoredMessage& said, const core::Worker& worker) {
  return {.job = worker.job, .generation = said.generation, .step = said.step, .bytes = said.bytes, .path = said.path};
}

}  // namespace

std::string told(const std::string& text) {
  return shortened_to(text, kToldMax);
}

std::string logged_name(const std::string& name) {
  return name.substr(0, kNameMax);
}

bool is_node_name(const std::string& name) {
  const auto legal = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_';
  };
  return !name.empty() && name.size() <= kNameMax && std::all_of(name.begin(), name.end(), legal);
}

Result<core::Fact> fact_of_hello(const api::AgentHello& hello, NodeId node, std::map<std::string, std::string> labels) {
  if (!is_node_name(hello.node)) {
    return invalid_argument(std::string(kNodeNameRule) + "; give one with --node");
  }
  if (hello.slots < 1 || hello.slots > api::kNodeSlotsMax) {
    return invalid_argument("a node offers 1 to " + std::to_string(api::kNodeSlotsMax) + " slots, not " +
                            std::to_string(hello.slots));
  }
  auto price = parse_price(hello.price_per_slot_hour);
  if (!price.ok()) return invalid_argument("price_per_slot_hour: " + price.error().message);
  return core::Fact(core::NodeJoined{.node = node,
                                     .name = hello.node,
                                     .slots = hello.slots,
                                     .slot_type = hello.slot_type,
                                     .price_per_slot_hour = *price,
                                     .running = hello.running,
                                     .data_address = hello.data_address.value_or(""),
                                     .isolation = hello.isolation,
                                     .labels = std::move(labels),
                                     .moves_states = hello.moves_states.value_or(false),
                                     .gives_notice = hello.gives_notice.value_or(false),
                                     .memory_per_slot = hello.memory_per_slot});
}

core::WorkerExited fact_of_exit(const api::WorkerExitedReport& report) {
  const bool is_unknown = is_end_unknown(report.exit_code, report.signal);
  return {.worker = report.worker,
          .exit_code = report.exit_code,
          .signal = report.signal,
          .detail = told(report.detail),
          .nothing_started = is_unknown && report.nothing_started.value_or(true)};
}

core::SlotsHeld fact_of_held(const api::SlotsHeldReport& report) {
  return {.worker = report.worker,
          .lasted = Duration::millis(report.for_ms),
          .why = told(report.why),
          .exit_code = report.exit_code,
          .signal = report.signal,
          .detail = told(report.detail)};
}

core::WorkerStuck fact_of_stuck(const api::WorkerStuckReport& report) {
  return {.worker = report.worker,
          .step = report.step,
          .phase = api::to_text(report.phase),
          .lasted = Duration::millis(report.for_ms)};
}

core::NodeProbed fact_of_probe(const api::ProbedReport& report, NodeId node) {
  core::NodeProbed fact{.node = node, .devices = {}};
  for (const api::DeviceFigure& each : report.devices) {
    fact.devices.push_back({each.device, each.matmul_gflops, each.copy_gbps});
  }
  return fact;
}

core::NodeReclaimNoticed fact_of_reclaim(const api::ReclaimReport& report, NodeId node) {
  core::NodeReclaimNoticed fact{.node = node, .within = {}};
  if (report.in_ms) fact.within = Duration::millis(*report.in_ms);
  return fact;
}

std::optional<core::Fact> fact_of_worker(const api::FromWorker& message, const core::Worker& worker) {
  using Answer = std::optional<core::Fact>;
  return std::visit(
      Overloaded{
          [&](const api::ReadyMessage& said) -> Answer {
            // A program that restarts at each size reports its length when it runs.
            const bool tells = worker.launched > 0 && (said.work_steps || said.work_samples);
            if (worker.phase != core::WorkerPhase::kStarting && !tells) return std::nullopt;
            return core::WorkerReady{worker.id, said.work_steps, said.work_samples};
          },
          [&](const api::AddressMessage& said) -> Answer {
            if (said.generation <= worker.joining) return std::nullopt;
            return core::WorkerJoining{worker.id, said.generation};
          },
          [&](const api::SwitchedMessage& said) -> Answer { return fact_of_switch(said, worker); },
          [&](const api::StepsMessage& said) -> Answer { return fact_of_steps(said, worker); },
          [&](const api::EpochAuditedMessage& said) -> Answer { return fact_of_audit(said, worker); },
          [&](const api::FinishedMessage& said) -> Answer {
            return core::TrainingFinished{
                .job = worker.job, .last_step = said.last_step, .loss = said.loss, .samples_total = said.samples_total};
          },
          [&](const api::ParkedMessage& said) -> Answer { return fact_of_parking(said, worker); },
          [&](const api::CheckpointedMessage& said) -> Answer { return fact_of_checkpoint(said, worker); },
          [&](const api::CheckpointFailedMessage& said) -> Answer { return fact_of_failure(said, worker); },
          [&](const api::StartedMessage& said) -> Answer {
            if (said.generation <= worker.launched) return std::nullopt;
            return core::ProgramStarted{worker.id, said.generation};
          },
          [&](const api::EndedMessage& said) -> Answer {
            return core::ProgramEnded{worker.id, said.generation, said.exit_code, said.signal, told(said.detail)};
          },
          [&](const api::RebalancedMessage& said) -> Answer { return fact_of_shares(said, worker); },
          [&](const api::AnswerMessage& said) -> Answer { return fact_of_answer(said, worker); },
          [&](const api::RestoredMessage& said) -> Answer { return fact_of_restoring(said, worker); },
      },
      message);
}

}  // namespace tidepool::leader
