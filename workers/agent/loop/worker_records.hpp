// What this node keeps on disk of each worker until the daemon has confirmed its end: a line of the ledger for each
// step of its life, its folder, its log.
//
// A worker whose start could not be written must not run, because the next agent would not know its process: that is
// kept here until it is asked for. Every other record that cannot be written is told in the log, and life goes on: the
// next agent then only tells the daemon less exactly, or once more.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "workers/agent/state/agent_state.hpp"
#include "workers/agent/worker_ledger.hpp"
#include "workers/agent/worker_logs.hpp"

namespace tidepool::agent {

class WorkerRecords {
 public:
  // `work`: the folder in which each worker's own lies. Ledger and logs outlive this.
  WorkerRecords(std::filesystem::path work, WorkerLedger& ledger, const WorkerLogs& logs);

  // The worker's own.
  [[nodiscard]] std::filesystem::path folder_of(WorkerId worker) const { return work_ / worker.text(); }

  void take(const RecordStarted& action);
  void take(const RecordExit& action);
  void take(const RecordEnding& action);
  // Its folder goes, and of the logs what is beyond their limit, but none of a worker that `lives`.
  void take(const RecordAck& action, const std::function<bool(WorkerId)>& lives);
  void take(const ForgetWorker& action);
  void take(const ForgetRecords& action);
  void take(const RecordCluster& action);

  // Why the ledger could not take its start, told once: it must not run. None: it could.
  [[nodiscard]] std::optional<std::string> take_why_unrecorded(WorkerId worker);
  // Writes its start if the ledger could not take it before.
  [[nodiscard]] Status make_up_for(WorkerId worker, std::int64_t started_at);

 private:
  void forget_work(WorkerId worker);

  std::filesystem::path work_;
  WorkerLedger& ledger_;
  const WorkerLogs& logs_;
  std::map<WorkerId, std::string> unrecorded_;  // why the ledger could not take their start: they must not run
};

}  // namespace tidepool::agent
