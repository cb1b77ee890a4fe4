// One agent per state directory. The lock is the kernel's and ends with the process, however it ends;
// workers do not inherit it.
#pragma once

#include <filesystem>

#include "base/result.hpp"
#include "workers/agent/system/unique_fd.hpp"

namespace tidepool::agent {

// kConflict, with the holder's pid, if another agent runs on this directory.
[[nodiscard]] Result<UniqueFd> lock_state_dir(const std::filesystem::path& state_dir);

}  // namespace tidepool::agent
