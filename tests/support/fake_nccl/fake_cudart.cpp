#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "tests/support/fake_nccl/fake_cuda.hpp"

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidValue = 1;
constexpr int kOutOfMemory = 2;
constexpr int kNoDevice = 100;
constexpr int kNotReady = 600;

class Stream {
 public:
  Stream() : thread_([this] { run(); }) {}
  ~Stream() {
    enqueue(nullptr);
    thread_.join();
  }

  void enqueue(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
    ++enqueued_;
    changed_.notify_all();
  }
  void drain() {
    std::unique_lock lock(mutex_);
    const std::uint64_t mark = enqueued_;
    changed_.wait(lock, [&] { return done_ >= mark; });
  }

 private:
  void run() {
    for (;;) {
      std::function<void()> work;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !queue_.empty(); });
        work = std::move(queue_.front());
        queue_.pop_front();
      }
      if (!work) return;
      work();
      const std::lock_guard lock(mutex_);
      ++done_;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  std::uint64_t enqueued_ = 0;
  std::uint64_t done_ = 0;
  std::thread thread_;
};

// Shared with the stream: an event may be destroyed before its mark has been reached.
struct Event {
  std::shared_ptr<std::atomic<bool>> reached = std::make_shared<std::atomic<bool>>(true);
};

std::mutex device_mutex;
std::map<std::uintptr_t, std::size_t> device_memory;  // begin -> bytes

int devices() {
  const char* text = std::getenv("FAKE_CUDA_DEVICES");
  return text == nullptr ? 1 : std::atoi(text);
}

}  // namespace

extern "C" {

void tidepool_fake_enqueue(void* stream, tidepool::fake::Work work, void* argument) {
  static_cast<Stream*>(stream)->enqueue([work, argument] { work(argument); });
}

bool tidepool_fake_is_device(const void* begin, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(begin);
  const std::lock_guard lock(device_mutex);
  auto after = device_memory.upper_bound(at);
  return after != device_memory.begin() && at + bytes <= std::prev(after)->first + std::prev(after)->second;
}

int cudaRuntimeGetVersion(int* version) {
  *version = 13'000;
  return kSuccess;
}

int cudaGetDeviceCount(int* count) {
  *count = devices();
  return *count > 0 ? kSuccess : kNoDevice;
}

int cudaSetDevice(int device) {
  return device < devices() ? kSuccess : kInvalidValue;
}

const char* cudaGetErrorString(int code) {
  switch (code) {
    case kSuccess: return "no error";
    case kOutOfMemory: return "out of memory";
    case kNoDevice: return "no CUDA-capable device is detected";
    case kNotReady: return "device not ready";
    default: return "invalid argument";
  }
}

int cudaMalloc(void** memory, std::size_t bytes) {
  *memory = std::malloc(std::max<std::size_t>(bytes, 1));
  if (*memory == nullptr) return kOutOfMemory;
  const std::lock_guard lock(device_mutex);
  device_memory[reinterpret_cast<std::uintptr_t>(*memory)] = bytes;
  return kSuccess;
}

int cudaFree(void* memory) {
  {
    const std::lock_guard lock(device_mutex);
    if (device_memory.erase(reinterpret_cast<std::uintptr_t>(memory)) == 0) return kInvalidValue;
  }
  std::free(memory);
  return kSuccess;
}

int cudaMallocHost(void** memory, std::size_t bytes) {
  *memory = std::malloc(std::max<std::size_t>(bytes, 1));
  return *memory == nullptr ? kOutOfMemory : kSuccess;
}

int cudaFreeHost(void* memory) {
  std::free(memory);
  return kSuccess;
}

int cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int, void* stream) {
  static_cast<Stream*>(stream)->enqueue([=] { std::memcpy(to, from, bytes); });
  return kSuccess;
}

int cudaStreamCreateWithFlags(void** stream, unsigned) {
  *stream = new Stream;
  return kSuccess;
}

int cudaStreamDestroy(void* stream) {
  delete static_cast<Stream*>(stream);
  return kSuccess;
}

int cudaStreamSynchronize(void* stream) {
  static_cast<Stream*>(stream)->drain();
  return kSuccess;
}

int cudaEventCreateWithFlags(void** event, unsigned) {
  *event = new Event;
  return kSuccess;
}

int cudaEventDestroy(void* event) {
  delete static_cast<Event*>(event);
  return kSuccess;
}

int cudaEventRecord(void* event, void* stream) {
  auto reached = std::make_shared<std::atomic<bool>>(false);
  static_cast<Event*>(event)->reached = reached;
  static_cast<Stream*>(stream)->enqueue([reached] { reached->store(true); });
  return kSuccess;
}

int cudaEventQuery(void* event) {
  return static_cast<Event*>(event)->reached->load() ? kSuccess : kNotReady;
}
}
