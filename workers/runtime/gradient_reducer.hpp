// Sums the gradient buffer over the workers, bucket by bucket, in a thread of its own while the program computes the
// rest. It runs the collectives one after another, in the order in which the buckets were named, so every rank runs the
// same collectives and a generation adds in the same order at every step.
//
// The control word lies directly before the first gradient and is summed with the bucket that begins there, because the
// backward pass reaches that bucket last. The bucket that completes the buffer therefore waits for finish().
//
// The buffer is either ordinary memory that the reducer owns, or the program's memory on the GPU. In GPU memory each
// bucket is summed in place, after the work that the program's stream contained when the bucket was named; only the
// control word is on the host. Over a communicator without GPU support the buckets go through ordinary memory.
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

  // Call once, with a count above 0; the buffer then keeps its place.
  void allocate(std::size_t count);
  [[nodiscard]] std::span<float> gradients();
  // Call instead of allocate(). `values` are on the GPU; the program owns them and keeps them in place.
  void lend(std::shared_ptr<Gpu> gpu, std::span<float> values);
  // The gradients for reading on the host, after finish(); for a buffer on the GPU this is a copy.
  [[nodiscard]] Result<std::span<const float>> on_host();

  // The control word for `size` ranks; the caller writes it between drain() and finish().
  [[nodiscard]] std::span<float> word(int size);

  // Begins a step over `comm` with no buckets named. All work of the previous step must have ended or failed.
  void begin_step(std::shared_ptr<Comm> comm);

  // Floats [first, first + count) are final here. kInvalidArgument: outside the buffer, or named before.
  [[nodiscard]] Status add(std::size_t first, std::size_t count);

  // Repeats the buckets of the last step that was summed, over the same `comm`, for a rank that computes nothing.
  [[nodiscard]] Status repeat_step(std::shared_ptr<Comm> comm);

  // Waits until the buckets in progress are summed; returns the error of the first that failed.
  [[nodiscard]] Status drain();
  // Sums the rest and, last, the control word. Requires a drain() that succeeded.
  [[nodiscard]] Status finish();

  // Sums of squares of the step's gradients, of this rank alone and over all ranks: only if requested before the step's
  // first bucket. The first is complete after drain(), the second after finish().
  void measure_squares(bool on);
  [[nodiscard]] double own_square() const { return own_square_; }
  [[nodiscard]] double total_square() const { return total_square_; }

 private:
  struct Range {
    std::size_t first = 0;
    std::size_t count = 0;
    cuda::Event ready = nullptr;  // for a lent buffer: recorded after the work that the program had enqueued
    [[nodiscard]] std::size_t end() const { return first + count; }
  };

  void run();
  [[nodiscard]] Status sum(const Range& range);
  [[nodiscard]] Status sum_last(std::size_t with_word);
  [[nodiscard]] Status count_own(const Range& range);
  [[nodiscard]] Status count_total(const Range& range);
  [[nodiscard]] Status mark(Range& range);
  // For a lent buffer: copies the range from the GPU to the copy on the host, or back.
  [[nodiscard]] Status fetch(const Range& range);
  [[nodiscard]] Status put_back(const Range& range);
  [[nodiscard]] std::span<float> host(const Range& range) { return gradients().subspan(range.first, range.count); }
  [[nodiscard]] FloatBuffer lent(const Range& range) const {
    return {.values = lent_.subspan(range.first, range.count), .memory = Memory::kDevice, .ready = range.ready};
  }
  [[nodiscard]] std::vector<Range> rest() const;
  [[nodiscard]] bool idle() const { return queue_.empty() && !busy_; }

  // The widest control word, then the gradients; for a lent buffer a copy, if one is needed.
  std::vector<float> memory_;
  std::shared_ptr<Gpu> gpu_;  // for a lent buffer
  std::span<float> lent_;
  cuda::Event rest_ready_ = nullptr;
  std::size_t count_ = 0;

  std::shared_ptr<Comm> comm_;
  std::vector<Range> named_;  // in this step, sorted
  std::vector<Range> order_;  // the same in the order in which they were named
  std::vector<Range> last_;   // of the last step that was summed
  std::size_t covered_ = 0;   // floats in `named_`
  bool measures_ = false;
  double own_square_ = 0;  // written by the summing thread: by thread_, and by the caller once thread_ is idle
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
