// Where a job's states are kept outside its processes, and how often.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.hpp"
#include "workers/runtime/comm/clock.hpp"

namespace tidepool::runtime {

struct KeepOptions {
  std::filesystem::path checkpoint_folder;  // on disk; empty = none
  std::filesystem::path park_folder;        // in memory; empty = parked states go to the disk
  Millis every{0};                          // between two checkpoints; 0 = only on request
  int keep = 3;                             // number of checkpoints kept
  std::string owner;                        // "cluster/job-3"; states of another owner are not used

  // From TIDEPOOL_CHECKPOINT_DIR, TIDEPOOL_CHECKPOINT_EVERY_S, TIDEPOOL_CHECKPOINT_KEEP, TIDEPOOL_PARK_DIR,
  // TIDEPOOL_CLUSTER and TIDEPOOL_JOB.
  [[nodiscard]] static Result<KeepOptions> from_environment();
};

// Reads a whole number from 0 to `high` from the environment variable `name`; `fallback` if it is not set or empty.
[[nodiscard]] Result<std::int64_t> number_from_environment(const char* name, std::int64_t fallback, std::int64_t high);

}  // namespace tidepool::runtime
