// What this GPU really achieves, by CUDA's own timers: copy, product, and the project's kernels relative to the copy as
// their ceiling.
#pragma once

#include <cstddef>

#include "workers/trainer/gpu/gpu_api.h"

namespace tidepool::trainer::gpu {

// See gpu_api.h. Each figure is the median of several runs after one warm-up run. Takes well under a second for a
// product of 2,048 and a copy of 256 MB. Throws the GPU's errors.
[[nodiscard]] tidepool_gpu_figures measure(int size, std::size_t copy_bytes, bool kernels);

}  // namespace tidepool::trainer::gpu
