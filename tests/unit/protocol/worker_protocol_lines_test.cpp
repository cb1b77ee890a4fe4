// The wire, to the letter: agents and workers of other builds read these lines.
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "api/comm_address.hpp"
#include "api/v1/elastic_fields.hpp"
#include "api/worker_protocol.hpp"

namespace tidepool::api {
namespace {

std::vector<FromWorker> from_worker() {
  StepsMessage steps{.generation = 4,
                     .last_step = 120,
                     .steps = 20,
                     .elapsed_us = 1'500'000,
                     .samples = 1'280,
                     .loss = 2.25,
                     .epoch = 1,
                     .compute_us = {900, 1'100},
                     .global_batch = 64,
                     .noise_scale = 930.5,
                     .samples_total = 7'680,
                     .shares = 2};
  StepsMessage diverged = steps;
  diverged.loss = HUGE_VAL;
  diverged.noise_scale.reset();
  return {ReadyMessage{.generation = 4},
          ReadyMessage{.work_steps = 400},
          ReadyMessage{.work_samples = 25'600},
          AddressMessage{.generation = 4, .rank = 1, .blob = std::string("\0\xff raw", 6)},
          SwitchedMessage{.generation = 4,
                          .switch_step = 100,
                          .stall_ms = 12.5,
                          .build_ms = 0.1,
                          .steps_redone = 1,
                          .samples_repeated = 64,
                          .bytes_moved = 1 << 20},
          SwitchedMessage{.generation = 1, .unused = UnusedState{.step = 90, .why = UnusedWhy::kOtherLayout}},
          steps,
          diverged,
          EpochAuditedMessage{.epoch = 1, .expected = 1'000, .used = 999, .checksum_ok = true},
          FinishedMessage{.last_step = 400, .loss = 1e-7, .samples_total = 25'600},
          ParkedMessage{.generation = 4, .step = 130, .bytes = 4'096, .write_ms = 3},
          CheckpointedMessage{.generation = 4, .step = 128, .bytes = 4'096, .write_ms = 4.5, .path = "/kept/\"a\"\n"},
          CheckpointFailedMessage{.generation = 4, .step = 192, .error = "/kept: open \"x\": No space left on device"},
          RestoredMessage{.generation = 5, .step = 128, .bytes = 4'096, .path = "/kept"},
          StartedMessage{.generation = 5},
          EndedMessage{.generation = 5, .exit_code = 1, .signal = 0, .detail = "no such file"},
          RebalancedMessage{.generation = 5, .number = 2, .step = 140, .stall_ms = 0.75},
          AnswerMessage{.decision = DecisionId(31), .number = 2, .answer = NoticeAnswer::kUntil, .needs_ms = 40'000}};
}

std::vector<ToWorker> to_worker() {
  return {GenerationMessage{.number = 5, .members = {WorkerId(1), WorkerId(3)}, .after_failure = true},
          GenerationMessage{.number = 6, .park = true},
          AddressesMessage{.generation = 5, .blobs = {"foob", ""}},
          CheckpointOrder{},
          SharesMessage{.generation = 5, .number = 2, .weights = {1'000'000, 600}},
          NoticeMessage{.decision = DecisionId(31),
                        .reason = "Preempted",
                        .sentence = "preempted for job-4",
                        .in_ms = 30'000,
                        .extended_ms = 10'000,
                        .answers = 2,
                        .granted = true}};
}

std::vector<AgentToDaemon> agent_to_daemon() {
  return {AgentHello{.protocol = 1,
                     .token = "secret",
                     .node = "n1",
                     .slots = 8,
                     .slot_type = "h100",
                     .price_per_slot_hour = "2.50",
                     .running = {WorkerId(7)}},
          AgentHeartbeat{},
          WorkerExitedReport{.report = 9, .worker = WorkerId(7), .exit_code = -1, .signal = 9, .detail = "killed"},
          FromWorkerReport{.worker = WorkerId(7), .message = StartedMessage{.generation = 5}},
          LogChunk{.request = 3, .worker = WorkerId(7), .offset = 10, .data = "line\n", .next_offset = 15, .eof = true},
          WorkerStuckReport{.worker = WorkerId(7), .step = 31, .phase = PulsePhase::kComputing, .for_ms = 70'000},
          ProbedReport{.devices = {{"cpu", 41.5, 12.25}, {"GPU-1", 100, 0.1}}},
          KeptJobsReport{.jobs = {JobId(1), JobId(12)}},
          ReclaimReport{.in_ms = 90'000},
          ReclaimReport{},
          StoppingReport{},
          AgentHello{.node = "n2", .moves_states = true},
          AgentHello{.node = "n2", .gives_notice = true},
          AgentHello{.node = "n2", .memory_per_slot = 15'461'882'265},
          AgentHello{.node = "n2", .follows_authorities = true},
          StateWantedReport{.job = JobId(3), .step = 130, .key = "sha256:aa"},
          StateOfferedReport{.request = 4, .ticket = "t", .host = "10.0.0.7", .port = 4'321, .key = "sha256:bb"},
          StateRefusedReport{.request = 4, .why = "no such state"},
          StateBroughtReport{.job = JobId(3), .step = 130, .bytes = 4'096, .took_ms = 12},
          StateLeftReport{.job = JobId(3), .step = 130, .why = "no byte came"},
          SlotsHeldReport{.worker = WorkerId(7),
                          .for_ms = 5'100,
                          .why = "memory of GPU-1 is still held",
                          .exit_code = -1,
                          .signal = 9,
                          .detail = "killed"},
          WorkerExitedReport{.report = 10, .worker = WorkerId(8), .detail = "unseen", .nothing_started = false}};
}

std::vector<DaemonToAgent> daemon_to_agent() {
  StartWorker start{.worker = WorkerId(7),
                    .job = JobId(2),
                    .slots = {0, 3},
                    .gpus = true,
                    .program = "python3",
                    .argv = {"train.py", "--fast"},
                    .env = {{"A", "b=c"}, {"B", ""}},
                    .workdir = "/data",
                    .spec = R"({"run":{"args":{"none":null,"rate":0.1}}})"};
  StartWorker restartable = start;
  restartable.cpus = 3;
  restartable.restart_grace_ms = 30'000;
  StartWorker bounded{.worker = WorkerId(9), .job = JobId(2), .memory = std::int64_t{64} << 30U};
  StartWorker waits{.worker = WorkerId(8), .job = JobId(2), .state_step = 130};
  return {AgentWelcome{.protocol = 1, .node = NodeId(2), .heartbeat_ms = 1'000, .patience_ms = 5'000, .cluster = "c-1"},
          AgentRefuse{.why = "the token is wrong"},
          start,
          restartable,
          StopWorker{.worker = WorkerId(7), .grace_ms = 250},
          ReportAck{.report = 9},
          ToWorkerOrder{.worker = WorkerId(7), .message = CheckpointOrder{}},
          LogRead{.request = 3, .worker = WorkerId(7), .offset = -100, .limit = 65'536},
          ProbeNode{},
          ForgetJob{.job = JobId(2), .after_s = 86'400},
          waits,
          bounded,
          OfferState{.request = 4, .job = JobId(3), .step = 130, .key = "sha256:aa"},
          FetchState{.job = JobId(3), .step = 130, .ticket = "t", .host = "::1", .port = 4'321, .key = "sha256:bb"},
          NoState{.job = JobId(3), .step = 130, .why = "its node is away", .final = true},
          TrustedAuthorities{.fingerprints = {"sha256:cc", "sha256:dd"}}};
}

std::vector<WorkerToAgent> worker_to_agent() {
  return {WorkerHello{.protocol = 1, .worker = WorkerId(7), .pid = 4'711},
          WorkerHello{.protocol = 1, .worker = WorkerId(7), .pid = 4'711, .hears_notices = true},
          PulseMessage{.step = 31, .phase = PulsePhase::kWaiting, .stuck_after_ms = 60'000},
          PulseMessage{.step = 32, .phase = PulsePhase::kReducing, .stuck_after_ms = 0},
          PulseMessage{.step = 33, .phase = PulsePhase::kSwitching, .stuck_after_ms = 1}};
}

template <class Message, class Decode>
void append(std::vector<std::string>& lines, const std::vector<Message>& messages, const Decode& decode) {
  for (const Message& message : messages) {
    lines.push_back(encode(message));
    const auto read = decode(lines.back());
    INFO(lines.back() << (read.ok() ? "" : read.error().message));
    REQUIRE(read.ok());
    CHECK(read->index() == message.index());
    CHECK(encode(*read) == lines.back());
  }
}

std::vector<std::string> lines_of_all() {
  std::vector<std::string> lines;
  std::vector<WorkerToAgent> of_workers = worker_to_agent();
  for (const FromWorker& message : from_worker()) of_workers.emplace_back(message);
  append(lines, of_workers, decode_worker_to_agent);
  append(lines, to_worker(), decode_to_worker);
  append(lines, agent_to_daemon(), decode_agent_to_daemon);
  append(lines, daemon_to_agent(), decode_daemon_to_agent);
  return lines;
}

}  // namespace

TEST_CASE("one message of each kind is the line that it has been since version 1 of the protocol, and is read back") {
  const char* source = std::getenv("TIDEPOOL_SOURCE_DIR");
  REQUIRE(source != nullptr);
  std::ifstream file(std::string(source) + "/tests/data/worker_protocol_v1.jsonl");
  const std::vector<std::string> lines = lines_of_all();
  std::size_t count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    REQUIRE(count < lines.size());
    CHECK(lines[count] == line + "\n");
  }
  CHECK(count == lines.size());
}

TEST_CASE("what the most workers that a job may have say and are told fits into a line, and is read back") {
  const auto most = static_cast<std::size_t>(v1::kWorkersMax);
  std::vector<WorkerId> members;
  for (std::size_t i = 0; i < most; ++i) members.emplace_back((std::uint64_t{1} << 52U) - most + i);
  const std::vector<ToWorker> told = {
      GenerationMessage{.number = 4'000'000'000U, .members = members},
      SharesMessage{.generation = 4'000'000'000U, .number = 1, .weights = std::vector(most, kShareWeightMax)}};
  for (const ToWorker& message : told) {
    const std::vector<DaemonToAgent> orders = {ToWorkerOrder{.worker = members.back(), .message = message}};
    std::vector<std::string> lines;
    append(lines, orders, decode_daemon_to_agent);
    CHECK(lines.front().size() < kLineBytesMax);
  }
  CommAddress address{.nccl = CommAddress::Nccl{.version = 22'809, .id = std::string(kNcclIdBytes, 'n')},
                      .gloo = CommAddress::Gloo{.host = "fd00:1111:2222:3333:4444:5555:6666:7777", .entries = {}}};
  address.gloo->entries.assign(most, {.port = 65'535, .key = std::string(kEntryKeyBytes, '\xff')});
  const std::vector<WorkerToAgent> said = {
      AddressMessage{.generation = 4'000'000'000U, .rank = v1::kWorkersMax - 1, .blob = address.encode()}};
  std::vector<std::string> lines;
  append(lines, said, decode_worker_to_agent);
  CHECK(lines.front().size() < kWorkerLineBytesMax);
}

}  // namespace tidepool::api
