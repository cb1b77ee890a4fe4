// The messages as lines of JSON and back. fields() names each field of a message once, for both directions; reading is
// strict, so that a typo or a newer peer is told in words instead of being half understood.
#include <algorithm>
#include <array>
#include <utility>

#include "api/worker_protocol.hpp"
#include "api/worker_protocol_forms.hpp"
#include "base/byte_size.hpp"
#include "base/codec/archive.hpp"
#include "base/codec/text_writer.hpp"
#include "base/json.hpp"

namespace tidepool::api {
namespace {

using codec::Like;
using namespace forms;  // NOLINT(google-build-using-namespace): they are of this file's fields

// A struct that has fields() of its own, where one may be left out.
struct Nested {
  template <class T>
  [[nodiscard]] static nlohmann::json encode(const T& value) {
    return codec::encode(value);
  }
  template <class T>
  static void append(std::string& out, const T& value) {
    out += canonical_json(codec::encode(value));
  }
  template <class T>
  [[nodiscard]] static Status decode(const nlohmann::json& in, const std::string& where, T& value) {
    return codec::decode(in, where, value);
  }
};
constexpr Nested kNested;

}  // namespace

inline auto names_of(PulsePhase) {
  using Name = codec::EnumName<PulsePhase>;
  return std::array{Name{PulsePhase::kWaiting, "waiting"}, Name{PulsePhase::kComputing, "computing"},
                    Name{PulsePhase::kReducing, "reducing"}, Name{PulsePhase::kSwitching, "switching"}};
}

const char* to_text(PulsePhase phase) {
  for (const auto& entry : names_of(phase)) {
    if (entry.value == phase) return entry.name;
  }
  return "waiting";
}

inline auto names_of(UnusedWhy) {
  using Name = codec::EnumName<UnusedWhy>;
  return std::array{Name{UnusedWhy::kDamaged, "damaged"}, Name{UnusedWhy::kOtherLayout, "other_layout"},
                    Name{UnusedWhy::kUnreadable, "unreadable"}};
}

const char* to_text(UnusedWhy why) {
  for (const auto& entry : names_of(why)) {
    if (entry.value == why) return entry.name;
  }
  return "damaged";
}

inline auto names_of(NoticeAnswer) {
  using Name = codec::EnumName<NoticeAnswer>;
  return std::array{Name{NoticeAnswer::kSaving, "saving"}, Name{NoticeAnswer::kDone, "done"},
                    Name{NoticeAnswer::kUntil, "until"}, Name{NoticeAnswer::kRefuse, "refuse"}};
}

const char* to_text(NoticeAnswer answer) {
  for (const auto& entry : names_of(answer)) {
    if (entry.value == answer) return entry.name;
  }
  return "saving";
}

std::optional<NoticeAnswer> notice_answer_of(std::string_view text) {
  for (const auto& entry : names_of(NoticeAnswer())) {
    if (entry.name == text) return entry.value;
  }
  return std::nullopt;
}

// --- worker -> daemon ---------------------------------------------------------------------------

void fields(auto& archive, Like<ReadyMessage> auto& m) {
  archive.type("ready");
  archive.constant("protocol", kWorkerProtocol);
  archive.optional("generation", m.generation, kGeneration);
  archive.if_any("work_steps", m.work_steps, kLength);
  archive.if_any("work_samples", m.work_samples, kLength);
  archive.check(!m.work_steps || !m.work_samples, "work_samples", "and work_steps exclude each other");
}
void fields(auto& archive, Like<AddressMessage> auto& m) {
  archive.type("address");
  archive("generation", m.generation, kGeneration);
  archive("rank", m.rank, kInt);
  archive("blob", m.blob, kBase64);
  archive.check(m.blob.size() <= kAddressBytesMax, "blob", "must be at most 131072 bytes");
}
void fields(auto& archive, Like<UnusedState> auto& unused) {
  archive("step", unused.step, kNatural);
  archive("why", unused.why);
}
void fields(auto& archive, Like<SwitchedMessage> auto& m) {
  archive.type("switched");
  archive("generation", m.generation, kGeneration);
  archive("switch_step", m.switch_step, kNatural);
  archive("stall_ms", m.stall_ms, kMillis);
  archive("build_ms", m.build_ms, kMillis);
  archive("steps_redone", m.steps_redone, kStepsRedone);
  archive("samples_repeated", m.samples_repeated, kNatural);
  archive("bytes_moved", m.bytes_moved, kNatural);
  archive.if_any("unused", m.unused, kNested);
}
void fields(auto& archive, Like<StepsMessage> auto& m) {
  archive.type("steps");
  archive("generation", m.generation, kGeneration);
  archive("last_step", m.last_step, kNatural);
  archive("steps", m.steps, kReportSteps);
  archive("elapsed_us", m.elapsed_us, kReportMicros);
  archive("samples", m.samples, kReportSamples);
  archive.optional("loss", m.loss, kLoss);
  archive("epoch", m.epoch, kNatural);
  archive("compute_us", m.compute_us, kReportMicros);
  archive("global_batch", m.global_batch, kNatural);
  archive.optional("noise_scale", m.noise_scale, kNoiseScale);
  archive("samples_total", m.samples_total, kNatural);
  archive("shares", m.shares, kNatural);
}
void fields(auto& archive, Like<EpochAuditedMessage> auto& m) {
  archive.type("epoch_audited");
  archive("epoch", m.epoch, kNatural);
  archive("expected", m.expected, kNatural);
  archive("used", m.used, kNatural);
  archive("checksum_ok", m.checksum_ok);
}
void fields(auto& archive, Like<FinishedMessage> auto& m) {
  archive.type("finished");
  archive("last_step", m.last_step, kNatural);
  archive.optional("loss", m.loss, kLoss);
  archive("samples_total", m.samples_total, kNatural);
}
void fields(auto& archive, Like<ParkedMessage> auto& m) {
  archive.type("parked");
  archive("generation", m.generation, kGeneration);
  archive("step", m.step, kNatural);
  archive("bytes", m.bytes, kNatural);
  archive("write_ms", m.write_ms, kMillis);
}
void fields(auto& archive, Like<CheckpointedMessage> auto& m) {
  archive.type("checkpointed");
  archive("generation", m.generation, kGeneration);
  archive("step", m.step, kNatural);
  archive("bytes", m.bytes, kNatural);
  archive("write_ms", m.write_ms, kMillis);
  archive("path", m.path);
  archive.check(m.path.size() <= kPathBytesMax, "path", "must be at most 4096 bytes");
}
void fields(auto& archive, Like<CheckpointFailedMessage> auto& m) {
  archive.type("checkpoint_failed");
  archive("generation", m.generation, kGeneration);
  archive("step", m.step, kNatural);
  archive("error", m.error);
}
void fields(auto& archive, Like<RestoredMessage> auto& m) {
  archive.type("restored");
  archive("generation", m.generation, kGeneration);
  archive("step", m.step, kNatural);
  archive("bytes", m.bytes, kNatural);
  archive("path", m.path);
  archive.check(m.path.size() <= kPathBytesMax, "path", "must be at most 4096 bytes");
}
void fields(auto& archive, Like<StartedMessage> auto& m) {
  archive.type("started");
  archive("generation", m.generation, kGeneration);
}
void fields(auto& archive, Like<EndedMessage> auto& m) {
  archive.type("ended");
  archive("generation", m.generation, kGeneration);
  archive("exit_code", m.exit_code, kExitCode);
  archive("signal", m.signal, kSignal);
  archive("detail", m.detail);
}
void fields(auto& archive, Like<RebalancedMessage> auto& m) {
  archive.type("rebalanced");
  archive("generation", m.generation, kGeneration);
  archive("number", m.number, kNatural);
  archive("step", m.step, kNatural);
  archive("stall_ms", m.stall_ms, kMillis);
}

void fields(auto& archive, Like<AnswerMessage> auto& m) {
  archive.type("notice_answer");
  archive("decision", m.decision, kId);
  archive("number", m.number, kPositive);
  archive("answer", m.answer);
  archive("needs_ms", m.needs_ms, kGraceMs);
}

// --- worker -> agent ----------------------------------------------------------------------------

void fields(auto& archive, Like<WorkerHello> auto& m) {
  archive.type("hello");
  archive("protocol", m.protocol, kVersion);
  archive("worker", m.worker, kId);
  archive("pid", m.pid, kNatural);
  archive.if_any("hears_notices", m.hears_notices, kYesOrNo);
}
void fields(auto& archive, Like<PulseMessage> auto& m) {
  archive.type("pulse");
  archive("step", m.step, kNatural);
  archive("phase", m.phase);
  archive("stuck_after_ms", m.stuck_after_ms, kNatural);
}

// --- daemon -> worker ---------------------------------------------------------------------------

void fields(auto& archive, Like<GenerationMessage> auto& m) {
  archive.type("generation");
  archive("number", m.number, kGeneration);
  archive("members", m.members, kId);
  archive("after_failure", m.after_failure);
  archive("park", m.park);
  archive.check(!m.park || m.members.empty(), "members", "must be empty when park is true");
}
void fields(auto& archive, Like<AddressesMessage> auto& m) {
  archive.type("addresses");
  archive("generation", m.generation, kGeneration);
  archive("blobs", m.blobs, kBase64);
}
void fields(auto& archive, Like<CheckpointOrder> auto&) {
  archive.type("checkpoint");
}
void fields(auto& archive, Like<SharesMessage> auto& m) {
  archive.type("shares");
  archive("generation", m.generation, kGeneration);
  archive("number", m.number, kPositive);
  archive("weights", m.weights, codec::Range{1, kShareWeightMax});
  archive.check(!m.weights.empty(), "weights", "must hold a weight for each rank");
}

void fields(auto& archive, Like<NoticeMessage> auto& m) {
  archive.type("notice");
  archive("decision", m.decision, kId);
  archive("reason", m.reason);
  archive("sentence", m.sentence);
  archive("in_ms", m.in_ms, kNatural);
  archive("extended_ms", m.extended_ms, kNatural);
  archive("answers", m.answers, kNatural);
  archive("granted", m.granted);
}

// --- agent -> daemon ----------------------------------------------------------------------------

void fields(auto& archive, Like<AgentHello> auto& m) {
  archive.type("hello");
  archive("protocol", m.protocol, kVersion);
  archive("token", m.token);
  archive("node", m.node);
  archive("slots", m.slots, kInt);
  archive("slot_type", m.slot_type);
  archive.check(m.slot_type.size() <= kDeviceNameMax, "slot_type", "must be at most 63 bytes");
  archive("price_per_slot_hour", m.price_per_slot_hour);
  archive("running", m.running, kId);
  archive.if_any("data_address", m.data_address, kHostAddress);
  archive.if_any("isolation", m.isolation, kIsolation);
  archive.if_any("moves_states", m.moves_states, kYesOrNo);
  archive.if_any("gives_notice", m.gives_notice, kYesOrNo);
  archive.if_any("memory_per_slot", m.memory_per_slot, codec::Range{0, kBytesMax});
  archive.if_any("starts", m.starts, kStarts);
  archive.check(!m.starts || m.starts->size() == m.running.size(), "starts", "must have one entry for each of running");
  archive.if_any("instance", m.instance, kInstance);
  archive.if_any("follows_authorities", m.follows_authorities, kYesOrNo);
}
void fields(auto& archive, Like<AgentHeartbeat> auto&) {
  archive.type("heartbeat");
}
// How a worker has ended.
void exit_fields(auto& archive, auto& m) {
  archive("exit_code", m.exit_code, kExitCode);
  archive("signal", m.signal, kSignal);
  archive("detail", m.detail);
}
void fields(auto& archive, Like<WorkerExitedReport> auto& m) {
  archive.type("worker_exited");
  archive("report", m.report, kPositive);
  archive("worker", m.worker, kId);
  exit_fields(archive, m);
}
void fields(auto& archive, Like<FromWorkerReport> auto& m) {
  archive.type("from_worker");
  archive("worker", m.worker, kId);
  archive("message", m.message);
}
void fields(auto& archive, Like<LogChunk> auto& m) {
  archive.type("log_chunk");
  archive("request", m.request, kPositive);
  archive("worker", m.worker, kId);
  archive("offset", m.offset, kNatural);
  archive("data", m.data);
  archive("next_offset", m.next_offset, kNatural);
  archive("eof", m.eof);
}
void fields(auto& archive, Like<WorkerStuckReport> auto& m) {
  archive.type("worker_stuck");
  archive("worker", m.worker, kId);
  archive("step", m.step, kNatural);
  archive("phase", m.phase);
  archive("for_ms", m.for_ms, kNatural);
}
void fields(auto& archive, Like<SlotsHeldReport> auto& m) {
  archive.type("slots_held");
  archive("worker", m.worker, kId);
  archive("for_ms", m.for_ms, kNatural);
  archive("why", m.why);
  exit_fields(archive, m);
}
void fields(auto& archive, Like<DeviceFigure> auto& figure) {
  archive("device", figure.device);
  archive.check(figure.device.size() <= kDeviceNameMax, "device", "must be at most 63 bytes");
  archive("matmul_gflops", figure.matmul_gflops, kFigure);
  archive("copy_gbps", figure.copy_gbps, kFigure);
}
void fields(auto& archive, Like<ProbedReport> auto& m) {
  archive.type("probed");
  archive("devices", m.devices);
  archive.check(m.devices.size() <= kNodeSlotsMax + 1U, "devices", "must be at most 1025");
}
void fields(auto& archive, Like<KeptJobsReport> auto& m) {
  archive.type("kept_jobs");
  archive("jobs", m.jobs, kId);
}
void fields(auto& archive, Like<ReclaimReport> auto& m) {
  archive.type("reclaim");
  archive.if_any("in_ms", m.in_ms, kNoticeMs);
}

void fields(auto& archive, Like<CertificateRequest> auto& m) {
  archive.type("certificate_request");
  archive("protocol", m.protocol, kVersion);
  archive("token", m.token);
  archive("node", m.node);
  archive("request", m.request);
  archive.check(m.request.size() <= kSigningRequestMax, "request", "is longer than a signing request is");
}
void transfer_text(auto& archive, const char* name, auto& text) {
  archive(name, text);
  archive.check(text.size() <= kTransferTextMax, name, "must be at most 128 bytes");
}
void fields(auto& archive, Like<StateWantedReport> auto& m) {
  archive.type("state_wanted");
  archive("job", m.job, kId);
  archive("step", m.step, kNatural);
  transfer_text(archive, "key", m.key);
}
void fields(auto& archive, Like<StateOfferedReport> auto& m) {
  archive.type("state_offered");
  archive("request", m.request, kPositive);
  transfer_text(archive, "ticket", m.ticket);
  transfer_text(archive, "host", m.host);
  archive("port", m.port, kPort);
  transfer_text(archive, "key", m.key);
}
void fields(auto& archive, Like<StateRefusedReport> auto& m) {
  archive.type("state_refused");
  archive("request", m.request, kPositive);
  archive("why", m.why);
}
void fields(auto& archive, Like<StateBroughtReport> auto& m) {
  archive.type("state_brought");
  archive("job", m.job, kId);
  archive("step", m.step, kNatural);
  archive("bytes", m.bytes, kNatural);
  archive("took_ms", m.took_ms, kNatural);
}
void fields(auto& archive, Like<StateLeftReport> auto& m) {
  archive.type("state_left");
  archive("job", m.job, kId);
  archive("step", m.step, kNatural);
  archive("why", m.why);
}

// --- daemon -> agent ----------------------------------------------------------------------------

void fields(auto& archive, Like<AgentWelcome> auto& m) {
  archive.type("welcome");
  archive("protocol", m.protocol, kVersion);
  archive("node", m.node, kId);
  archive("heartbeat_ms", m.heartbeat_ms, codec::Range{1, 3'600'000});
  archive("patience_ms", m.patience_ms, codec::Range{1, 86'400'000});
  archive("cluster", m.cluster);
  archive.if_any("lost", m.lost, kWorkers);
}
void fields(auto& archive, Like<AgentRefuse> auto& m) {
  archive.type("refuse");
  archive("why", m.why);
}
void fields(auto& archive, Like<StartWorker> auto& m) {
  archive.type("start");
  archive("worker", m.worker, kId);
  archive("job", m.job, kId);
  archive("slots", m.slots, kInt);
  archive("gpus", m.gpus);
  archive("program", m.program);
  archive("argv", m.argv);
  archive("env", m.env);
  archive("workdir", m.workdir);
  archive("spec", m.spec, kJobDocument);
  archive.optional("cpus", m.cpus, codec::Range{1, 1024});
  archive.if_any("memory", m.memory, codec::Range{kMebibyte, kBytesMax});
  archive.optional("restart_grace_ms", m.restart_grace_ms, kGraceMs);
  archive.if_any("state_step", m.state_step, kNatural);
  archive.if_any("started_at", m.started_at, kNatural);
  archive.if_any("submitted_at", m.submitted_at, kNatural);
}
void fields(auto& archive, Like<StopWorker> auto& m) {
  archive.type("stop");
  archive("worker", m.worker, kId);
  archive("grace_ms", m.grace_ms, kGraceMs);
}
void fields(auto& archive, Like<ReportAck> auto& m) {
  archive.type("ack");
  archive("report", m.report, kPositive);
}
void fields(auto& archive, Like<ToWorkerOrder> auto& m) {
  archive.type("to_worker");
  archive("worker", m.worker, kId);
  archive("message", m.message);
}
void fields(auto& archive, Like<LogRead> auto& m) {
  archive.type("log_read");
  archive("request", m.request, kPositive);
  archive("worker", m.worker, kId);
  archive("offset", m.offset, kAny);
  archive("limit", m.limit, codec::Range{1, 65'536});
}
void fields(auto& archive, Like<ProbeNode> auto&) {
  archive.type("probe");
}
void fields(auto& archive, Like<ForgetJob> auto& m) {
  archive.type("forget_job");
  archive("job", m.job, kId);
  archive("after_s", m.after_s, codec::Range{0, std::int64_t{366} * 86'400});
}
void fields(auto& archive, Like<CertificateIssued> auto& m) {
  archive.type("certificate_issued");
  archive("node", m.node);
  archive("certificate", m.certificate);
}
void fields(auto& archive, Like<TrustedAuthorities> auto& m) {
  archive.type("authorities");
  archive("fingerprints", m.fingerprints);
}
void fields(auto& archive, Like<OfferState> auto& m) {
  archive.type("offer_state");
  archive("request", m.request, kPositive);
  archive("job", m.job, kId);
  archive("step", m.step, kNatural);
  archive("key", m.key);
}
void fields(auto& archive, Like<FetchState> auto& m) {
  archive.type("fetch_state");
  archive("job", m.job, kId);
  archive("step", m.step, kNatural);
  archive("ticket", m.ticket);
  archive("host", m.host);
  archive("port", m.port, kPort);
  archive("key", m.key);
}
void fields(auto& archive, Like<NoState> auto& m) {
  archive.type("no_state");
  archive("job", m.job, kId);
  archive("step", m.step, kNatural);
  archive("why", m.why);
  archive("final", m.final);
}

namespace {

template <class Message>
std::string line_of(const Message& message) {
  std::string line;
  codec::append(line, message);
  line += '\n';
  return line;
}

template <class Message>
Result<Message> read_line(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  const auto parsed = parse_json(line, {.bytes_max = kLineBytesMax, .depth_max = 32, .values_max = kLineBytesMax});
  if (!parsed) return parsed.error();
  Message message;
  if (const Status status = codec::decode(*parsed, "", message); !status) {
    return invalid_argument("the worker protocol is broken: " + status.error().message);
  }
  return message;
}

}  // namespace

std::string encode(const AgentToDaemon& message) {
  return line_of(message);
}
std::string encode(const DaemonToAgent& message) {
  return line_of(message);
}
std::string encode(const WorkerToAgent& message) {
  return line_of(message);
}
std::string encode(const ToWorker& message) {
  return line_of(message);
}
Result<AgentToDaemon> decode_agent_to_daemon(std::string_view line) {
  return read_line<AgentToDaemon>(line);
}
Result<DaemonToAgent> decode_daemon_to_agent(std::string_view line) {
  return read_line<DaemonToAgent>(line);
}
Result<WorkerToAgent> decode_worker_to_agent(std::string_view line) {
  return read_line<WorkerToAgent>(line);
}
Result<ToWorker> decode_to_worker(std::string_view line) {
  return read_line<ToWorker>(line);
}

}  // namespace tidepool::api
