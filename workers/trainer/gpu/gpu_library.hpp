// Finds and loads libtidepool-gpu.so. On a machine without it, or without a GPU, the caller gets the reason and
// continues without it.
#pragma once

#include <string>

#include "base/result.hpp"
#include "workers/trainer/gpu/gpu_api.h"

namespace tidepool::trainer {

// Loads TIDEPOOL_GPU_LIBRARY if that is set, else the file in ../lib relative to this program, else what the loader
// finds. Also an error if the library is of another version or sees no GPU. The table lives as long as the process.
[[nodiscard]] Result<const tidepool_gpu_api*> load_gpu_library();

// The reason of the last failed call, as an error; `what` names what was tried.
[[nodiscard]] Error gpu_error(const tidepool_gpu_api& gpu, const std::string& what);

}  // namespace tidepool::trainer
