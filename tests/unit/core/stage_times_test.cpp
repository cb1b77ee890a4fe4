// Where the time of a decision goes, by a clock that moves on at each look.
#include <cstdint>

#include "core/codec/codec.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::test {
namespace {

using core::Stage;

TEST_CASE("time counts for the stage that was begun last, until another begins or none") {
  std::int64_t at = 0;
  core::StageTimes times([&] { return Instant::from_micros(at); });
  at = 5;
  times.begin(Stage::kPlan);
  at = 12;
  times.begin(Stage::kSize);
  at = 20;
  times.end();
  at = 100;
  times.begin(Stage::kPlan);
  at = 101;
  times.end();
  CHECK(times.of(Stage::kPlan) == Duration::micros(8));
  CHECK(times.of(Stage::kSize) == Duration::micros(8));
  CHECK(times.of(Stage::kReconcile) == Duration());
  times.clear();
  CHECK(times.of(Stage::kPlan) == Duration());
}

TEST_CASE("a decision tells how long its stages took, and is the same if they are not timed") {
  std::int64_t looks = 0;
  core::StageTimes times([&] { return Instant::from_micros(++looks); });
  Story story;
  story.node(4);
  story.submit({.max = 4});
  const core::Decision told = story.engine().decide(story.now(), &times);
  CHECK(core::to_json(told) == core::to_json(story.engine().decide(story.now())));
  CHECK(names_of(told) == "start");
  CHECK(looks == 4);  // three stages begin, the last one ends
  for (const Stage gone_through : {Stage::kTransitions, Stage::kReconcile, Stage::kSize}) {
    CHECK(times.of(gone_through) == Duration::micros(1));
  }
  for (const Stage left_out : {Stage::kPlan, Stage::kValidate}) {
    CHECK(times.of(left_out) == Duration());
  }
}

}  // namespace
}  // namespace tidepool::test
