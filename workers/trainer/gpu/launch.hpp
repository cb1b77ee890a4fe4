// Starts a kernel. A function instead of the triple brackets, so that the tests can compile the same kernels for the
// CPU: there the cuda_runtime.h of tests/support/cuda_on_host supplies launch() and the keywords of nvcc.
#pragma once

#include <cuda_runtime.h>

#ifdef __CUDACC__

namespace tidepool::trainer::gpu {

struct LaunchShape {
  dim3 blocks;
  dim3 threads;
  cudaStream_t stream = nullptr;
};

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const LaunchShape& shape, Arguments... arguments) {
  kernel<<<shape.blocks, shape.threads, 0, shape.stream>>>(arguments...);
}

}  // namespace tidepool::trainer::gpu

#endif
