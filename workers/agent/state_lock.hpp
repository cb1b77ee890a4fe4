// Allows one agent per state directory and one agent per GPU of a host. These are kernel locks, which end with the
// process, however it ends; workers do not inherit them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "workers/agent/system/unique_fd.hpp"

namespace tidepool::agent {

// kConflict, with the holder's pid, if another agent uses this directory.
[[nodiscard]] Result<UniqueFd> lock_state_dir(const std::filesystem::path& state_dir);

// kConflict, with the holder's pid and what to do, if another agent offers one of these GPUs. `folder` must be the same
// for all agents that must exclude each other: see folder_of_gpu_locks().
[[nodiscard]] Result<std::vector<UniqueFd>> lock_gpus(const std::filesystem::path& folder,
                                                      const std::vector<std::string>& uuids);

// One folder for all agents of root, or for all of this user: if all users could write to it, another user could lock a
// GPU.
[[nodiscard]] std::filesystem::path folder_of_gpu_locks();

}  // namespace tidepool::agent
