// The writing half of the codec: each message becomes one JSON object with its "type".
#include <utility>

#include "api/base64.hpp"
#include "api/worker_protocol.hpp"
#include "base/json.hpp"
#include "base/overloaded.hpp"

namespace tidepool::api {
namespace {

using nlohmann::json;

template <class Id>
json ids(const std::vector<Id>& list) {
  json texts = json::array();
  for (const Id id : list) texts.push_back(id.text());
  return texts;
}

json blobs(const std::vector<std::string>& raw) {
  json texts = json::array();
  for (const auto& blob : raw) texts.push_back(encode_base64(blob));
  return texts;
}

json figures(const std::vector<DeviceFigure>& devices) {
  json list = json::array();
  for (const DeviceFigure& each : devices) {
    list.push_back({{"device", each.device}, {"matmul_gflops", each.matmul_gflops}, {"copy_gbps", each.copy_gbps}});
  }
  return list;
}

json number_or_null(const std::optional<double>& number) {
  return number ? json(*number) : json(nullptr);
}

json object_of_steps(const StepsMessage& m) {
  return json{{"type", "steps"},
              {"generation", m.generation},
              {"last_step", m.last_step},
              {"steps", m.steps},
              {"elapsed_us", m.elapsed_us},
              {"samples", m.samples},
              {"loss", m.loss},
              {"epoch", m.epoch},
              {"compute_us", m.compute_us},
              {"global_batch", m.global_batch},
              {"noise_scale", number_or_null(m.noise_scale)},
              {"samples_total", m.samples_total},
              {"shares", m.shares}};
}

// Without a length the object is as in older versions, which know none.
json object_of_ready(const ReadyMessage& m) {
  json object{{"type", "ready"}, {"protocol", kWorkerProtocol}, {"generation", m.generation}};
  if (m.work_steps) object["work_steps"] = *m.work_steps;
  if (m.work_samples) object["work_samples"] = *m.work_samples;
  return object;
}

// The library writes a number that is not finite as null, as the protocol requires.
json object_of(const FromWorker& message) {
  return std::visit(
      Overloaded{
          [](const ReadyMessage& m) { return object_of_ready(m); },
          [](const AddressMessage& m) {
            return json{
                {"type", "address"}, {"generation", m.generation}, {"rank", m.rank}, {"blob", encode_base64(m.blob)}};
          },
          [](const SwitchedMessage& m) {
            return json{{"type", "switched"},
                        {"generation", m.generation},
                        {"switch_step", m.switch_step},
                        {"stall_ms", m.stall_ms},
                        {"build_ms", m.build_ms},
                        {"steps_redone", m.steps_redone},
                        {"samples_repeated", m.samples_repeated},
                        {"bytes_moved", m.bytes_moved}};
          },
          [](const StepsMessage& m) { return object_of_steps(m); },
          [](const EpochAuditedMessage& m) {
            return json{{"type", "epoch_audited"},
                        {"epoch", m.epoch},
                        {"expected", m.expected},
                        {"used", m.used},
                        {"checksum_ok", m.checksum_ok}};
          },
          [](const FinishedMessage& m) {
            return json{
                {"type", "finished"}, {"last_step", m.last_step}, {"loss", m.loss}, {"samples_total", m.samples_total}};
          },
          [](const ParkedMessage& m) {
            return json{{"type", "parked"},
                        {"generation", m.generation},
                        {"step", m.step},
                        {"bytes", m.bytes},
                        {"write_ms", m.write_ms}};
          },
          [](const CheckpointedMessage& m) {
            return json{{"type", "checkpointed"}, {"generation", m.generation}, {"step", m.step},
                        {"bytes", m.bytes},       {"write_ms", m.write_ms},     {"path", m.path}};
          },
          [](const RestoredMessage& m) {
            return json{{"type", "restored"},
                        {"generation", m.generation},
                        {"step", m.step},
                        {"bytes", m.bytes},
                        {"path", m.path}};
          },
          [](const StartedMessage& m) { return json{{"type", "started"}, {"generation", m.generation}}; },
          [](const EndedMessage& m) {
            return json{{"type", "ended"},
                        {"generation", m.generation},
                        {"exit_code", m.exit_code},
                        {"signal", m.signal},
                        {"detail", m.detail}};
          },
          [](const RebalancedMessage& m) {
            return json{{"type", "rebalanced"},
                        {"generation", m.generation},
                        {"number", m.number},
                        {"step", m.step},
                        {"stall_ms", m.stall_ms}};
          },
      },
      message);
}

json object_of(const ToWorker& message) {
  return std::visit(
      Overloaded{
          [](const GenerationMessage& m) {
            return json{{"type", "generation"},
                        {"number", m.number},
                        {"members", ids(m.members)},
                        {"after_failure", m.after_failure},
                        {"park", m.park}};
          },
          [](const AddressesMessage& m) {
            return json{{"type", "addresses"}, {"generation", m.generation}, {"blobs", blobs(m.blobs)}};
          },
          [](const CheckpointOrder&) { return json::object({{"type", "checkpoint"}}); },
          [](const SharesMessage& m) {
            return json{{"type", "shares"}, {"generation", m.generation}, {"number", m.number}, {"weights", m.weights}};
          },
      },
      message);
}

json object_of(const AgentToDaemon& message) {
  return std::visit(Overloaded{
                        [](const AgentHello& m) {
                          return json{{"type", "hello"},
                                      {"protocol", m.protocol},
                                      {"token", m.token},
                                      {"node", m.node},
                                      {"slots", m.slots},
                                      {"slot_type", m.slot_type},
                                      {"price_per_slot_hour", m.price_per_slot_hour},
                                      {"running", ids(m.running)}};
                        },
                        [](const AgentHeartbeat&) { return json::object({{"type", "heartbeat"}}); },
                        [](const WorkerExitedReport& m) {
                          return json{{"type", "worker_exited"},  {"report", m.report}, {"worker", m.worker.text()},
                                      {"exit_code", m.exit_code}, {"signal", m.signal}, {"detail", m.detail}};
                        },
                        [](const FromWorkerReport& m) {
                          return json{
                              {"type", "from_worker"}, {"worker", m.worker.text()}, {"message", object_of(m.message)}};
                        },
                        [](const LogChunk& m) {
                          return json{{"type", "log_chunk"}, {"request", m.request}, {"worker", m.worker.text()},
                                      {"offset", m.offset},  {"data", m.data},       {"next_offset", m.next_offset},
                                      {"eof", m.eof}};
                        },
                        [](const WorkerStuckReport& m) {
                          return json{{"type", "worker_stuck"},
                                      {"worker", m.worker.text()},
                                      {"step", m.step},
                                      {"phase", to_text(m.phase)},
                                      {"for_ms", m.for_ms}};
                        },
                        [](const KeptJobsReport& m) { return json{{"type", "kept_jobs"}, {"jobs", ids(m.jobs)}}; },
                        [](const ProbedReport& m) { return json{{"type", "probed"}, {"devices", figures(m.devices)}}; },
                    },
                    message);
}

json object_of(const DaemonToAgent& message) {
  return std::visit(Overloaded{
                        [](const AgentWelcome& m) {
                          return json{{"type", "welcome"},
                                      {"protocol", m.protocol},
                                      {"node", m.node.text()},
                                      {"heartbeat_ms", m.heartbeat_ms},
                                      {"patience_ms", m.patience_ms},
                                      {"cluster", m.cluster}};
                        },
                        [](const AgentRefuse& m) { return json{{"type", "refuse"}, {"why", m.why}}; },
                        [](const StartWorker& m) {
                          return json{{"type", "start"},
                                      {"worker", m.worker.text()},
                                      {"job", m.job.text()},
                                      {"slots", m.slots},
                                      {"gpus", m.gpus},
                                      {"program", m.program},
                                      {"argv", m.argv},
                                      {"env", m.env},
                                      {"workdir", m.workdir},
                                      {"spec", m.spec},
                                      {"cpus", m.cpus ? json(*m.cpus) : json()},
                                      {"restart_grace_ms", m.restart_grace_ms ? json(*m.restart_grace_ms) : json()}};
                        },
                        [](const StopWorker& m) {
                          return json{{"type", "stop"}, {"worker", m.worker.text()}, {"grace_ms", m.grace_ms}};
                        },
                        [](const ReportAck& m) { return json{{"type", "ack"}, {"report", m.report}}; },
                        [](const ToWorkerOrder& m) {
                          return json{
                              {"type", "to_worker"}, {"worker", m.worker.text()}, {"message", object_of(m.message)}};
                        },
                        [](const LogRead& m) {
                          return json{{"type", "log_read"},
                                      {"request", m.request},
                                      {"worker", m.worker.text()},
                                      {"offset", m.offset},
                                      {"limit", m.limit}};
                        },
                        [](const ProbeNode&) { return json::object({{"type", "probe"}}); },
                        [](const ForgetJob& m) {
                          return json{{"type", "forget_job"}, {"job", m.job.text()}, {"after_s", m.after_s}};
                        },
                    },
                    message);
}

std::string line_of(const json& object) {
  return canonical_json(object) + "\n";
}

}  // namespace

const char* to_text(PulsePhase phase) {
  switch (phase) {
    case PulsePhase::kWaiting: return "waiting";
    case PulsePhase::kComputing: return "computing";
    case PulsePhase::kReducing: return "reducing";
    case PulsePhase::kSwitching: return "switching";
  }
  return "waiting";
}

std::string encode(const AgentToDaemon& message) {
  return line_of(object_of(message));
}

std::string encode(const DaemonToAgent& message) {
  return line_of(object_of(message));
}

std::string encode(const ToWorker& message) {
  return line_of(object_of(message));
}

std::string encode(const WorkerToAgent& message) {
  if (const auto* hello = std::get_if<WorkerHello>(&message)) {
    return line_of(
        {{"type", "hello"}, {"protocol", hello->protocol}, {"worker", hello->worker.text()}, {"pid", hello->pid}});
  }
  if (const auto* pulse = std::get_if<PulseMessage>(&message)) {
    return line_of({{"type", "pulse"},
                    {"step", pulse->step},
                    {"phase", to_text(pulse->phase)},
                    {"stuck_after_ms", pulse->stuck_after_ms}});
  }
  return line_of(object_of(std::get<FromWorker>(message)));
}

}  // namespace tidepool::api
