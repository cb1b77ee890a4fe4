// The agent's records on disk: which worker ids were ever started here, how they ended, which exits the daemon has
// confirmed, and which process each living worker is. Every record is on disk when its call returns; a torn last line
// (the machine died while it was written) is dropped at the next start.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "workers/agent/state/agent_state.hpp"
#include "workers/agent/system/unique_fd.hpp"

namespace tidepool::agent {

// Enough to find a process again and to detect that its pid was reused for another process.
struct ProcessRecord {
  WorkerId worker;
  JobId job;
  pid_t pid = 0;
  std::uint64_t start_time = 0;     // clock ticks since boot, /proc/<pid>/stat field 22
  std::string boot_id;              // /proc/sys/kernel/random/boot_id
  std::vector<int> cpus;            // that it has exclusively; empty = none
  std::vector<std::string> gpus{};  // whose memory must be free after it has ended
  uid_t uid = 0;                    // of its job, if it is confined; 0 = not confined
};

class WorkerLedger {
 public:
  // Reads `state_dir`/ledger.jsonl, drops the records that acknowledged exits no longer need, and opens it for writing.
  [[nodiscard]] static Result<WorkerLedger> open(const std::filesystem::path& state_dir);

  [[nodiscard]] const RecordedWorkers& history() const { return history_; }

  // Identifies the state directory; a copy of the directory gets another instance.
  [[nodiscard]] const std::string& instance() const { return instance_; }
  // Pids of living processes in the records that belong to another directory: this directory is then a copy of that
  // one. The history contains nothing about them.
  [[nodiscard]] const std::vector<pid_t>& foreign() const { return foreign_; }

  // started_at 0: the order did not say when it was made.
  [[nodiscard]] Status record_started(WorkerId worker, std::int64_t started_at = 0);
  [[nodiscard]] Status record_exit(const api::WorkerExitedReport& report);
  [[nodiscard]] Status record_ack(WorkerId worker);
  // Removes the worker from the records as if it had never been here.
  [[nodiscard]] Status record_forgotten(WorkerId worker);

  [[nodiscard]] Status record_process(const ProcessRecord& record);
  [[nodiscard]] std::optional<ProcessRecord> process_of(WorkerId worker) const;
  // When the worker's process, which was asked to end, will be killed; by the steady clock of this boot.
  [[nodiscard]] Status record_ending(WorkerId worker, Instant kill_at);
  // None: the process was not asked to end, or it is not known.
  [[nodiscard]] std::optional<Instant> ending_of(const ProcessRecord& process) const;
  void forget_process(WorkerId worker);

  [[nodiscard]] Status record_cluster(const std::string& cluster);
  // Drops from the file what acknowledged exits no longer need, once that may be half of the file and the file is not
  // small. On an error the file stays valid, and the next attempt comes when it is twice as long.
  [[nodiscard]] Status compact_if_due();
  // Drops all records above. Requires: no worker in them lives.
  [[nodiscard]] Status forget_all();

 private:
  WorkerLedger(std::filesystem::path state_dir, RecordedWorkers history);
  [[nodiscard]] Status claim();
  [[nodiscard]] Status compact(const RecordedWorkers& history);
  [[nodiscard]] Status reopen();
  [[nodiscard]] Status append(const std::string& line);
  [[nodiscard]] std::filesystem::path process_path(WorkerId worker) const;
  [[nodiscard]] std::filesystem::path ending_path(WorkerId worker) const;

  std::filesystem::path state_dir_;
  RecordedWorkers history_;  // as read at open
  UniqueFd file_;
  off_t compacted_bytes_ = 0;
  std::string instance_;
  std::vector<pid_t> foreign_;
};

// The message about processes in the records that belong to another directory.
[[nodiscard]] std::string foreign_words(const std::filesystem::path& state_dir, const std::vector<pid_t>& pids);

}  // namespace tidepool::agent
