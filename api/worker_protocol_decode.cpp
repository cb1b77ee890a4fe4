// The reading half of the codec. Strict: every field of the protocol is asked for and no other is
// accepted, so a typo or a newer peer is told in words instead of being half understood.
#include <algorithm>
#include <array>
#include <cfloat>
#include <climits>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "api/base64.hpp"
#include "api/worker_protocol.hpp"
#include "base/json.hpp"

namespace tidepool::api {
namespace {

using nlohmann::json;

constexpr ObjectReader::Range kNatural{.low = 0, .high = INT64_MAX};
constexpr ObjectReader::Range kPositive{.low = 1, .high = INT64_MAX};
constexpr ObjectReader::Range kGenerations{.low = 0, .high = UINT32_MAX};
constexpr ObjectReader::Range kInts{.low = 0, .high = INT_MAX};
constexpr double kMillisMax = 1e12;
constexpr double kFigureMax = 1e9;

// One object under reading, with the place where nested readers put their findings.
struct Fields {
  ObjectReader in;
  std::vector<FieldError>& errors;

  std::int64_t natural(std::string_view name) { return in.required_integer(name, kNatural); }
  std::uint64_t positive(std::string_view name) {
    return static_cast<std::uint64_t>(in.required_integer(name, kPositive));
  }
  GenerationNumber generation(std::string_view name) {
    return static_cast<GenerationNumber>(in.required_integer(name, kGenerations));
  }
  int whole(std::string_view name, ObjectReader::Range range = kInts) {
    return static_cast<int>(in.required_integer(name, range));
  }
  bool truth(std::string_view name) {
    if (!in.has(name)) in.fail(name, "Missing", "is needed");
    return in.boolean(name, false);
  }
  double millis(std::string_view name) {
    if (!in.has(name)) in.fail(name, "Missing", "is needed");
    return in.number(name, 0, 0, kMillisMax);
  }
  double loss() { return in.number("loss", std::numeric_limits<double>::quiet_NaN(), -DBL_MAX, DBL_MAX); }

  std::optional<double> noise_scale() {
    const bool known = in.has("noise_scale");
    const double scale = in.number("noise_scale", 0, 0, DBL_MAX);
    return known ? std::optional(scale) : std::nullopt;
  }
  // Of a training; null or left out where it is not known.
  std::optional<std::int64_t> length(std::string_view name) {
    const bool known = in.has(name);
    const std::int64_t length = in.integer(name, 1, {.low = 1, .high = kWorkMax});
    return known ? std::optional(length) : std::nullopt;
  }
  PulsePhase phase() {
    const std::string word = in.required_text("phase");
    constexpr std::array kPhases{PulsePhase::kWaiting, PulsePhase::kComputing, PulsePhase::kReducing,
                                 PulsePhase::kSwitching};
    for (const PulsePhase phase : kPhases) {
      if (word == to_text(phase)) return phase;
    }
    if (in.has("phase")) in.fail("phase", "Invalid", "must be waiting, computing, reducing or switching");
    return PulsePhase::kWaiting;
  }

  template <class Id>
  Id id(std::string_view name) {
    const bool wrong_type = in.has(name) && !in.raw(name).is_string();
    const std::string text = in.required_text(name);
    const auto parsed = Id::parse(text);
    if (!parsed && !wrong_type && in.has(name)) {
      in.fail(name, "Invalid", "must be an id such as \"" + Id(3).text() + "\"");
    }
    return parsed.value_or(Id{});
  }

  // Reads a list; `read_item` gives nothing for an item that is not `expected`.
  template <class Item, class ReadItem>
  std::vector<Item> list(std::string_view name, const char* expected, ReadItem read_item) {
    std::vector<Item> items;
    const json& values = in.raw(name);
    if (!values.is_array()) {
      in.fail(name, values.is_null() ? "Missing" : "WrongType", std::string("must be a list of ") + expected);
      return items;
    }
    items.reserve(values.size());
    for (const json& value : values) {
      std::optional<Item> item = read_item(value);
      if (!item) {
        in.fail(name, "Invalid", std::string("must hold only ") + expected);
        return items;
      }
      items.push_back(std::move(*item));
    }
    return items;
  }
  std::vector<WorkerId> workers(std::string_view name) {
    return list<WorkerId>(name, "worker ids such as \"w-3\"", [](const json& value) {
      return value.is_string() ? WorkerId::parse(value.get_ref<const std::string&>()) : std::nullopt;
    });
  }
  std::vector<DeviceFigure> figures(std::string_view name) {
    return list<DeviceFigure>(name, "{device, matmul_gflops, copy_gbps} with figures above 0", [](const json& value) {
      const auto number = [&](const char* key) {
        const auto found = value.find(key);
        const bool sound = found != value.end() && found->is_number();
        return sound ? found->get<double>() : 0.0;
      };
      const bool shaped =
          value.is_object() && value.size() == 3 && value.contains("device") && value["device"].is_string();
      const double gflops = shaped ? number("matmul_gflops") : 0;
      const double copy = shaped ? number("copy_gbps") : 0;
      const bool sound = gflops > 0 && gflops <= kFigureMax && copy > 0 && copy <= kFigureMax;
      return sound ? std::optional(DeviceFigure{value["device"].get<std::string>(), gflops, copy}) : std::nullopt;
    });
  }
  std::vector<std::string> texts(std::string_view name) {
    return list<std::string>(name, "texts", [](const json& value) {
      return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
    });
  }
  std::vector<std::string> blobs(std::string_view name) {
    return list<std::string>(name, "base64 texts", [](const json& value) {
      return value.is_string() ? decode_base64(value.get_ref<const std::string&>()) : std::nullopt;
    });
  }
  template <class Int>
  std::vector<Int> naturals(std::string_view name) {
    return list<Int>(name, "whole numbers from 0", [](const json& value) -> std::optional<Int> {
      const bool small = value.is_number_unsigned() &&
                         value.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<Int>::max());
      return small ? std::optional(value.get<Int>()) : std::nullopt;
    });
  }
  std::map<std::string, std::string> text_map(std::string_view name) {
    std::map<std::string, std::string> entries;
    const json& values = in.raw(name);
    if (!values.is_object()) in.fail(name, values.is_null() ? "Missing" : "WrongType", "must be an object of texts");
    if (!values.is_object()) return entries;
    for (const auto& [key, value] : values.items()) {
      if (!value.is_string()) in.fail(name, "WrongType", "must hold only texts; \"" + key + "\" is none");
      if (value.is_string()) entries.emplace(key, value.get<std::string>());
    }
    return entries;
  }
};

template <class Message>
struct Kind {
  const char* type;
  Message (*read)(Fields&);
};

// Reads any one of `kinds`; findings go to `errors`, and then the value means nothing.
template <class Message>
Message read_one_of(std::span<const Kind<Message>> kinds, const json& value, const std::string& pointer,
                    std::vector<FieldError>& errors) {
  Fields fields{ObjectReader(value, pointer, errors), errors};
  if (value.is_null()) fields.in.fail("type", "Missing", "is needed");
  if (!value.is_object()) return {};
  const std::string type = fields.in.required_text("type");
  if (!errors.empty()) return {};
  std::vector<std::string> known;
  for (const auto& kind : kinds) {
    if (type == kind.type) {
      Message message = kind.read(fields);
      fields.in.finish();
      return message;
    }
    known.emplace_back(kind.type);
  }
  const auto meant = nearest_word(type, known);
  fields.in.fail("type", "Invalid",
                 "\"" + type.substr(0, 40) + "\" is no message of this link" +
                     (meant ? "; did you mean \"" + *meant + "\"?" : ""));
  return {};
}

FromWorker read_ready(Fields& f) {
  (void)f.whole("protocol", {.low = kWorkerProtocol, .high = kWorkerProtocol});
  ReadyMessage m{.generation = static_cast<GenerationNumber>(f.in.integer("generation", 0, kGenerations)),
                 .work_steps = f.length("work_steps"),
                 .work_samples = f.length("work_samples")};
  if (m.work_steps && m.work_samples) f.in.fail("work_samples", "Invalid", "and work_steps exclude each other");
  return m;
}
FromWorker read_address(Fields& f) {
  AddressMessage m{.generation = f.generation("generation"), .rank = f.whole("rank"), .blob = {}};
  auto blob = decode_base64(f.in.required_text("blob"));
  if (!blob) f.in.fail("blob", "Invalid", "must be base64 with padding");
  m.blob = std::move(blob).value_or(std::string());
  return m;
}
FromWorker read_switched(Fields& f) {
  return SwitchedMessage{.generation = f.generation("generation"),
                         .switch_step = f.natural("switch_step"),
                         .stall_ms = f.millis("stall_ms"),
                         .build_ms = f.millis("build_ms"),
                         .steps_redone = f.natural("steps_redone"),
                         .samples_repeated = f.natural("samples_repeated"),
                         .bytes_moved = f.natural("bytes_moved")};
}
FromWorker read_steps(Fields& f) {
  return StepsMessage{.generation = f.generation("generation"),
                      .last_step = f.natural("last_step"),
                      .steps = f.natural("steps"),
                      .elapsed_us = f.natural("elapsed_us"),
                      .samples = f.natural("samples"),
                      .loss = f.loss(),
                      .epoch = f.natural("epoch"),
                      .compute_us = f.naturals<std::int64_t>("compute_us"),
                      .global_batch = f.natural("global_batch"),
                      .noise_scale = f.noise_scale(),
                      .samples_total = f.natural("samples_total"),
                      .shares = f.natural("shares")};
}
FromWorker read_epoch_audited(Fields& f) {
  return EpochAuditedMessage{.epoch = f.natural("epoch"),
                             .expected = f.natural("expected"),
                             .used = f.natural("used"),
                             .checksum_ok = f.truth("checksum_ok")};
}
FromWorker read_finished(Fields& f) {
  return FinishedMessage{
      .last_step = f.natural("last_step"), .loss = f.loss(), .samples_total = f.natural("samples_total")};
}
FromWorker read_parked(Fields& f) {
  return ParkedMessage{.generation = f.generation("generation"),
                       .step = f.natural("step"),
                       .bytes = f.natural("bytes"),
                       .write_ms = f.millis("write_ms")};
}
FromWorker read_checkpointed(Fields& f) {
  return CheckpointedMessage{.generation = f.generation("generation"),
                             .step = f.natural("step"),
                             .bytes = f.natural("bytes"),
                             .write_ms = f.millis("write_ms"),
                             .path = f.in.required_text("path")};
}
FromWorker read_restored(Fields& f) {
  return RestoredMessage{.generation = f.generation("generation"),
                         .step = f.natural("step"),
                         .bytes = f.natural("bytes"),
                         .path = f.in.required_text("path")};
}
FromWorker read_started(Fields& f) {
  return StartedMessage{.generation = f.generation("generation")};
}
FromWorker read_ended(Fields& f) {
  return EndedMessage{.generation = f.generation("generation"),
                      .exit_code = f.whole("exit_code", {.low = -1, .high = 255}),
                      .signal = f.whole("signal", {.low = 0, .high = 127}),
                      .detail = f.in.required_text("detail")};
}
FromWorker read_rebalanced(Fields& f) {
  return RebalancedMessage{.generation = f.generation("generation"),
                           .number = f.natural("number"),
                           .step = f.natural("step"),
                           .stall_ms = f.millis("stall_ms")};
}
constexpr std::array<Kind<FromWorker>, 12> kFromWorker{{{"ready", read_ready},
                                                        {"address", read_address},
                                                        {"switched", read_switched},
                                                        {"steps", read_steps},
                                                        {"epoch_audited", read_epoch_audited},
                                                        {"finished", read_finished},
                                                        {"parked", read_parked},
                                                        {"checkpointed", read_checkpointed},
                                                        {"restored", read_restored},
                                                        {"started", read_started},
                                                        {"ended", read_ended},
                                                        {"rebalanced", read_rebalanced}}};

ToWorker read_generation(Fields& f) {
  GenerationMessage m{.number = f.generation("number"),
                      .members = f.workers("members"),
                      .after_failure = f.truth("after_failure"),
                      .park = f.truth("park")};
  if (m.park && !m.members.empty()) f.in.fail("members", "Invalid", "must be empty when park is true");
  return m;
}
ToWorker read_addresses(Fields& f) {
  return AddressesMessage{.generation = f.generation("generation"), .blobs = f.blobs("blobs")};
}
ToWorker read_checkpoint(Fields&) {
  return CheckpointOrder{};
}
ToWorker read_shares(Fields& f) {
  SharesMessage m{.generation = f.generation("generation"),
                  .number = f.natural("number"),
                  .weights = f.naturals<std::int64_t>("weights")};
  if (m.number == 0) f.in.fail("number", "OutOfRange", "must be above 0: tables are counted from 1");
  const auto legal = [](std::int64_t weight) { return weight >= 1 && weight <= kShareWeightMax; };
  if (m.weights.empty() || !std::all_of(m.weights.begin(), m.weights.end(), legal)) {
    f.in.fail("weights", "OutOfRange", "must be a weight from 1 to 1000000 for each rank");
  }
  return m;
}
constexpr std::array<Kind<ToWorker>, 4> kToWorker{{{"generation", read_generation},
                                                   {"addresses", read_addresses},
                                                   {"checkpoint", read_checkpoint},
                                                   {"shares", read_shares}}};

// A version that is not ours is read, so that the receiver can refuse it in words.
int read_version(Fields& f) {
  return f.whole("protocol", {.low = 1, .high = 1'000'000});
}

AgentToDaemon read_hello(Fields& f) {
  return AgentHello{.protocol = read_version(f),
                    .token = f.in.required_text("token"),
                    .node = f.in.required_text("node"),
                    .slots = f.whole("slots"),
                    .slot_type = f.in.required_text("slot_type"),
                    .price_per_slot_hour = f.in.required_text("price_per_slot_hour"),
                    .running = f.workers("running")};
}
AgentToDaemon read_heartbeat(Fields&) {
  return AgentHeartbeat{};
}
AgentToDaemon read_worker_exited(Fields& f) {
  return WorkerExitedReport{.report = f.positive("report"),
                            .worker = f.id<WorkerId>("worker"),
                            .exit_code = f.whole("exit_code", {.low = -1, .high = 255}),
                            .signal = f.whole("signal", {.low = 0, .high = 127}),
                            .detail = f.in.required_text("detail")};
}
AgentToDaemon read_from_worker(Fields& f) {
  const auto worker = f.id<WorkerId>("worker");
  return FromWorkerReport{
      .worker = worker,
      .message = read_one_of<FromWorker>(kFromWorker, f.in.raw("message"), f.in.pointer_of("message"), f.errors)};
}
AgentToDaemon read_log_chunk(Fields& f) {
  return LogChunk{.request = f.positive("request"),
                  .worker = f.id<WorkerId>("worker"),
                  .offset = f.natural("offset"),
                  .data = f.in.required_text("data"),
                  .next_offset = f.natural("next_offset"),
                  .eof = f.truth("eof")};
}
AgentToDaemon read_worker_stuck(Fields& f) {
  return WorkerStuckReport{
      .worker = f.id<WorkerId>("worker"), .step = f.natural("step"), .phase = f.phase(), .for_ms = f.natural("for_ms")};
}
AgentToDaemon read_probed(Fields& f) {
  return ProbedReport{.devices = f.figures("devices")};
}
AgentToDaemon read_kept_jobs(Fields& f) {
  return KeptJobsReport{.jobs = f.list<JobId>("jobs", "job ids such as \"job-3\"", [](const json& value) {
    return value.is_string() ? JobId::parse(value.get_ref<const std::string&>()) : std::nullopt;
  })};
}
constexpr std::array<Kind<AgentToDaemon>, 8> kAgentToDaemon{{{"hello", read_hello},
                                                             {"heartbeat", read_heartbeat},
                                                             {"worker_exited", read_worker_exited},
                                                             {"from_worker", read_from_worker},
                                                             {"log_chunk", read_log_chunk},
                                                             {"worker_stuck", read_worker_stuck},
                                                             {"probed", read_probed},
                                                             {"kept_jobs", read_kept_jobs}}};

DaemonToAgent read_welcome(Fields& f) {
  return AgentWelcome{.protocol = read_version(f),
                      .node = f.id<NodeId>("node"),
                      .heartbeat_ms = f.in.required_integer("heartbeat_ms", {.low = 1, .high = 3'600'000}),
                      .patience_ms = f.in.required_integer("patience_ms", {.low = 1, .high = 86'400'000}),
                      .cluster = f.in.required_text("cluster")};
}
DaemonToAgent read_refuse(Fields& f) {
  return AgentRefuse{.why = f.in.required_text("why")};
}
DaemonToAgent read_start(Fields& f) {
  StartWorker m{.worker = f.id<WorkerId>("worker"),
                .job = f.id<JobId>("job"),
                .slots = f.naturals<int>("slots"),
                .gpus = f.truth("gpus"),
                .program = f.in.required_text("program"),
                .argv = f.texts("argv"),
                .env = f.text_map("env"),
                .workdir = f.in.required_text("workdir"),
                .spec = f.in.raw("spec")};
  if (!m.spec.is_object()) f.in.fail("spec", "WrongType", "must be the job's document, an object");
  if (!f.in.raw("cpus").is_null()) m.cpus = static_cast<int>(f.in.required_integer("cpus", {.low = 1, .high = 1024}));
  if (!f.in.raw("restart_grace_ms").is_null()) {
    m.restart_grace_ms = f.in.required_integer("restart_grace_ms", {.low = 0, .high = 7 * 86'400'000});
  }
  return m;
}
DaemonToAgent read_stop(Fields& f) {
  return StopWorker{.worker = f.id<WorkerId>("worker"),
                    .grace_ms = f.in.required_integer("grace_ms", {.low = 0, .high = 7 * 86'400'000})};
}
DaemonToAgent read_ack(Fields& f) {
  return ReportAck{.report = f.positive("report")};
}
DaemonToAgent read_to_worker(Fields& f) {
  const auto worker = f.id<WorkerId>("worker");
  return ToWorkerOrder{
      .worker = worker,
      .message = read_one_of<ToWorker>(kToWorker, f.in.raw("message"), f.in.pointer_of("message"), f.errors)};
}
DaemonToAgent read_log_read(Fields& f) {
  return LogRead{.request = f.positive("request"),
                 .worker = f.id<WorkerId>("worker"),
                 .offset = f.in.required_integer("offset", {.low = INT64_MIN, .high = INT64_MAX}),
                 .limit = f.in.required_integer("limit", {.low = 1, .high = 65'536})};
}
DaemonToAgent read_probe(Fields&) {
  return ProbeNode{};
}
DaemonToAgent read_forget_job(Fields& f) {
  return ForgetJob{.job = f.id<JobId>("job"),
                   .after_s = f.in.required_integer("after_s", {.low = 0, .high = 366 * 86'400})};
}
constexpr std::array<Kind<DaemonToAgent>, 9> kDaemonToAgent{{{"welcome", read_welcome},
                                                             {"refuse", read_refuse},
                                                             {"start", read_start},
                                                             {"stop", read_stop},
                                                             {"ack", read_ack},
                                                             {"to_worker", read_to_worker},
                                                             {"log_read", read_log_read},
                                                             {"probe", read_probe},
                                                             {"forget_job", read_forget_job}}};

WorkerToAgent read_worker_hello(Fields& f) {
  return WorkerHello{.protocol = read_version(f), .worker = f.id<WorkerId>("worker"), .pid = f.natural("pid")};
}

WorkerToAgent read_pulse(Fields& f) {
  return PulseMessage{.step = f.natural("step"), .phase = f.phase(), .stuck_after_ms = f.natural("stuck_after_ms")};
}

template <class Message>
Result<Message> judged(Message message, const std::vector<FieldError>& errors) {
  if (errors.empty()) return message;
  std::string words;
  for (const FieldError& error : errors) {
    words += (words.empty() ? "" : "; ") + error.pointer + ": " + error.message;
  }
  return invalid_argument("the worker protocol is broken: " + words);
}

Result<json> parse_line(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  return parse_json(line, {.bytes_max = kLineBytesMax, .depth_max = 32, .values_max = kLineBytesMax});
}

template <class Message>
Result<Message> decode(std::span<const Kind<Message>> kinds, std::string_view line) {
  const auto parsed = parse_line(line);
  if (!parsed) return parsed.error();
  std::vector<FieldError> errors;
  Message message = read_one_of<Message>(kinds, *parsed, "", errors);
  return judged<Message>(std::move(message), errors);
}

}  // namespace

Result<AgentToDaemon> decode_agent_to_daemon(std::string_view line) {
  return decode<AgentToDaemon>(kAgentToDaemon, line);
}

Result<DaemonToAgent> decode_daemon_to_agent(std::string_view line) {
  return decode<DaemonToAgent>(kDaemonToAgent, line);
}

Result<ToWorker> decode_to_worker(std::string_view line) {
  return decode<ToWorker>(kToWorker, line);
}

Result<WorkerToAgent> decode_worker_to_agent(std::string_view line) {
  const auto parsed = parse_line(line);
  if (!parsed) return parsed.error();
  std::vector<FieldError> errors;
  const json type = parsed->is_object() ? parsed->value("type", json()) : json();
  if (type == "hello" || type == "pulse") {
    constexpr std::array<Kind<WorkerToAgent>, 2> kOwn{{{"hello", read_worker_hello}, {"pulse", read_pulse}}};
    WorkerToAgent message = read_one_of<WorkerToAgent>(kOwn, *parsed, "", errors);
    return judged(std::move(message), errors);
  }
  FromWorker message = read_one_of<FromWorker>(kFromWorker, *parsed, "", errors);
  return judged(WorkerToAgent(std::move(message)), errors);
}

}  // namespace tidepool::api
