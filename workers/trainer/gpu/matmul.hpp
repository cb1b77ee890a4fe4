// The matrix product of the health probe, written here so that its speed depends on this GPU and this source alone.
#pragma once

#include <cuda_runtime.h>

namespace tidepool::trainer::gpu {

// c = a x b, size x size in fp32, row-major. Each block keeps a tile of both in shared memory and each thread a square
// of results in registers, so that a number is read from memory size / 64 times instead of size times.
void multiply_tiled(const float* a, const float* b, float* c, int size, cudaStream_t stream);

}  // namespace tidepool::trainer::gpu
