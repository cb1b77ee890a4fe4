// What this node keeps on disk of each worker until the daemon has confirmed its end: a line of the ledger for each
// step of its life, its folder, its log.
//
// A worker whose start could not be written must not run, because the next agent would not know its process: the reason
// is kept here until it is requested. Any other record that cannot be written is logged, and the agent continues: the
// next agent then reports to the daemon less exactly, or twice.
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
  // `work`: the folder that contains each worker's own folder. Ledger and logs must outlive this object.
  WorkerRecords(std::filesystem::path work, WorkerLedger& ledger, const WorkerLogs& logs);

  // The worker's own folder.
  [[nodiscard]] std::filesystem::path folder_of(WorkerId worker) const { return work_ / worker.text(); }

  void take(const RecordStarted& action);
  void take(const RecordExit& action);
  void take(const RecordEnding& action);
  // Removes the worker's folder, and the logs above their limit, except logs of a worker that `lives`.
  void take(const RecordAck& action, const std::function<bool(WorkerId)>& lives);
  void take(const ForgetWorker& action);
  void take(const ForgetRecords& action);
  void take(const RecordCluster& action);

  // Why the ledger could not record the worker's start, returned once: the worker must not run. None: it was recorded.
  [[nodiscard]] std::optional<std::string> take_why_unrecorded(WorkerId worker);
  // Records the worker's start if that failed before.
  [[nodiscard]] Status make_up_for(WorkerId worker, std::int64_t started_at);

 private:
  void forget_work(WorkerId worker);

  std::filesystem::path work_;
  WorkerLedger& ledger_;
  const WorkerLogs& logs_;
  std::map<WorkerId, std::string> unrecorded_;  // why the ledger could not record their start: they must not run
};

}  // namespace tidepool::agent
