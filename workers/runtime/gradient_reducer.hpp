// Sums the gradient buffer over the workers, bucket by bucket, in a thread of its own while the program
// still computes the rest. One collective at a time, in the order in which the buckets were named, so that
// every rank runs the same collectives and a generation adds in the same order at every step.
//
// The control word lies right before the first gradient and rides with the bucket that begins there: the
// backward pass reaches it last. The bucket that completes the buffer waits for finish() for that reason.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "workers/runtime/comm.hpp"

namespace tidepool::runtime {

class GradientReducer {
 public:
  GradientReducer() = default;
  ~GradientReducer();
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;

  // Once, with any count above 0; the buffer then stays in place.
  void allocate(std::size_t count);
  [[nodiscard]] std::span<float> gradients();

  // The control word of `size` ranks; written by the caller between drain() and finish().
  [[nodiscard]] std::span<float> word(int size);

  // A new step over `comm`: no bucket is named yet. Whatever is left of the step before must have failed or ended.
  void begin_step(std::shared_ptr<Comm> comm);

  // Floats [first, first + count) are final here. kInvalidArgument: outside the buffer, or named before.
  [[nodiscard]] Status add(std::size_t first, std::size_t count);

  // Waits until the buckets under way are summed; the error of the first that failed.
  [[nodiscard]] Status drain();
  // Sums the rest and, last, the control word. After a drain() that succeeded.
  [[nodiscard]] Status finish();

  // Sums of squares of the step's gradients, of this rank alone and over all ranks: only if asked for
  // before the step's first bucket. The first is complete after drain(), the second after finish().
  void measure_squares(bool on);
  [[nodiscard]] double own_square() const { return own_square_; }
  [[nodiscard]] double total_square() const { return total_square_; }

 private:
  struct Range {
    std::size_t first = 0;
    std::size_t count = 0;
    [[nodiscard]] std::size_t end() const { return first + count; }
  };

  void run();
  [[nodiscard]] Status sum(const Range& range);
  [[nodiscard]] std::vector<Range> rest() const;
  [[nodiscard]] bool idle() const { return queue_.empty() && !busy_; }

  std::vector<float> memory_;  // the widest control word, then the gradients
  std::size_t count_ = 0;

  std::shared_ptr<Comm> comm_;
  std::vector<Range> named_;  // in this step, sorted
  std::size_t covered_ = 0;   // floats in `named_`
  bool measures_ = false;
  double own_square_ = 0;  // of the thread that sums: the one below, and the caller once it is idle
  double total_square_ = 0;
  bool rest_is_counted_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Range> queue_;
  bool busy_ = false;
  bool stopping_ = false;
  Status status_ = ok_status();
  std::thread thread_;  // started by the first bucket
};

}  // namespace tidepool::runtime
