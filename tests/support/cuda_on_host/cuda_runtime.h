// CUDA's words for the CPU, so that tests compile our kernels as ordinary C++ and run them under the sanitizers: blocks
// one after the other, the threads of a block as real threads with barriers. A kernel that reads past its memory, or
// touches shared memory without a barrier, is caught here. It says nothing about speed. Memory, streams and events are
// those of the fake CUDA runtime: kernels run on its streams, and the host cannot touch what lies on the device.
//
// Stands in for <cuda_runtime.h> by coming first in the include path of those tests. Only what our kernels use.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tests/support/fake_nccl/fake_cuda.hpp"

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
using cudaEvent_t = struct CUevent_st*;
inline constexpr int cudaSuccess = 0;
inline constexpr unsigned cudaStreamNonBlocking = 1;
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3 };

// Of tests/support/fake_nccl/fake_cudart.cpp.
extern "C" {
const char* cudaGetErrorString(cudaError_t code);
cudaError_t cudaGetLastError();
cudaError_t cudaMalloc(void** memory, std::size_t bytes);
cudaError_t cudaFree(void* memory);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end);
}

namespace tidepool::test {

// An argument as the device sees it: addresses of device memory become those that only the device can use, also inside
// of structs.
template <class Value>
Value seen_by_device(Value value) {
  static_assert(std::is_trivially_copyable_v<Value>);
  if constexpr (std::is_pointer_v<Value> || std::is_class_v<Value>) {
    std::array<void*, sizeof(Value) / sizeof(void*)> words{};
    std::memcpy(words.data(), &value, sizeof words);
    for (void*& word : words) word = tidepool_fake_view(word);
    std::memcpy(&value, words.data(), sizeof words);
  }
  return value;
}

// Runs `work` on the stream; without one at once, so that tests of single kernels need not wait.
inline void enqueue(cudaStream_t stream, std::function<void()> work) {
  if (stream == nullptr) return work();
  tidepool_fake_enqueue(
      stream,
      [](void* argument) {
        const std::unique_ptr<std::function<void()>> own(static_cast<std::function<void()>*>(argument));
        (*own)();
      },
      new std::function<void()>(std::move(work)));
}

}  // namespace tidepool::test

namespace tidepool::trainer::gpu {

struct LaunchShape {
  dim3 blocks;
  dim3 threads;
  cudaStream_t stream = nullptr;
};

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const LaunchShape& shape, Arguments... arguments) {
  const auto seen = std::make_tuple(test::seen_by_device(static_cast<Parameters>(arguments))...);
  test::enqueue(shape.stream, [kernel, shape, seen] {
    test::run_kernel(shape.blocks, shape.threads, [&] { std::apply(kernel, seen); });
  });
}

}  // namespace tidepool::trainer::gpu
