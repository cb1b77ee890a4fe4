// The fields of the messages on a worker's link, and of those that go on from there to the daemon or come from it.
// fields() names each field of a message once, for both directions; reading is strict, so that a typo or a newer peer
// is told in words instead of being half understood. Private to the protocol's codec and its tests.
#pragma once

#include <array>

#include "api/worker_protocol.hpp"
#include "api/worker_protocol_forms.hpp"
#include "base/codec/archive.hpp"

namespace tidepool::api {

using codec::Like;
using namespace forms;  // NOLINT(google-build-using-namespace): they are of these fields

inline auto names_of(PulsePhase) {
  using Name = codec::EnumName<PulsePhase>;
  return std::array{Name{PulsePhase::kWaiting, "waiting"}, Name{PulsePhase::kComputing, "computing"},
                    Name{PulsePhase::kReducing, "reducing"}, Name{PulsePhase::kSwitching, "switching"}};
}

inline auto names_of(NoticeAnswer) {
  using Name = codec::EnumName<NoticeAnswer>;
  return std::array{Name{NoticeAnswer::kSaving, "saving"}, Name{NoticeAnswer::kDone, "done"},
                    Name{NoticeAnswer::kUntil, "until"}, Name{NoticeAnswer::kRefuse, "refuse"}};
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
  archive.if_any("unused", m.unused, kOfItsType);
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

}  // namespace tidepool::api
