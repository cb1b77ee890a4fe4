// CUDA's words for the CPU, so that tests compile our kernels as ordinary C++ and run them under the sanitizers: blocks
// one after the other, the threads of a block as real threads with barriers. A kernel that reads past its memory, or
// touches shared memory without a barrier, is caught here. It says nothing about speed.
//
// Stands in for <cuda_runtime.h> by coming first in the include path of those tests. Only what our kernels use.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>

#define __global__
#define __device__
#define __host__
#define __shared__ static  // one block at a time, so all its threads share it

struct dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
  constexpr dim3(unsigned x_size, unsigned y_size = 1) : x(x_size), y(y_size) {}  // NOLINT(google-explicit-constructor)
  constexpr dim3() = default;
};
struct float4 {
  float x, y, z, w;
};

inline thread_local dim3 threadIdx;
inline thread_local dim3 blockIdx;
inline thread_local dim3 blockDim;
inline thread_local dim3 gridDim;

namespace tidepool::test {

// Waits for all threads of the block.
void sync_block();
// The value that lane (own lane ^ other) of the same warp passes.
float exchange_in_warp(float value, int other);
// Runs `body` once for every thread of every block.
void run_kernel(dim3 blocks, dim3 threads, const std::function<void()>& body);

}  // namespace tidepool::test

inline void __syncthreads() {
  tidepool::test::sync_block();
}
inline float __shfl_xor_sync(unsigned, float value, int other) {
  return tidepool::test::exchange_in_warp(value, other);
}

using cudaError_t = int;
using cudaStream_t = struct CUstream_st*;
inline constexpr int cudaSuccess = 0;
inline constexpr int cudaErrorMemoryAllocation = 2;
inline constexpr unsigned cudaStreamNonBlocking = 1;
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3 };

inline const char* cudaGetErrorString(cudaError_t) {
  return "an error";
}
inline cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
inline cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  *memory = std::malloc(bytes);
  return *memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}
inline cudaError_t cudaFree(void* memory) {
  std::free(memory);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
  if (bytes > 0) std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t) {
  if (bytes > 0) std::memset(memory, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t) {
  return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}

using cudaEvent_t = std::chrono::steady_clock::time_point*;
inline cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new std::chrono::steady_clock::time_point;
  return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  *event = std::chrono::steady_clock::now();
  return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return cudaSuccess;
}
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  *milliseconds = std::chrono::duration<float, std::milli>(*end - *begin).count();
  return cudaSuccess;
}

namespace tidepool::trainer::gpu {

struct LaunchShape {
  dim3 blocks;
  dim3 threads;
  cudaStream_t stream = nullptr;
};

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const LaunchShape& shape, Arguments... arguments) {
  test::run_kernel(shape.blocks, shape.threads, [&] { kernel(arguments...); });
}

}  // namespace tidepool::trainer::gpu
