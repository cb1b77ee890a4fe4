// One agent per state directory, and one for each GPU of a host. The locks are the kernel's and end with the process,
// however it ends; workers do not inherit them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "workers/agent/system/unique_fd.hpp"

namespace tidepool::agent {

// kConflict, with the holder's pid, if another agent runs on this directory.
[[nodiscard]] Result<UniqueFd> lock_state_dir(const std::filesystem::path& state_dir);

// kConflict, with the holder's pid and what to do, if another agent offers one of these. `folder` is the same for all
// agents that are to know of each other: see folder_of_gpu_locks().
[[nodiscard]] Result<std::vector<UniqueFd>> lock_gpus(const std::filesystem::path& folder,
                                                      const std::vector<std::string>& uuids);

// Of all agents of root, or of this user: in a folder that all users may write, another one could lock a GPU.
[[nodiscard]] std::filesystem::path folder_of_gpu_locks();

}  // namespace tidepool::agent
