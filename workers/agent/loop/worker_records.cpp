#include "workers/agent/loop/worker_records.hpp"

#include <spdlog/spdlog.h>

#include <system_error>
#include <utility>

#include "workers/agent/system/state_files.hpp"

namespace tidepool::agent {

WorkerRecords::WorkerRecords(std::filesystem::path work, WorkerLedger& ledger, const WorkerLogs& logs)
    : work_(std::move(work)), ledger_(ledger), logs_(logs) {}

void WorkerRecords::take(const RecordStarted& action) {
  const auto status = ledger_.record_started(action.worker, action.started_at);
  if (status.ok()) return;
  spdlog::error("{}: {}", action.worker.text(), status.error().message);
  unrecorded_[action.worker] = status.error().message;
}

std::optional<std::string> WorkerRecords::take_why_unrecorded(WorkerId worker) {
  const auto why = unrecorded_.extract(worker);
  return why ? std::optional(why.mapped()) : std::nullopt;
}

Status WorkerRecords::make_up_for(WorkerId worker, std::int64_t started_at) {
  if (!unrecorded_.contains(worker)) return ok_status();
  TP_TRY(ledger_.record_started(worker, started_at));
  unrecorded_.erase(worker);
  return ok_status();
}

void WorkerRecords::take(const RecordExit& action) {
  spdlog::info(to_text(action));
  // Reported all the same: without the record, the next agent would only report it less exactly.
  if (const auto status = ledger_.record_exit(action.report); !status.ok()) spdlog::error(status.error().message);
}

void WorkerRecords::take(const RecordEnding& action) {
  // Without the record, the next agent would ask the process to end again, with a new grace time.
  if (const auto status = ledger_.record_ending(action.worker, action.kill_at); !status.ok()) {
    spdlog::error(status.error().message);
  }
}

void WorkerRecords::take(const RecordAck& action, const std::function<bool(WorkerId)>& lives) {
  // Without the record, the next agent would report again, and the daemon acknowledge again.
  if (const auto status = ledger_.record_ack(action.worker); !status.ok()) spdlog::error(status.error().message);
  if (const auto status = ledger_.compact_if_due(); !status.ok()) {
    spdlog::error("the ledger is not made smaller: {}", status.error().message);
  }
  ledger_.forget_process(action.worker);
  forget_work(action.worker);
  logs_.prune(lives);
}

void WorkerRecords::forget_work(WorkerId worker) {
  unrecorded_.erase(worker);
  std::error_code error;
  std::filesystem::remove_all(folder_of(worker), error);
}

void WorkerRecords::take(const ForgetWorker& action) {
  spdlog::warn("event=worker_of_lost_timeline worker={} why=\"the daemon's journal went back and does not know it\"",
               action.worker.text());
  if (const auto status = ledger_.record_forgotten(action.worker); !status.ok()) spdlog::error(status.error().message);
  forget_work(action.worker);
  logs_.remove(action.worker);
}

void WorkerRecords::take(const ForgetRecords& action) {
  spdlog::warn(
      "the daemon is of another cluster than the records of this node: all that cluster {} had here is forgotten",
      action.cluster);
  if (const auto status = ledger_.forget_all(); !status.ok()) spdlog::error(status.error().message);
  logs_.clear();
  unrecorded_.clear();
  if (const auto status = empty_folder(work_); !status.ok()) spdlog::error(status.error().message);
}

void WorkerRecords::take(const RecordCluster& action) {
  if (const auto status = ledger_.record_cluster(action.cluster); !status.ok()) spdlog::error(status.error().message);
}

}  // namespace tidepool::agent
