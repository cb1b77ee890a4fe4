// A CUDA runtime of threads and guarded memory, for tests of code that uses the real one: a stream is a thread with a
// queue; device memory has two addresses, and the one that the program knows can neither be read nor written by the
// host. So a touch of device memory without a copy is a crash, and what is read before its stream has written it is
// wrong, as on a real GPU.
//
// FAKE_CUDA_DEVICES: how many GPUs there are (1). FAKE_CUDA_SLOW_US: how long each piece of work waits first (0), which
// brings missing waits to light. This header is what the fake NCCL and kernels run on the CPU ask of it.
#pragma once

#include <cstddef>

namespace tidepool::fake {

using Work = void (*)(void* argument);

}  // namespace tidepool::fake

extern "C" {

// Runs `work` on the stream's thread, after what was enqueued before. No stream: the default one.
void tidepool_fake_enqueue(void* stream, tidepool::fake::Work work, void* argument);

// Whether all these bytes are device memory.
bool tidepool_fake_is_device(const void* begin, std::size_t bytes);

// Where the device itself finds an address: for what runs on a stream. Host addresses are their own.
void* tidepool_fake_view(const void* address);

// Takes over memory of the host as device memory that is not guarded, such as a tensor's; release() forgets it.
void tidepool_fake_lend(void* begin, std::size_t bytes);
void tidepool_fake_release(void* begin);
}
