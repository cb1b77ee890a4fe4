// The few calls of the CUDA runtime that a communicator needs, loaded at run time. The declarations are the project's
// own: they match CUDA 11 to 13 (CUDA Runtime API reference, sections 6.1 to 6.9).
//
// One process uses one GPU: the first that CUDA_VISIBLE_DEVICES shows it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.hpp"

namespace tidepool::runtime {

namespace cuda {

using Stream = struct OpaqueStream*;
using Event = struct OpaqueEvent*;

inline constexpr int kSuccess = 0;
inline constexpr int kNotReady = 600;              // from event_query: the work before the event is not done
inline constexpr int kCopyAny = 4;                 // cudaMemcpyDefault: the direction follows from the addresses
inline constexpr unsigned kStreamNonBlocking = 1;  // does not wait for the legacy default stream
inline constexpr unsigned kEventNoTiming = 2;

// The beginning of cudaPointerAttributes in CUDA 11 and later; later versions added fields at the end.
struct PointerAttributes {
  int memory = 0;  // 2: of a GPU, 3: managed
  int device = -1;
  void* device_pointer = nullptr;
  void* host_pointer = nullptr;
  long reserved[28] = {};
};
inline constexpr int kMemoryOfDevice = 2;

}  // namespace cuda

struct CudaLibrary {
  // Loads the file in TIDEPOOL_CUDART_LIBRARY if that is set, else the machine's own. An error says why no GPU can be
  // used: no library, a missing symbol, no driver, no device.
  [[nodiscard]] static Result<std::shared_ptr<const CudaLibrary>> load();

  std::string file;
  int version = 0;  // 13000 = 13.0
  int devices = 0;  // >= 1

  int (*runtime_version)(int*) = nullptr;
  int (*device_count)(int*) = nullptr;
  int (*set_device)(int) = nullptr;
  const char* (*error_text)(int) = nullptr;
  int (*allocate)(void**, std::size_t) = nullptr;
  int (*release)(void*) = nullptr;
  int (*allocate_host)(void**, std::size_t) = nullptr;  // pinned: copies from it do not block
  int (*release_host)(void*) = nullptr;
  int (*copy)(void*, const void*, std::size_t, int, cuda::Stream) = nullptr;  // asynchronous
  int (*stream_create)(cuda::Stream*, unsigned) = nullptr;
  int (*stream_destroy)(cuda::Stream) = nullptr;
  int (*stream_synchronize)(cuda::Stream) = nullptr;
  int (*event_create)(cuda::Event*, unsigned) = nullptr;
  int (*event_destroy)(cuda::Event) = nullptr;
  int (*event_record)(cuda::Event, cuda::Stream) = nullptr;
  int (*event_query)(cuda::Event) = nullptr;
  int (*event_synchronize)(cuda::Event) = nullptr;
  // Later work in the stream waits for the event.
  int (*stream_wait_event)(cuda::Stream, cuda::Event, unsigned) = nullptr;
  int (*pointer_attributes)(cuda::PointerAttributes*, const void*) = nullptr;

  // Converts the `code` of one of the calls above to a Status that names what failed.
  [[nodiscard]] Status check(int code, const char* what) const;
};

}  // namespace tidepool::runtime
