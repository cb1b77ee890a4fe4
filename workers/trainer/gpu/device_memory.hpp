// GPU memory that frees itself, and CUDA errors as exceptions that name the failed call. For use inside the GPU library
// only; its C interface converts the exceptions to error texts.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

namespace tidepool::trainer::gpu {

inline void check(cudaError_t code, const char* what) {
  if (code != cudaSuccess) throw std::runtime_error(std::string(what) + ": CUDA says " + cudaGetErrorString(code));
}

// Grows on request and never shrinks; growing loses the contents.
template <class Value>
class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(std::size_t count) { reserve(count); }
  ~DeviceMemory() { cudaFree(data_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  void reserve(std::size_t count) {
    if (count <= count_) return;
    cudaFree(std::exchange(data_, nullptr));
    count_ = 0;
    check(cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(Value)), "taking GPU memory");
    count_ = count;
  }
  void copy_from(const Value* host, std::size_t count, cudaStream_t stream) {
    reserve(count);
    check(cudaMemcpyAsync(data_, host, count * sizeof(Value), cudaMemcpyHostToDevice, stream), "copying to the GPU");
  }
  void copy_to(Value* host, std::size_t count, cudaStream_t stream) const {
    check(cudaMemcpyAsync(host, data_, count * sizeof(Value), cudaMemcpyDeviceToHost, stream), "copying from the GPU");
  }
  void clear(cudaStream_t stream) { check(cudaMemsetAsync(data_, 0, count_ * sizeof(Value), stream), "clearing"); }

  [[nodiscard]] Value* data() const { return data_; }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  Value* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace tidepool::trainer::gpu
