// How much of a time limit several pieces of work have used together, by the steady clock.
#pragma once

#include <chrono>

#include "base/time.hpp"

namespace tidepool::live {

class Spent {
 public:
  explicit Spent(Duration patience) : patience_(std::chrono::microseconds(patience.count_us())) {}

  // Does a piece and gives what it gives; its time is spent.
  template <class Work>
  auto on(const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    auto done = work();
    spent_ += std::chrono::steady_clock::now() - begin;
    return done;
  }
  [[nodiscard]] bool all() const { return spent_ >= patience_; }

 private:
  std::chrono::steady_clock::duration patience_;
  std::chrono::steady_clock::duration spent_{};
};

}  // namespace tidepool::live
