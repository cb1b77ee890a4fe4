// Prepares the next share's batch in a thread of its own while the present step is computed. If the samples requested
// differ from those expected (a worker joined or died), the batch is read at once.
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

  // The samples that will probably be requested next. Call after take(); replaces earlier expectations.
  void expect(std::vector<std::uint64_t> samples);

  // How often take() found its batch ready or being read.
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
  Filled present_;  // used by the thread that calls take()
  std::int64_t hits_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::vector<std::uint64_t>> wanted_;  // to be read; the loader's thread takes it
  bool reading_ = false;
  bool ready_ = false;  // `next_` is complete
  bool closing_ = false;
  Filled next_;  // owned by the loader's thread while reading_, else guarded by the mutex
  std::thread thread_;
};

}  // namespace tidepool::trainer
