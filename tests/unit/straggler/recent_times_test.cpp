// The ring of newest times against its own definition: means of several windows at once have the bits of one alone.
#include "straggler/recent_times.hpp"

#include <catch2/catch.hpp>

#include "base/rng.hpp"

namespace tidepool::straggler {
namespace {

TEST_CASE("means of several windows in one pass are those of each window alone, bit by bit") {
  constexpr std::array<std::int64_t, 4> kWindows{3, 4, 9, 20};
  constexpr std::array<double, 4> kClips{0.5, 0.25, 0.125, 2};
  Rng rng(7);
  std::vector<double> ring(20);
  std::vector<double> all;
  RecentTimes recent(ring, 0);
  for (int step = 0; step < 75; ++step) {
    all.push_back(rng.normal());
    recent.push(all.back());
    std::size_t known = 0;
    while (known < kWindows.size() && kWindows[known] <= recent.count()) ++known;
    const auto means = recent.clipped_means(kWindows, kClips, known, 0.1);
    for (std::size_t each = 0; each < known; ++each) {
      double sum = 0;
      for (auto i = all.end() - kWindows[each]; i != all.end(); ++i) {
        sum += std::clamp(*i - 0.1, -kClips[each], kClips[each]);
      }
      CHECK(means[each] == sum / static_cast<double>(kWindows[each]));
      CHECK(recent.clipped_mean(kWindows[each], 0.1, kClips[each]) == means[each]);
    }
  }
}

TEST_CASE("the median is that of the newest values, also where the ring begins anew") {
  std::vector<double> ring(40);
  RecentTimes recent(ring, 0);
  for (int step = 1; step <= 55; ++step) recent.push(step);
  CHECK(recent.median(5) == 53);
  CHECK(recent.median(30) == 40.5);
  CHECK(recent.median(40) == 35.5);
}

}  // namespace
}  // namespace tidepool::straggler
