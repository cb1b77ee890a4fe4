// Where a job's states are kept outside of its processes, and how often.
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
  Millis every{0};                          // between two checkpoints; 0 = only when told
  int keep = 3;                             // checkpoints
  std::string owner;                        // "cluster/job-3"; a state of another owner is not ours

  // From TIDEPOOL_CHECKPOINT_DIR, TIDEPOOL_CHECKPOINT_EVERY_S, TIDEPOOL_CHECKPOINT_KEEP, TIDEPOOL_PARK_DIR,
  // TIDEPOOL_CLUSTER and TIDEPOOL_JOB.
  [[nodiscard]] static Result<KeepOptions> from_environment();
};

// A whole number from 0 to `high` of that name in the environment; `fallback` if it is not set or empty.
[[nodiscard]] Result<std::int64_t> number_from_environment(const char* name, std::int64_t fallback, std::int64_t high);

}  // namespace tidepool::runtime
