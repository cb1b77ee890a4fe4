// What the default detector promises, on noise of real runs. tools/bench straggler has the long version.
#include "tests/support/recorded_noise.hpp"

#include <catch2/catch.hpp>

#include "straggler/registry.hpp"
#include "tests/support/judged_crew.hpp"

namespace tidepool::straggler {
namespace {

using test::JudgedCrew;
using test::RecordedNoise;

constexpr const char* kCalm[] = {"compute_us_2_ranks_calm", "compute_us_4_ranks_calm"};
constexpr const char* kBusy[] = {"compute_us_2_ranks_busy",      "compute_us_4_ranks_busy",
                                 "compute_us_2_ranks_busier",    "compute_us_3_ranks_busier",
                                 "compute_us_4_ranks_busier",    "compute_us_2_ranks_busy_again",
                                 "compute_us_3_ranks_busy_again"};
// In one stretch of it a worker of four really computes far longer than the others for dozens of steps.
constexpr const char* kStretched = "compute_us_4_ranks_busy_again";

std::shared_ptr<const Detector> default_detector() {
  for (const auto& entry : kDetectors) {
    if (entry.name == kDefaultDetector) return entry.make();
  }
  return nullptr;
}

int names_given(const char* recording, int steps, std::uint64_t seed = 1) {
  const auto recorded = test::read_compute_times(recording);
  RecordedNoise noise(recorded, seed);
  JudgedCrew crew(default_detector(), noise.ranks());
  std::vector<bool> named(noise.ranks());
  int names = 0;
  for (int step = 0; step < steps; ++step) {
    crew.step(noise.next());
    for (std::size_t rank = 0; rank < noise.ranks(); ++rank) {
      names += crew.of(rank).slow && !named[rank] ? 1 : 0;
      named[rank] = crew.of(rank).slow;
    }
  }
  return names;
}

void check_none_named(const char* recording, int steps) {
  CAPTURE(recording);
  CHECK(names_given(recording, steps) == 0);
}

TEST_CASE("the default detector names no worker in recorded noise") {
  for (const char* recording : kCalm) check_none_named(recording, 10'000);
}

TEST_CASE("the default detector names no worker while compilers compete with the workers for cores") {
  for (const char* recording : kBusy) check_none_named(recording, 20'000);
  CHECK(names_given(kStretched, 20'000) <= 1);
}

TEST_CASE("a crew that has just begun, of whose noise nothing is learned yet, is not accused of it") {
  constexpr int kNothingLearned = 256;  // steps
  for (const char* recording : {"compute_us_3_ranks_busier", "compute_us_3_ranks_busy_again", kStretched}) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      CAPTURE(recording, seed);
      CHECK(names_given(recording, kNothingLearned, seed) == 0);
    }
  }
}

// Steps until the slow worker is named; `limit` + 1 = not within `limit`.
int steps_until_named(const test::ComputeTimes& recorded, double slowness, int limit, std::uint64_t seed) {
  RecordedNoise noise(recorded, seed);
  JudgedCrew crew(default_detector(), noise.ranks());
  for (int step = 0; step < 300; ++step) crew.step(noise.next());
  const std::size_t slow = seed % noise.ranks();
  int steps = 0;
  while (steps <= limit && (steps == 0 || !crew.of(slow).slow)) {
    auto times = noise.next();
    times[slow] = static_cast<std::int64_t>(static_cast<double>(times[slow]) * slowness);
    crew.step(times);
    ++steps;
  }
  return steps;
}

TEST_CASE("in recorded noise half again as slow is named within 10 steps and a tenth slower within 60") {
  for (const char* recording : kCalm) {
    const auto recorded = test::read_compute_times(recording);
    for (const auto& [slowness, within] : {std::pair{1.5, 10}, std::pair{1.1, 60}}) {
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        CAPTURE(recording, slowness, seed);
        CHECK(steps_until_named(recorded, slowness, within, seed) <= within);
      }
    }
  }
}

TEST_CASE("on busy cores twice as slow is named all the same") {
  for (const char* recording : {"compute_us_2_ranks_busy", "compute_us_4_ranks_busy"}) {
    const auto recorded = test::read_compute_times(recording);
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      CAPTURE(recording, seed);
      CHECK(steps_until_named(recorded, 2, 100, seed) <= 100);
    }
  }
}

}  // namespace
}  // namespace tidepool::straggler
