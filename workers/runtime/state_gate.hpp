// Lets another thread read the registered memory while it is at rest. The memory changes only between a reduce() that
// returned kCommit and its commit(): the gate is closed for that time, and a reader waits until it opens.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "workers/runtime/comm/clock.hpp"

namespace tidepool::runtime {

class StateGate {
 public:
  // --- the thread that trains ---
  void close() {
    const std::lock_guard lock(mutex_);  // a reader holds the lock while it copies a few blocks
    closed_ = true;
  }
  void open() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = false;
      ++commits_;
    }
    changed_.notify_all();
  }

  // --- another thread ---
  // Runs `read` while the memory is at rest; false if interrupted before the memory came to rest.
  template <class Read>
  [[nodiscard]] bool at_rest(Read read) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !closed_ || interrupted_; });
    if (closed_) return false;
    read();
    return true;
  }
  // Waits for the next commit; false at the deadline, or when interrupted.
  [[nodiscard]] bool wait_commit(Millis limit) {
    std::unique_lock lock(mutex_);
    const std::uint64_t before = commits_;
    changed_.wait_for(lock, limit, [&] { return commits_ > before || interrupted_; });
    return commits_ > before && !interrupted_;
  }
  // Lets time pass, unless interrupted.
  void pause(Millis time) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, time, [&] { return interrupted_; });
  }

  // --- any thread: ends all waits here, and later ones at once, until resume() ---
  void interrupt() {
    {
      const std::lock_guard lock(mutex_);
      interrupted_ = true;
    }
    changed_.notify_all();
  }
  void resume() {
    const std::lock_guard lock(mutex_);
    interrupted_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  bool interrupted_ = false;
  std::uint64_t commits_ = 0;
};

}  // namespace tidepool::runtime
