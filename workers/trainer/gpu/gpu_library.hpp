// Finds and loads libtidepool-gpu.so. A machine without it, or without a GPU, gets the reason in words and goes on.
#pragma once

#include <string>

#include "base/result.hpp"
#include "workers/trainer/gpu/gpu_api.h"

namespace tidepool::trainer {

// TIDEPOOL_GPU_LIBRARY if it is set, else beside this program in ../lib, else where the loader finds it. An error also
// if the library is of another version or sees no GPU. The table lives as long as the process.
[[nodiscard]] Result<const tidepool_gpu_api*> load_gpu_library();

// The reason of the last call that failed, as an error that says what was tried.
[[nodiscard]] Error gpu_error(const tidepool_gpu_api& gpu, const std::string& what);

}  // namespace tidepool::trainer
