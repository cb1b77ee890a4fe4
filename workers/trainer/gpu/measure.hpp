// What this GPU really does, by CUDA's own timers: copy, product, and our kernels against the copy as their ceiling.
#pragma once

#include <cstddef>

#include "workers/trainer/gpu/gpu_api.h"

namespace tidepool::trainer::gpu {

// See gpu_api.h. Each figure is the median of several runs after one that warms up. Takes well under a second for a
// product of 2,048 and a copy of 256 MB. Throws what the GPU refuses.
[[nodiscard]] tidepool_gpu_figures measure(int size, std::size_t copy_bytes, bool kernels);

}  // namespace tidepool::trainer::gpu
