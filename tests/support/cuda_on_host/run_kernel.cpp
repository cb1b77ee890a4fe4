#include <barrier>
#include <latch>
#include <memory>
#include <mutex>
#include <semaphore>
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

// Threads that wait for the next kernel: making hundreds of them for each would take most of a test's time.
class Crew {
 public:
  ~Crew() {
    work_ = nullptr;
    for (auto& member : members_) member->start.release();
    for (auto& member : members_) member->thread.join();
  }

  // Calls `work` with 0 to count - 1, each on a thread of its own, and waits for all.
  void run(unsigned count, const std::function<void(unsigned)>& work) {
    work_ = &work;
    while (members_.size() < count) hire();
    std::latch done(count);
    done_ = &done;
    for (unsigned number = 0; number < count; ++number) members_[number]->start.release();
    done.wait();
  }

 private:
  struct Member {
    std::binary_semaphore start{0};
    std::thread thread;
  };

  void hire() {
    const auto number = static_cast<unsigned>(members_.size());
    members_.push_back(std::make_unique<Member>());
    Member& member = *members_.back();
    member.thread = std::thread([this, number, &member] {
      for (member.start.acquire(); work_ != nullptr; member.start.acquire()) {
        (*work_)(number);
        done_->count_down();
      }
    });
  }

  const std::function<void(unsigned)>* work_ = nullptr;
  std::latch* done_ = nullptr;
  std::vector<std::unique_ptr<Member>> members_;
};

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
  warp.arrive_and_wait();  // all have read before any writes again
  return theirs;
}

// Every thread goes through all blocks, and all meet between two of them.
void run_kernel(dim3 blocks, dim3 threads, const std::function<void()>& body) {
  const unsigned count = threads.x * threads.y;
  if (count > kThreadsMax) std::abort();  // a GPU would refuse the launch
  static std::mutex one_kernel;           // the shared memory and the crew are of one block
  const std::lock_guard lock(one_kernel);
  static Crew crew;
  Block block(count);
  running = &block;
  crew.run(count, [&](unsigned number) {
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
  running = nullptr;
}

}  // namespace tidepool::test
