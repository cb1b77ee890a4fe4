#include "workers/trainer/batch_loader.hpp"

#include <utility>

namespace tidepool::trainer {

void BatchLoader::Filled::read(const DataSet& data, const std::vector<std::uint64_t>& wanted) {
  samples = wanted;
  status = data.fill(samples, batch);
}

BatchLoader::BatchLoader(const DataSet& data) : data_(data), thread_([this] { work(); }) {}

BatchLoader::~BatchLoader() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Result<BatchView> BatchLoader::take(const std::vector<std::uint64_t>& samples) {
  if (present_.samples == samples && present_.status.ok()) return present_.batch.view();  // a step is repeated
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !wanted_ && !reading_; });
    if (ready_ && next_.samples == samples) {
      ready_ = false;
      ++hits_;
      std::swap(present_, next_);
      TP_TRY(present_.status);
      return present_.batch.view();
    }
  }
  present_.read(data_, samples);
  TP_TRY(present_.status);
  return present_.batch.view();
}

void BatchLoader::expect(std::vector<std::uint64_t> samples) {
  {
    const std::lock_guard lock(mutex_);
    wanted_ = std::move(samples);
  }
  changed_.notify_all();
}

void BatchLoader::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return closing_ || wanted_; });
    if (closing_) return;
    const auto samples = *std::exchange(wanted_, std::nullopt);
    reading_ = true;
    ready_ = false;
    lock.unlock();
    next_.read(data_, samples);
    lock.lock();
    reading_ = false;
    ready_ = true;
    changed_.notify_all();
  }
}

}  // namespace tidepool::trainer
