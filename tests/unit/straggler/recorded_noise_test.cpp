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

std::shared_ptr<const Detector> default_detector() {
  for (const auto& entry : kDetectors) {
    if (entry.name == kDefaultDetector) return entry.make();
  }
  return nullptr;
}

TEST_CASE("the default detector names nobody in recorded noise") {
  for (const char* recording : kCalm) {
    CAPTURE(recording);
    const auto recorded = test::read_compute_times(recording);
    RecordedNoise noise(recorded, 1);
    JudgedCrew crew(default_detector(), noise.ranks());
    for (int step = 0; step < 10'000; ++step) {
      crew.step(noise.next());
      REQUIRE_FALSE(crew.anybody_slow());
    }
  }
}

TEST_CASE("in recorded noise half again as slow is named within 10 steps and a tenth slower within 60") {
  for (const char* recording : kCalm) {
    const auto recorded = test::read_compute_times(recording);
    for (const auto& [slowness, within] : {std::pair{1.5, 10}, std::pair{1.1, 60}}) {
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        CAPTURE(recording, slowness, seed);
        RecordedNoise noise(recorded, seed);
        JudgedCrew crew(default_detector(), noise.ranks());
        for (int step = 0; step < 300; ++step) crew.step(noise.next());
        const std::size_t slow = seed % noise.ranks();
        int steps = 0;
        while (steps <= within && (steps == 0 || !crew.of(slow).slow)) {
          auto times = noise.next();
          times[slow] = static_cast<std::int64_t>(static_cast<double>(times[slow]) * slowness);
          crew.step(times);
          ++steps;
        }
        CHECK(steps <= within);
      }
    }
  }
}

}  // namespace
}  // namespace tidepool::straggler
