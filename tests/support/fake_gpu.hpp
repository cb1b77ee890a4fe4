// The fake CUDA runtime as a program under test uses its GPU: memory, a stream, and kernels that are plain functions.
// Loads what TIDEPOOL_CUDART_LIBRARY names, so that program and session share one GPU.
#pragma once

#include <dlfcn.h>

#include <functional>
#include <memory>
#include <span>

#include "base/check.hpp"
#include "workers/runtime/nccl/cuda_library.hpp"

namespace tidepool::test {

class FakeGpu {
 public:
  FakeGpu() {
    auto cuda = runtime::CudaLibrary::load();
    TP_CHECK(cuda.ok(), "the fake CUDA runtime loads");
    cuda_ = *std::move(cuda);
    library_ = ::dlopen(cuda_->file.c_str(), RTLD_NOW | RTLD_NOLOAD);
    TP_CHECK(library_ != nullptr, "the fake CUDA runtime is loaded");
    find("tidepool_fake_enqueue", enqueue_);
    find("tidepool_fake_view", view_);
    TP_CHECK(cuda_->stream_create(&stream_, runtime::cuda::kStreamNonBlocking) == 0, "a stream");
  }
  ~FakeGpu() {
    cuda_->stream_synchronize(stream_);
    for (void* memory : taken_) cuda_->release(memory);
    cuda_->stream_destroy(stream_);
    ::dlclose(library_);
  }
  FakeGpu(const FakeGpu&) = delete;
  FakeGpu& operator=(const FakeGpu&) = delete;

  [[nodiscard]] void* stream() const { return stream_; }

  // Device memory, which the host cannot touch; not cleared.
  template <class Value>
  [[nodiscard]] std::span<Value> take(std::size_t count) {
    void* memory = nullptr;
    TP_CHECK(cuda_->allocate(&memory, count * sizeof(Value)) == 0, "device memory");
    taken_.push_back(memory);
    return {static_cast<Value*>(memory), count};
  }

  // Only inside a kernel: where the device finds memory of take().
  template <class Value>
  [[nodiscard]] std::span<Value> view(std::span<Value> memory) const {
    return {static_cast<Value*>(view_(memory.data())), memory.size()};
  }

  // Enqueues `kernel` on the program's stream.
  void run(std::function<void()> kernel) {
    enqueue_(
        stream_,
        [](void* argument) {
          const std::unique_ptr<std::function<void()>> work(static_cast<std::function<void()>*>(argument));
          (*work)();
        },
        new std::function<void()>(std::move(kernel)));
  }
  void wait() { cuda_->stream_synchronize(stream_); }

 private:
  template <class Function>
  void find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library_, name));
    TP_CHECK(function != nullptr, "the CUDA runtime is the fake one");
  }

  std::shared_ptr<const runtime::CudaLibrary> cuda_;
  void* library_ = nullptr;
  runtime::cuda::Stream stream_ = nullptr;
  std::vector<void*> taken_;
  void (*enqueue_)(void*, void (*)(void*), void*) = nullptr;
  void* (*view_)(const void*) = nullptr;
};

}  // namespace tidepool::test
