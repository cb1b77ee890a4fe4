#include "straggler/relative_times.hpp"

#include <catch2/catch.hpp>

namespace tidepool::straggler {
namespace {

TEST_CASE("each rank is held against the median of the others") {
  CHECK(relative_times({{50, 100}, {}}) == std::vector<double>{0.5, 2});
  // The others of rank 0 are 20, 30 and 40; those of rank 3 are 10, 20 and 30.
  CHECK(relative_times({{10, 20, 30, 40}, {}}) == std::vector<double>{10.0 / 30, 20.0 / 30, 30.0 / 20, 40.0 / 20});
  // An even number of others: the mean of the middle two.
  CHECK(relative_times({{10, 20, 60}, {}}) == std::vector<double>{10.0 / 40, 20.0 / 35, 60.0 / 15});
  CHECK(relative_times({{7, 7, 7, 7, 7}, {}}) == std::vector<double>(5, 1.0));
}

TEST_CASE("one of equal times is left out, not all of them") {
  CHECK(relative_times({{30, 30, 10}, {}}) == std::vector<double>{1.5, 1.5, 10.0 / 30});
}

TEST_CASE("a longer step with as many more samples is not slow") {
  const auto times = relative_times({{40, 30, 30}, {4, 3, 3}});
  CHECK(times[0] == Approx(1));  // 1.33 by the step, 1 by the sample
  CHECK(times[1] == Approx(30.0 / 35));
}

TEST_CASE("a cost that does not grow with the samples makes no worker slow by the sample") {
  CHECK(relative_times({{30, 30, 30}, {2, 2, 1}}) == std::vector<double>{2.0 / 3, 2.0 / 3, 1});
}

TEST_CASE("a slow rank stays slow when its share differs a little") {
  CHECK(relative_times({{101, 50, 50}, {101, 100, 100}})[0] == Approx(2));
}

TEST_CASE("a step that cannot be judged says nothing") {
  CHECK(relative_times({{50}, {}}) == std::vector<double>{0});
  CHECK(relative_times({{}, {}}).empty());
  CHECK(relative_times({{50, 0}, {}}) == std::vector<double>{0, 0});
  CHECK(relative_times({{50, -1, 50}, {}}) == std::vector<double>{0, 0, 0});
  CHECK(relative_times({{50, 50}, {1, 0}}) == std::vector<double>{0, 0});
}

}  // namespace
}  // namespace tidepool::straggler
