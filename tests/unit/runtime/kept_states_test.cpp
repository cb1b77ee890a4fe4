// A parked state beside a checkpoint that is being written.
#include "workers/runtime/kept_states.hpp"

#include <catch2/catch.hpp>

#include "tests/support/temporary_folder.hpp"

namespace tidepool::runtime {
namespace {

constexpr std::size_t kBytes = 32U << 20U;  // long enough to write that the two would meet

}  // namespace

TEST_CASE("a state is parked whole while a checkpoint of the same step is being written") {
  const test::TemporaryFolder folder;
  std::vector<std::byte> weights(kBytes, std::byte{7});
  ReplicaState replica;
  replica.add("weights", weights);
  SavedStates kept({.checkpoint_folder = folder.path(), .owner = "cluster/job-3"}, WorkerId(1), replica, 100);
  for (std::int64_t step = 1; step <= 3; ++step) {
    CAPTURE(step);
    std::atomic<bool> written{false};
    kept.take({.has_state = true, .steps = step}, [&](const Result<SavedState>& state) { written = state.ok(); });
    const auto parked = kept.park({.has_state = true, .steps = step});
    REQUIRE(parked.ok());
    CHECK(written);
    CHECK(parked->step == step);
    const auto file = CheckpointFile::open(parked->path);
    REQUIRE(file.ok());
    const auto bytes = file->read();
    REQUIRE(bytes.ok());
    CHECK(*bytes == weights);
  }
}

}  // namespace tidepool::runtime
