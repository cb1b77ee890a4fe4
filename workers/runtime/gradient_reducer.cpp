#include "workers/runtime/gradient_reducer.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "workers/runtime/control_word.hpp"
#include "workers/runtime/numerics/noise_scale.hpp"

namespace tidepool::runtime {
namespace {

constexpr std::size_t kFirstMark = 1;    // mark 0 belongs to the state
constexpr std::size_t kLineFloats = 16;  // gradients begin at a multiple of this: 64 bytes

std::size_t word_room() {
  return (control_word_floats(kRanksMax) + kLineFloats - 1) / kLineFloats * kLineFloats;
}

}  // namespace

GradientReducer::~GradientReducer() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    queue_.clear();
  }
  changed_.notify_all();
  thread_.join();
}

void GradientReducer::allocate(std::size_t count) {
  TP_CHECK(count_ == 0 || count_ == count, "the gradient buffer keeps its length");
  if (count_ == count) return;
  count_ = count;
  memory_.resize(word_room() + count);
}

std::span<float> GradientReducer::gradients() {
  if (gpu_ && memory_.size() < word_room() + count_) memory_.resize(word_room() + count_);
  return std::span(memory_).last(count_);
}

void GradientReducer::lend(std::shared_ptr<Gpu> gpu, std::span<float> values) {
  TP_CHECK(count_ == 0 && !values.empty(), "one gradient buffer, lent once");
  gpu_ = std::move(gpu);
  lent_ = values;
  count_ = values.size();
  memory_.resize(word_room());
}

Result<std::span<const float>> GradientReducer::on_host() {
  if (gpu_) TP_TRY(fetch({.first = 0, .count = count_, .ready = rest_ready_}));
  return std::span<const float>(gradients());
}

std::span<float> GradientReducer::word(int size) {
  if (memory_.empty()) memory_.resize(word_room());  // even a program without gradients has a word
  const std::size_t length = control_word_floats(size);
  return std::span(memory_).subspan(word_room() - length, length);
}

void GradientReducer::begin_step(std::shared_ptr<Comm> comm) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return idle(); });
  comm_ = std::move(comm);
  named_.clear();
  order_.clear();
  covered_ = 0;
  own_square_ = 0;
  total_square_ = 0;
  measures_ = false;
  rest_is_counted_ = false;
  status_ = ok_status();
}

void GradientReducer::measure_squares(bool on) {
  TP_CHECK(named_.empty(), "squares are asked for before the first bucket");
  measures_ = on;
}

Status GradientReducer::add(std::size_t first, std::size_t count) {
  if (count == 0 || first >= count_ || count > count_ - first) {
    return invalid_argument("a bucket of " + std::to_string(count) + " floats at " + std::to_string(first) +
                            " does not lie inside the gradient buffer of " + std::to_string(count_));
  }
  Range range{.first = first, .count = count};
  const auto after = std::find_if(named_.begin(), named_.end(), [&](const Range& r) { return r.first >= first; });
  const bool overlaps = (after != named_.end() && after->first < range.end()) ||
                        (after != named_.begin() && std::prev(after)->end() > first);
  if (overlaps) {
    return invalid_argument("gradient " + std::to_string(first) + " is in two buckets of one step: name each once");
  }
  if (covered_ + count == count_) return ok_status();  // completes the buffer: finish() sums it
  TP_TRY(mark(range));
  named_.insert(after, range);
  order_.push_back(range);
  covered_ += count;
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(range);
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.notify_all();
  return ok_status();
}

Status GradientReducer::repeat_step(std::shared_ptr<Comm> comm) {
  begin_step(std::move(comm));
  for (const Range& range : std::vector<Range>(last_)) TP_TRY(add(range.first, range.count));
  return ok_status();
}

// Each bucket of a step has its own mark; the marks of the previous step were reached long ago.
Status GradientReducer::mark(Range& range) {
  if (!gpu_) return ok_status();
  const auto mark = gpu_->mark(kFirstMark + named_.size());
  if (!mark.ok()) return mark.error();
  range.ready = *mark;
  return ok_status();
}

void GradientReducer::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    const Range range = queue_.front();
    queue_.pop_front();
    if (status_.ok()) {  // after a failure the other ranks no longer take part
      busy_ = true;
      lock.unlock();
      Status status = count_own(range);
      if (status.ok()) status = sum(range);
      lock.lock();
      busy_ = false;
      status_ = std::move(status);
    }
    changed_.notify_all();
  }
}

Status GradientReducer::count_own(const Range& range) {
  if (!measures_) return ok_status();
  if (gpu_) TP_TRY(fetch(range));
  own_square_ += square_of(host(range));
  return ok_status();
}

Status GradientReducer::count_total(const Range& range) {
  if (!measures_) return ok_status();
  if (gpu_ && comm_->takes_device_memory()) TP_TRY(fetch(range));
  total_square_ += square_of(host(range));
  return ok_status();
}

Status GradientReducer::fetch(const Range& range) {
  const auto* at = reinterpret_cast<const std::byte*>(lent_.data() + range.first);
  return gpu_->read(std::as_writable_bytes(host(range)), at, range.ready);
}

Status GradientReducer::put_back(const Range& range) {
  auto* at = reinterpret_cast<std::byte*>(lent_.data() + range.first);
  return gpu_->write(at, std::as_bytes(host(range)));
}

Status GradientReducer::sum(const Range& range) {
  if (gpu_ && comm_->takes_device_memory()) {
    const FloatBuffer part = lent(range);
    TP_TRY(comm_->allreduce_parts({&part, 1}));
    return count_total(range);
  }
  if (gpu_) TP_TRY(fetch(range));
  TP_TRY(comm_->allreduce(host(range)));
  if (gpu_) TP_TRY(put_back(range));
  return count_total(range);
}

std::vector<GradientReducer::Range> GradientReducer::rest() const {
  std::vector<Range> ranges;
  std::size_t begin = 0;
  for (const Range& range : named_) {
    if (range.first > begin) ranges.push_back({begin, range.first - begin, rest_ready_});
    begin = range.end();
  }
  if (begin < count_) ranges.push_back({begin, count_ - begin, rest_ready_});
  return ranges;
}

Status GradientReducer::drain() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return idle(); });
    TP_TRY(status_);
  }
  if (gpu_) {
    Range rest_of_step;
    TP_TRY(mark(rest_of_step));
    rest_ready_ = rest_of_step.ready;
  }
  if (measures_ && !std::exchange(rest_is_counted_, true)) {
    for (const Range& range : rest()) TP_TRY(count_own(range));
  }
  return ok_status();
}

Status GradientReducer::finish() {
  std::vector<Range> ranges = rest();
  std::size_t with_word = 0;  // gradients that are summed with the control word
  if (!ranges.empty() && ranges.front().first == 0) {
    with_word = ranges.front().count;
    ranges.erase(ranges.begin());
  }
  for (const Range& range : ranges) TP_TRY(sum(range));
  TP_TRY(sum_last(with_word));
  last_ = order_;
  return ok_status();
}

Status GradientReducer::sum_last(std::size_t with_word) {
  const Range first{.first = 0, .count = with_word, .ready = rest_ready_};
  const std::size_t length = word(comm_->size()).size();
  if (comm_->takes_device_memory()) {
    // Separately, because another rank's gradients may not be adjacent to its word.
    if (with_word > 0) TP_TRY(sum(first));
    return comm_->allreduce(word(comm_->size()));
  }
  if (gpu_ && with_word > 0) TP_TRY(fetch(first));
  TP_TRY(comm_->allreduce(std::span(memory_).subspan(word_room() - length, length + with_word)));
  if (gpu_ && with_word > 0) TP_TRY(put_back(first));
  return with_word > 0 ? count_total(first) : ok_status();
}

}  // namespace tidepool::runtime
