// Makes the next share's batch ready in a thread of its own while the present step is computed. What was
// expected and what is asked for may differ (a worker came or died): then the batch is read at once.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "workers/trainer/data_set.hpp"

namespace tidepool::trainer {

class BatchLoader {
 public:
  // `data` outlives the loader.
  explicit BatchLoader(const DataSet& data);
  ~BatchLoader();
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  // The batch of these samples; valid until the next take().
  [[nodiscard]] Result<BatchView> take(const std::vector<std::uint64_t>& samples);

  // These are likely to be asked for next. Call after take(); replaces what was expected before.
  void expect(std::vector<std::uint64_t> samples);

  // How often take() found what it asked for ready or on its way.
  [[nodiscard]] std::int64_t hits() const { return hits_; }

 private:
  struct Filled {
    std::vector<std::uint64_t> samples;
    Batch batch;
    Status status = ok_status();

    void read(const DataSet& data, const std::vector<std::uint64_t>& wanted);
  };

  void work();

  const DataSet& data_;
  Filled present_;  // of the thread that takes
  std::int64_t hits_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::vector<std::uint64_t>> wanted_;  // to be read; the thread takes it
  bool reading_ = false;
  bool ready_ = false;  // `next_` is complete
  bool closing_ = false;
  Filled next_;  // the thread's while reading_, else guarded by the mutex
  std::thread thread_;
};

}  // namespace tidepool::trainer
