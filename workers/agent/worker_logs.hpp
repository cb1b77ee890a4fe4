// The captured output of workers: one file each, written by the workers themselves, so that it continues while no agent
// runs. Offsets count from the first byte ever written and never change: output above the limit is cut away at the
// front as a hole that ends before a line, and readers are moved past it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "api/worker_protocol.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"
#include "workers/agent/system/unique_fd.hpp"

namespace tidepool::agent {

struct LogLimits {
  std::int64_t bytes_max = 32 << 20;  // kept of one worker; up to twice that on disk between two cuts
  std::size_t files_max = 200;        // of ended workers
};

class WorkerLogs {
 public:
  [[nodiscard]] static Result<WorkerLogs> open(const std::filesystem::path& folder, LogLimits limits = {});

  // For the worker's stdout and stderr.
  [[nodiscard]] Result<UniqueFd> writer(WorkerId worker) const;

  // Appends a line of the agent to the worker's log, if it has one.
  void note(WorkerId worker, const std::string& sentence) const;

  // `lives`: more output may come, so the page is not the end, and a character cut in half waits for its rest.
  [[nodiscard]] api::LogChunk read(const api::LogRead& order, bool lives) const;

  // The last line that is not empty (of a progress bar its last state), shortened to 300 bytes, without control
  // characters.
  [[nodiscard]] std::string last_line(WorkerId worker) const;
  // The last line as it is reported with a worker's end; empty if there is none.
  [[nodiscard]] std::string last_output(WorkerId worker) const;

  // Frees the front of a log that exceeds the limit. An error if the file system does not support it.
  [[nodiscard]] Status cut(WorkerId worker) const;

  void remove(WorkerId worker) const;

  // Removes all logs.
  void clear() const;

  // Removes the oldest logs above the limit, except those for which `keep` is true.
  void prune(const std::function<bool(WorkerId)>& keep) const;

 private:
  WorkerLogs(std::filesystem::path folder, LogLimits limits);
  [[nodiscard]] std::filesystem::path path_of(WorkerId worker) const;

  std::filesystem::path folder_;
  LogLimits limits_;
};

}  // namespace tidepool::agent
