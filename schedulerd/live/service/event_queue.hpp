// The bounded queue between the I/O threads and the loop: many put in, one takes out.
//
// Rule: whatever changes the engine comes through here, and what others see of it leaves by the publisher; the engine
// itself belongs to the loop's thread alone.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace tidepool::live {

template <class Item>
class EventQueue {
 public:
  using Weigh = std::size_t (*)(const Item&);
  // `weigh`: how much work an item is; at least 1.
  explicit EventQueue(
      std::size_t capacity, Weigh weigh = [](const Item&) { return std::size_t{1}; })
      : capacity_(capacity), weigh_(weigh) {}

  // Refused at once when full or closed, so that memory stays bounded; a client can try again.
  [[nodiscard]] Status try_push(Item item) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return Error{ErrorCode::kUnavailable, "the daemon is stopping; try again when it is back"};
      if (items_.size() >= capacity_) {
        return Error{ErrorCode::kUnavailable,
                     "the daemon has " + std::to_string(capacity_) + " requests waiting; try again in a second"};
      }
      items_.push_back(std::move(item));
    }
    filled_.notify_one();
    return ok_status();
  }

  // Waits for room, which holds the sender's socket back; false once the queue is closed.
  bool push(Item item) {
    {
      std::unique_lock lock(mutex_);
      emptied_.wait(lock, [this] { return closed_ || items_.size() < capacity_; });
      if (closed_) return false;
      items_.push_back(std::move(item));
    }
    filled_.notify_one();
    return true;
  }

  // What else comes with the first item: one after the other as long as no more than `gap` passes, for at most `most`.
  struct Gathering {
    std::chrono::microseconds gap{0};
    std::chrono::microseconds most{0};
  };

  // Items in order until they weigh `limit`; waits at most `patience` for the first one.
  [[nodiscard]] std::vector<Item> take(std::size_t limit, std::chrono::microseconds patience,
                                       Gathering gathering = {}) {
    std::vector<Item> taken;
    {
      std::unique_lock lock(mutex_);
      filled_.wait_for(lock, patience, [this] { return closed_ || !items_.empty(); });
      if (!items_.empty()) gather(lock, limit, gathering);
      for (std::size_t weight = 0; !items_.empty() && weight < limit;) {
        weight += weigh_(items_.front());
        taken.push_back(std::move(items_.front()));
        items_.pop_front();
      }
    }
    if (!taken.empty()) emptied_.notify_all();
    return taken;
  }

  // Nothing goes in any more; what is inside can still be taken.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    filled_.notify_all();
    emptied_.notify_all();
  }

  [[nodiscard]] bool drained() const {
    const std::lock_guard lock(mutex_);
    return closed_ && items_.empty();
  }

  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return items_.size();
  }

 private:
  void gather(std::unique_lock<std::mutex>& lock, std::size_t limit, Gathering gathering) {
    const auto until = std::chrono::steady_clock::now() + gathering.most;
    for (std::size_t seen = items_.size(); gathering.gap.count() > 0 && seen < limit && !closed_;
         seen = items_.size()) {
      const auto next = std::min(until, std::chrono::steady_clock::now() + gathering.gap);
      if (!filled_.wait_until(lock, next, [&] { return closed_ || items_.size() > seen; })) return;
    }
  }

  const std::size_t capacity_;
  const Weigh weigh_;
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::condition_variable emptied_;
  std::deque<Item> items_;
  bool closed_ = false;
};

}  // namespace tidepool::live
