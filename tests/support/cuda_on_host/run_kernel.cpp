#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "cuda_runtime.h"

namespace tidepool::test {
namespace {

constexpr unsigned kWarp = 32;
constexpr unsigned kThreadsMax = 1'024;

// What the threads of the running block share.
struct Block {
  explicit Block(unsigned threads) : all(threads), values(threads) {
    for (unsigned warp = 0; warp * kWarp < threads; ++warp) warps.push_back(std::make_unique<std::barrier<>>(kWarp));
  }
  std::barrier<> all;
  std::vector<std::unique_ptr<std::barrier<>>> warps;
  std::vector<float> values;
};

Block* running = nullptr;

unsigned own_number() {
  return threadIdx.y * blockDim.x + threadIdx.x;
}

}  // namespace

void sync_block() {
  running->all.arrive_and_wait();
}

float exchange_in_warp(float value, int other) {
  const unsigned self = own_number();
  std::barrier<>& warp = *running->warps[self / kWarp];
  running->values[self] = value;
  warp.arrive_and_wait();
  const float theirs = running->values[self ^ static_cast<unsigned>(other)];
  warp.arrive_and_wait();  // all have read before anybody writes again
  return theirs;
}

// Every thread goes through all blocks, and all meet between two of them.
void run_kernel(dim3 blocks, dim3 threads, const std::function<void()>& body) {
  const unsigned count = threads.x * threads.y;
  if (count > kThreadsMax) std::abort();  // a GPU would refuse the launch
  Block block(count);
  running = &block;
  std::vector<std::thread> crew;
  for (unsigned number = 0; number < count; ++number) {
    crew.emplace_back([&, number] {
      blockDim = threads;
      gridDim = blocks;
      threadIdx = dim3(number % threads.x, number / threads.x);
      for (unsigned y = 0; y < blocks.y; ++y) {
        for (unsigned x = 0; x < blocks.x; ++x) {
          blockIdx = dim3(x, y);
          body();
          block.all.arrive_and_wait();
        }
      }
    });
  }
  for (std::thread& thread : crew) thread.join();
  running = nullptr;
}

}  // namespace tidepool::test
