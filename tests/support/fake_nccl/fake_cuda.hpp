// A CUDA runtime of ordinary memory and threads, for tests of code that loads the real one with dlopen: a stream is a
// thread with a queue, device memory is memory whose ranges are remembered, so that mixing the two up is an error.
//
// FAKE_CUDA_DEVICES: how many GPUs there are (1). This header is what the fake NCCL asks of the fake CUDA runtime.
#pragma once

#include <cstddef>

namespace tidepool::fake {

using Work = void (*)(void* argument);

}  // namespace tidepool::fake

extern "C" {

// Runs `work` on the stream's thread, after what was enqueued before.
void tidepool_fake_enqueue(void* stream, tidepool::fake::Work work, void* argument);

// Whether all these bytes are device memory.
bool tidepool_fake_is_device(const void* begin, std::size_t bytes);
}
