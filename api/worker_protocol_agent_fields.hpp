// The fields of the messages between agent and daemon, as worker_protocol_fields.hpp has those of workers.
#pragma once

#include <cstdint>

#include "api/worker_protocol_fields.hpp"
#include "base/byte_size.hpp"

namespace tidepool::api {

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
  archive.if_any("starts", m.starts, kOfItsType);
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
  archive.if_any("nothing_started", m.nothing_started, kYesOrNo);
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
void fields(auto& archive, Like<StoppingReport> auto&) {
  archive.type("stopping");
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
  archive.if_any("lost", m.lost, kOfItsType);
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

}  // namespace tidepool::api
