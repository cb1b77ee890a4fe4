#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
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
#include "workers/runtime/nccl/cuda_library.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define FAKE_CUDA_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FAKE_CUDA_ASAN
#endif
#endif
#ifdef FAKE_CUDA_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, bytes) static_cast<void>(begin)
#define ASAN_UNPOISON_MEMORY_REGION(begin, bytes) static_cast<void>(begin)
#endif

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidValue = 1;
constexpr int kOutOfMemory = 2;
constexpr int kNoDevice = 100;
constexpr int kNotReady = 600;

std::chrono::microseconds slowness() {
  const char* text = std::getenv("FAKE_CUDA_SLOW_US");
  return std::chrono::microseconds(text == nullptr ? 0 : std::atoi(text));
}

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
      if (slow_.count() > 0) std::this_thread::sleep_for(slow_);
      work();
      const std::lock_guard lock(mutex_);
      ++done_;
      changed_.notify_all();
    }
  }

  const std::chrono::microseconds slow_ = slowness();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  std::uint64_t enqueued_ = 0;
  std::uint64_t done_ = 0;
  std::thread thread_;
};

// Shared with the streams: an event may be destroyed before its mark has been reached.
struct Mark {
  std::mutex mutex;
  std::condition_variable changed;
  bool reached = false;
  std::chrono::steady_clock::time_point at;

  void reach() {
    const std::lock_guard lock(mutex);
    reached = true;
    at = std::chrono::steady_clock::now();
    changed.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return reached; });
  }
  bool is_reached() {
    const std::lock_guard lock(mutex);
    return reached;
  }
};
struct Event {
  std::mutex mutex;
  std::shared_ptr<Mark> mark;  // none: never recorded

  std::shared_ptr<Mark> newest() {
    const std::lock_guard lock(mutex);
    return mark;
  }
};

// One allocation: `device` is what the program is given, `view` the same bytes for the device.
struct Block {
  std::size_t bytes = 0;
  std::byte* view = nullptr;
  std::size_t mapped = 0;  // 0: memory of the host that was lent
};

std::mutex device_mutex;
std::map<std::uintptr_t, Block> device_memory;  // by the program's address

const std::size_t kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

// The views end in a poisoned rest of a page and a page without access.
bool map_guarded(std::size_t bytes, void** device, Block& block) {
  const std::size_t whole = (bytes + kPage - 1) / kPage * kPage + kPage;
  const int file = ::memfd_create("fake-device-memory", MFD_CLOEXEC);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(whole)) != 0) return false;
  *device = ::mmap(nullptr, whole, PROT_NONE, MAP_SHARED, file, 0);
  void* view = ::mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (*device == MAP_FAILED || view == MAP_FAILED) return false;
  auto* at = static_cast<std::byte*>(view);
  ::mprotect(at + whole - kPage, kPage, PROT_NONE);
  ASAN_POISON_MEMORY_REGION(at + bytes, whole - kPage - bytes);
  std::memset(view, 0xa5, bytes);  // not what a program expects
  block = {.bytes = bytes, .view = at, .mapped = whole};
  return true;
}

void unmap(std::uintptr_t device, const Block& block) {
  if (block.mapped == 0) return;
  ASAN_UNPOISON_MEMORY_REGION(block.view, block.mapped);
  ::munmap(block.view, block.mapped);
  ::munmap(reinterpret_cast<void*>(device), block.mapped);
}

// The block that holds the address; call with the mutex.
std::map<std::uintptr_t, Block>::const_iterator block_of(std::uintptr_t at) {
  const auto after = device_memory.upper_bound(at);
  if (after == device_memory.begin()) return device_memory.end();
  const auto block = std::prev(after);
  return at < block->first + std::max<std::size_t>(block->second.bytes, 1) ? block : device_memory.end();
}

int devices() {
  const char* text = std::getenv("FAKE_CUDA_DEVICES");
  return text == nullptr ? 1 : std::atoi(text);
}

Stream& stream_of(void* stream) {
  static Stream* by_default = new Stream;  // never ends: others may still use it when statics are destroyed
  return stream == nullptr ? *by_default : *static_cast<Stream*>(stream);
}

}  // namespace

extern "C" {

void tidepool_fake_enqueue(void* stream, tidepool::fake::Work work, void* argument) {
  stream_of(stream).enqueue([work, argument] { work(argument); });
}

bool tidepool_fake_is_device(const void* begin, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(begin);
  const std::lock_guard lock(device_mutex);
  const auto block = block_of(at);
  return block != device_memory.end() && at + bytes <= block->first + block->second.bytes;
}

void* tidepool_fake_view(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard lock(device_mutex);
  const auto block = block_of(at);
  if (block == device_memory.end()) return const_cast<void*>(address);
  return block->second.view + (at - block->first);
}

void tidepool_fake_lend(void* begin, std::size_t bytes) {
  const std::lock_guard lock(device_mutex);
  device_memory[reinterpret_cast<std::uintptr_t>(begin)] = {.bytes = bytes, .view = static_cast<std::byte*>(begin)};
}

void tidepool_fake_release(void* begin) {
  const std::lock_guard lock(device_mutex);
  device_memory.erase(reinterpret_cast<std::uintptr_t>(begin));
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
  Block block;
  if (!map_guarded(bytes, memory, block)) return kOutOfMemory;
  const std::lock_guard lock(device_mutex);
  device_memory[reinterpret_cast<std::uintptr_t>(*memory)] = block;
  return kSuccess;
}

// As the real one, after all that is enqueued anywhere: here it is enough that it is no longer used.
int cudaFree(void* memory) {
  if (memory == nullptr) return kSuccess;
  const std::lock_guard lock(device_mutex);
  const auto found = device_memory.find(reinterpret_cast<std::uintptr_t>(memory));
  if (found == device_memory.end()) return kInvalidValue;
  unmap(found->first, found->second);
  device_memory.erase(found);
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
  if (bytes == 0) return kSuccess;
  void* target = tidepool_fake_view(to);
  const void* source = tidepool_fake_view(from);
  stream_of(stream).enqueue([=] { std::memcpy(target, source, bytes); });
  return kSuccess;
}

int cudaMemsetAsync(void* memory, int value, std::size_t bytes, void* stream) {
  if (bytes == 0) return kSuccess;
  if (!tidepool_fake_is_device(memory, bytes)) return kInvalidValue;
  void* target = tidepool_fake_view(memory);
  stream_of(stream).enqueue([=] { std::memset(target, value, bytes); });
  return kSuccess;
}

int cudaPointerGetAttributes(tidepool::runtime::cuda::PointerAttributes* found, const void* memory) {
  const bool device = tidepool_fake_is_device(memory, 1);
  *found = {.memory = device ? tidepool::runtime::cuda::kMemoryOfDevice : 0, .device = device ? 0 : -1};
  return kSuccess;
}

int cudaGetLastError() {
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
  stream_of(stream).drain();
  return kSuccess;
}

int cudaStreamWaitEvent(void* stream, void* event, unsigned) {
  const std::shared_ptr<Mark> mark = static_cast<Event*>(event)->newest();
  if (mark) stream_of(stream).enqueue([mark] { mark->wait(); });
  return kSuccess;
}

int cudaEventCreateWithFlags(void** event, unsigned) {
  *event = new Event;
  return kSuccess;
}

int cudaEventCreate(void** event) {
  return cudaEventCreateWithFlags(event, 0);
}

int cudaEventDestroy(void* event) {
  delete static_cast<Event*>(event);
  return kSuccess;
}

int cudaEventRecord(void* event, void* stream) {
  auto mark = std::make_shared<Mark>();
  {
    auto* recorded = static_cast<Event*>(event);
    const std::lock_guard lock(recorded->mutex);
    recorded->mark = mark;
  }
  stream_of(stream).enqueue([mark] { mark->reach(); });
  return kSuccess;
}

int cudaEventQuery(void* event) {
  const std::shared_ptr<Mark> mark = static_cast<Event*>(event)->newest();
  return !mark || mark->is_reached() ? kSuccess : kNotReady;
}

int cudaEventSynchronize(void* event) {
  const std::shared_ptr<Mark> mark = static_cast<Event*>(event)->newest();
  if (mark) mark->wait();
  return kSuccess;
}

int cudaEventElapsedTime(float* milliseconds, void* begin, void* end) {
  const std::shared_ptr<Mark> from = static_cast<Event*>(begin)->newest();
  const std::shared_ptr<Mark> to = static_cast<Event*>(end)->newest();
  if (!from || !to || !from->is_reached() || !to->is_reached()) return kNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(to->at - from->at).count();
  return kSuccess;
}
}
