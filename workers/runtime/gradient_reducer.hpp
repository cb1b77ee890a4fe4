// Sums the gradient buffer over the workers, bucket by bucket, in a thread of its own while the program
// still computes the rest. One collective at a time, in the order in which the buckets were named, so that
// every rank runs the same collectives and a generation adds in the same order at every step.
//
// The control word lies right before the first gradient and rides with the bucket that begins there: the
// backward pass reaches it last. The bucket that completes the buffer waits for finish() for that reason.
//
// The buffer is ordinary memory of the reducer's own, or the program's memory on the GPU: then each bucket is summed
// where it lies, after what the program's stream held when it was named, and only the control word is the host's. Over
// a communicator that knows no GPU the buckets go through ordinary memory.
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
#include "workers/runtime/comm/comm.hpp"
#include "workers/runtime/nccl/gpu.hpp"

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
  // Instead of allocate(): `values` on the GPU stay the program's, which keeps them in place.
  void lend(std::shared_ptr<Gpu> gpu, std::span<float> values);
  // The gradients for reading on the host, after finish(); of the GPU a copy.
  [[nodiscard]] Result<std::span<const float>> on_host();

  // The control word of `size` ranks; written by the caller between drain() and finish().
  [[nodiscard]] std::span<float> word(int size);

  // A new step over `comm`: no bucket is named yet. Whatever is left of the step before must have failed or ended.
  void begin_step(std::shared_ptr<Comm> comm);

  // Floats [first, first + count) are final here. kInvalidArgument: outside the buffer, or named before.
  [[nodiscard]] Status add(std::size_t first, std::size_t count);

  // The buckets of the last step that was summed once more, over the same `comm`, of a rank that computes nothing.
  [[nodiscard]] Status repeat_step(std::shared_ptr<Comm> comm);

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
    cuda::Event ready = nullptr;  // of a lent buffer: behind what the program had enqueued
    [[nodiscard]] std::size_t end() const { return first + count; }
  };

  void run();
  [[nodiscard]] Status sum(const Range& range);
  [[nodiscard]] Status sum_last(std::size_t with_word);
  [[nodiscard]] Status count_own(const Range& range);
  [[nodiscard]] Status count_total(const Range& range);
  [[nodiscard]] Status mark(Range& range);
  // Of a lent buffer: its floats in the copy on the host, from the GPU or to it.
  [[nodiscard]] Status fetch(const Range& range);
  [[nodiscard]] Status put_back(const Range& range);
  [[nodiscard]] std::span<float> host(const Range& range) { return gradients().subspan(range.first, range.count); }
  [[nodiscard]] FloatBuffer lent(const Range& range) const {
    return {.values = lent_.subspan(range.first, range.count), .memory = Memory::kDevice, .ready = range.ready};
  }
  [[nodiscard]] std::vector<Range> rest() const;
  [[nodiscard]] bool idle() const { return queue_.empty() && !busy_; }

  std::vector<float> memory_;  // the widest control word, then the gradients; of a lent buffer a copy if it is needed
  std::shared_ptr<Gpu> gpu_;   // of a lent buffer
  std::span<float> lent_;
  cuda::Event rest_ready_ = nullptr;
  std::size_t count_ = 0;

  std::shared_ptr<Comm> comm_;
  std::vector<Range> named_;  // in this step, sorted
  std::vector<Range> order_;  // the same as they were named
  std::vector<Range> last_;   // of the last step that was summed
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
