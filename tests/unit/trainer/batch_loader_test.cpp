#include <catch2/catch.hpp>

#include <atomic>
#include <semaphore>

#include "workers/trainer/batch_loader.hpp"

namespace tidepool::trainer {
namespace {

using Samples = std::vector<std::uint64_t>;

// Sample k is the class k; counts its readers, and can hold them up.
class Numbers final : public DataSet {
 public:
  [[nodiscard]] std::uint64_t samples() const override { return 100; }
  [[nodiscard]] int inputs() const override { return 1; }
  [[nodiscard]] int classes() const override { return 100; }
  [[nodiscard]] Status fill(std::span<const std::uint64_t> samples, Batch& batch) const override {
    ++reads;
    if (gate != nullptr) gate->acquire();
    batch.classes.assign(samples.begin(), samples.end());
    for (const std::uint64_t sample : samples) {
      if (sample >= 100) return invalid_argument("sample " + std::to_string(sample) + " is damaged");
    }
    return ok_status();
  }
  mutable std::atomic<int> reads{0};
  std::counting_semaphore<>* gate = nullptr;
};

std::vector<int> classes_of(const Result<BatchView>& batch) {
  REQUIRE(batch.ok());
  return {batch->classes.begin(), batch->classes.end()};
}

}  // namespace

TEST_CASE("what was expected is read once, ahead of its time") {
  const Numbers data;
  BatchLoader loader(data);
  CHECK(classes_of(loader.take({1, 2})) == std::vector<int>{1, 2});
  CHECK(loader.hits() == 0);
  loader.expect({3, 4});
  CHECK(classes_of(loader.take({3, 4})) == std::vector<int>{3, 4});
  CHECK(loader.hits() == 1);
  CHECK(data.reads == 2);
}

TEST_CASE("the next batch is read while the present one is still in use") {
  std::counting_semaphore<> gate(1);
  Numbers data;
  data.gate = &gate;
  BatchLoader loader(data);
  const auto present = loader.take({1});
  loader.expect({2});
  CHECK(classes_of(present) == std::vector<int>{1});  // though the other thread is at work
  gate.release();
  CHECK(classes_of(loader.take({2})) == std::vector<int>{2});
  CHECK(loader.hits() == 1);
}

TEST_CASE("a share that was not expected is read at once, and not again for a retry") {
  const Numbers data;
  BatchLoader loader(data);
  CHECK(classes_of(loader.take({5})) == std::vector<int>{5});
  loader.expect({7});
  CHECK(classes_of(loader.take({5})) == std::vector<int>{5});  // the step is tried again
  CHECK(classes_of(loader.take({7})) == std::vector<int>{7});  // what was read ahead is not lost
  CHECK(loader.hits() == 1);
  CHECK(data.reads == 2);
}

TEST_CASE("only the newest expectation counts") {
  const Numbers data;
  BatchLoader loader(data);
  loader.expect({1});
  loader.expect({2});
  CHECK(classes_of(loader.take({2})) == std::vector<int>{2});
  CHECK(loader.hits() == 1);
}

TEST_CASE("damaged data is an error when it is asked for, not when it is read ahead") {
  const Numbers data;
  BatchLoader loader(data);
  loader.expect({200});
  CHECK(loader.take({1}).ok());
  loader.expect({200});
  const auto bad = loader.take({200});
  REQUIRE(!bad.ok());
  CHECK(bad.error().message == "sample 200 is damaged");
  CHECK(loader.take({1}).ok());
}

TEST_CASE("a loader may be closed while it reads, or with nothing ever asked") {
  const Numbers data;
  for (int i = 0; i < 50; ++i) {
    BatchLoader loader(data);
    if (i % 2 == 0) loader.expect({1, 2, 3});
  }
}

}  // namespace tidepool::trainer
