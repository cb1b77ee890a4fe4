#include "policies/size/autoscaling_engine.hpp"

#include <catch2/catch.hpp>

#include "core/state/measured/type_records.hpp"
#include "policies/size/scaling_evidence.hpp"
#include "policies/size/size_limits.hpp"
#include "tests/support/job_records.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::policies {
namespace {

using test::JobWorld;

const AutoscalingEngine kEngine;
const std::vector<int> kOneToEight{1, 2, 3, 4, 5, 6, 7, 8};

TEST_CASE("a waiting job starts at its preferred size") {
  JobWorld world({1, 2, 4}, 2);
  const auto wish = world.ask(kEngine);
  CHECK(wish.size == 2);
  CHECK(test::says<core::reason::Started>(wish.reason));
}

TEST_CASE("a size is not judged before it has been measured for every_steps steps") {
  JobWorld world({1, 2, 4});
  world.at(2).measured(1, 100).measured(2, 101);
  world.job.measurements.steps_since_switch = 19;
  const auto wish = world.ask(kEngine);
  CHECK(wish.size == 2);
  CHECK(test::says<core::reason::Measuring>(wish.reason));
  CHECK(test::number_in(wish.reason, "steps") == 19);
  CHECK(test::number_in(wish.reason, "of") == 20);
}

TEST_CASE("rule 1: with one size measured, N workers are added") {
  JobWorld world(kOneToEight);
  world.job.spec.scaling.spawn_size = 2;
  const auto wish = world.at(1).measured(1, 100).ask(kEngine);
  CHECK(wish.size == 3);
  CHECK(test::says<core::reason::ExploreUp>(wish.reason));
}

TEST_CASE("rule 1: with one size measured at the maximum, N workers are taken away") {
  JobWorld world({1, 2, 4});
  const auto wish = world.at(4).measured(4, 100).ask(kEngine);
  CHECK(wish.size == 2);
  CHECK(test::says<core::reason::GatherEvidence>(wish.reason));
}

TEST_CASE("rule 3: while all steps pay, the job goes to the largest measured size plus N") {
  JobWorld world(kOneToEight);
  const auto wish = world.at(2).measured(1, 100).measured(2, 190).ask(kEngine);
  CHECK(wish.size == 3);
  CHECK(test::says<core::reason::EfficientUp>(wish.reason));
  CHECK(test::number_in(wish.reason, "efficiency") == Approx(0.9));
}

TEST_CASE("the efficiency of a step counts each added worker against the mean of those before") {
  JobWorld world({2, 6});
  // ((300 - 200) / 4) / (200 / 2) = 0.25
  const auto wish = world.at(6).measured(2, 200).measured(6, 300).ask(kEngine);
  CHECK(test::says<core::reason::AtMax>(wish.reason));
  REQUIRE(wish.lost.size() == 1);
  CHECK(wish.lost[0].size == 2);
  CHECK(wish.lost[0].score == Approx(-(0.25 - 0.1)));
  CHECK(test::number_in(wish.lost[0].reason, "efficiency") == Approx(0.25));
}

TEST_CASE("rule 4: when an early step does not pay and smaller sizes are unmeasured, the job explores downwards") {
  JobWorld world({1, 2, 4}, 2);
  const auto wish = world.at(4).measured(2, 100).measured(4, 102).ask(kEngine);
  CHECK(wish.size == 1);
  CHECK(test::says<core::reason::ExploreDown>(wish.reason));
}

TEST_CASE("rule 4: a failure beyond the first three steps does not send the job downwards") {
  JobWorld world(kOneToEight, 2);
  world.at(6).measured(2, 200).measured(3, 300).measured(4, 400).measured(5, 500).measured(6, 501);
  const auto wish = world.ask(kEngine);
  CHECK(wish.size == 5);
  CHECK(test::says<core::reason::InefficientDown>(wish.reason));
}

TEST_CASE("rule 5: the job keeps the size before the first step that does not pay") {
  JobWorld world(kOneToEight);
  world.measured(1, 100).measured(2, 180).measured(3, 182);
  SECTION("from above it comes down") {
    const auto wish = world.at(3).ask(kEngine);
    CHECK(wish.size == 2);
    CHECK(test::says<core::reason::InefficientDown>(wish.reason));
    CHECK(test::number_in(wish.reason, "efficiency") == Approx((182.0 - 180) / 90));
  }
  SECTION("there it stays, and names the step that lost") {
    const auto wish = world.at(2).ask(kEngine);
    CHECK(wish.size == 2);
    CHECK(test::says<core::reason::EfficiencySettled>(wish.reason));
    CHECK(test::number_in(wish.reason, "next") == 3);
    CHECK(wish.lost.size() == 2);
  }
  SECTION("from below it goes up") {
    const auto wish = world.at(1).ask(kEngine);
    CHECK(wish.size == 2);
    CHECK(test::says<core::reason::EfficientUp>(wish.reason));
  }
}

TEST_CASE("rule 5: the next size is measured for min(100, 5 K) steps before it is given up") {
  JobWorld world({1, 2, 3});
  SECTION("it stays until the evidence is in") {
    const auto wish = world.measured(1, 100).measured(2, 101, 20).at(2).ask(kEngine);
    CHECK(wish.size == 2);
    CHECK(test::says<core::reason::Measuring>(wish.reason));
    CHECK(test::number_in(wish.reason, "of") == 100);
  }
  SECTION("it goes back for it") {
    const auto wish = world.measured(1, 100).measured(2, 101, 20).at(1).ask(kEngine);
    CHECK(wish.size == 2);
    CHECK(test::says<core::reason::GatherEvidence>(wish.reason));
  }
  SECTION("a small K asks for less") {
    world.job.spec.scaling.every_steps = 4;
    CHECK(world.measured(1, 100).measured(2, 101, 20).at(2).ask(kEngine).size == 1);
  }
}

TEST_CASE("a record older than the horizon is no longer evidence, and is renewed once") {
  JobWorld world({1, 2, 3});
  world.measured(1, 100'000).measured(2, 101'000);
  world.now = world.now + ScalingEvidence::kTrustFor;
  CHECK(test::says<core::reason::EfficiencySettled>(world.measured(1, 100'000).at(1).ask(kEngine).reason));
  world.now = world.now + Duration::seconds(1);
  CHECK(test::says<core::reason::GatherEvidence>(world.measured(1, 100'000).at(1).ask(kEngine).reason));
  world.measured(2, 101'000);
  CHECK(world.at(2).ask(kEngine).size == 1);
  CHECK(test::says<core::reason::EfficiencySettled>(world.at(1).ask(kEngine).reason));
}

TEST_CASE("evidence is not renewed more often than a hundredth of the time allows") {
  JobWorld world({1, 2, 3});
  world.measured(1, 1).measured(2, 1.01);  // a step takes over an hour
  world.now = world.now + Duration::seconds(4'000);
  CHECK(test::says<core::reason::EfficiencySettled>(world.measured(1, 1).at(1).ask(kEngine).reason));
}

TEST_CASE("coming back up to a size needs more than noise") {
  JobWorld world({1, 2});
  world.measured(1, 100).measured(2, 111);  // efficiency 0.11, just above the threshold
  CHECK(world.at(2).ask(kEngine).size == 2);
  CHECK(world.at(1).ask(kEngine).size == 1);
  world.measured(2, 113);
  CHECK(world.at(1).ask(kEngine).size == 2);
}

TEST_CASE("a change that costs more time than it brings is not made") {
  JobWorld world({1, 2});
  world.job.spec.work_samples = 1'000;
  world.job.progress.samples = 900;
  world.at(1).measured(1, 100);  // a second of work is left; a second worker could save half of it
  const auto wish = world.ask(kEngine);
  CHECK(wish.size == 1);
  CHECK(test::says<core::reason::TransitionTooDear>(wish.reason));
  CHECK(test::number_in(wish.reason, "gain_s") == Approx(0.5));
  CHECK(test::number_in(wish.reason, "stall_s") == Approx(2));
  SECTION("unless changes have been found to be cheap") {
    world.job.measurements.grow_cost = {.count = 3, .mean_stall_ms = 40};
    world.job.measurements.shrink_cost = {.count = 2, .mean_stall_ms = 20};
    CHECK(world.ask(kEngine).size == 2);
  }
}

TEST_CASE("a change is weighed by what changes to that size have cost, not by the mean of all sizes") {
  const auto world_of = [](int small, int large, std::int64_t samples) {
    JobWorld world({small, large});
    for (int i = 0; i < 3; ++i) core::note_cost(world.job.measurements.grow_cost, 2, 100);
    core::note_cost(world.job.measurements.grow_cost, 16, 29'700);  // 7.5 s in the mean
    world.job.spec.work_samples = samples;
    return world;
  };
  SECTION("a cheap one is made for a small gain") {
    auto world = world_of(1, 2, 1'000);
    CHECK(world.measured(1, 100).measured(2, 190).at(1).ask(kEngine).size == 2);  // 4.7 s are saved
  }
  SECTION("a dear one is not, though others were cheap") {
    auto world = world_of(2, 16, 2'000);
    const auto wish = world.measured(2, 190).measured(16, 1'500).at(2).ask(kEngine);  // 9.2 s would be
    CHECK(wish.size == 2);
    CHECK(test::says<core::reason::TransitionTooDear>(wish.reason));
    CHECK(test::number_in(wish.reason, "stall_s") == Approx(29.7));
  }
  SECTION("a program that is started anew, likewise") {
    auto world = world_of(2, 16, 2'000);
    world.job.spec.resize = core::ResizeMode::kRestart;
    core::note_cost(world.job.measurements.restart_cost, 2, 1'000);
    core::note_cost(world.job.measurements.restart_cost, 16, 10'000);
    CHECK(world.measured(2, 190).measured(16, 1'500).at(2).ask(kEngine).size == 2);
  }
}

TEST_CASE("past the end of its declared work a job changes nothing") {
  JobWorld world({1, 2});
  world.job.spec.work_samples = 1'000;
  world.job.progress.samples = 1'200;
  CHECK(test::says<core::reason::TransitionTooDear>(world.at(1).measured(1, 100).ask(kEngine).reason));
}

TEST_CASE("with a utility, a step pays if it gains more utility than it costs") {
  JobWorld world({1, 2});
  world.priced(Money::micros(1'000'000));
  world.job.submitted_at = world.now;
  world.job.spec.work_samples = 360'000;
  world.job.measurements.grow_cost = world.job.measurements.shrink_cost = {.count = 1, .mean_stall_ms = 10};
  world.measured(1, 100).measured(2, 150);  // 3,600 s at 1 worker: 1.00; 2,400 s at 2: 1.33
  // Utility gain: 1,200 s of 7,200 s.
  world.job.spec.scaling.linear_utility = core::LinearUtility{.value = 3, .zero_at = Duration::seconds(7'200)};
  SECTION("half a unit for a third of a unit: yes") {
    const auto wish = world.at(1).ask(kEngine);
    CHECK(wish.size == 2);
    CHECK(test::says<core::reason::UtilityUp>(wish.reason));
    CHECK(test::number_in(wish.reason, "utility_gain") == Approx(0.5));
    CHECK(test::number_in(wish.reason, "cost_gain") == Approx(1.0 / 3));
  }
  SECTION("a tenth of that utility: no, however efficient the step is") {
    world.job.spec.scaling.linear_utility->value = 0.3;
    const auto wish = world.at(2).ask(kEngine);
    CHECK(wish.size == 1);
    CHECK(test::says<core::reason::UtilityDown>(wish.reason));
    CHECK(test::says<core::reason::UtilitySettled>(world.at(1).ask(kEngine).reason));
  }
}

TEST_CASE("a price cap bounds the size from above, and takes workers from a job that is beyond it") {
  JobWorld world({1, 2, 4});
  world.priced(Money::micros(1'000'000));
  world.job.spec.scaling.price_cap = Money::micros(3'000'000);
  world.measured(1, 100).measured(2, 200);
  CHECK(test::says<core::reason::PriceCap>(world.at(2).ask(kEngine).reason));
  CHECK(world.at(2).ask(kEngine).size == 2);
  CHECK(world.at(4).ask(kEngine).size == 2);
  world.job.spec.scaling.price_cap = Money::micros(500'000);
  CHECK(world.at(0).ask(kEngine).size == 0);
}

TEST_CASE("a size that costs exactly the price cap is allowed") {
  JobWorld world({1, 3});
  world.priced(Money::micros(650'000));  // three times that is above 1.95, if it is counted with a point
  world.job.spec.scaling.price_cap = Money::micros(1'950'000);
  CHECK(ladder_of(world.state, world.job).sizes.back() == 3);
  world.job.spec.scaling.price_cap = Money::micros(1'949'999);
  CHECK(ladder_of(world.state, world.job).sizes.back() == 1);
}

TEST_CASE("a size that leaves a worker without a sample is not tried") {
  JobWorld world({1, 2, 4});
  world.job.spec.batch.global = 3;
  world.measured(1, 100).measured(2, 200);
  const auto wish = world.at(2).ask(kEngine);
  CHECK(wish.size == 2);
  CHECK(test::says<core::reason::BatchTooSmall>(wish.reason));
}

TEST_CASE("a job that failure left at a size it may not have goes to the next allowed one") {
  JobWorld world({1, 2, 4});
  CHECK(world.measured(4, 100).at(3).ask(kEngine).size == 4);
}

TEST_CASE("a job with one allowed size says that its policy gives it this size") {
  JobWorld world({2}, 2);
  CHECK(test::says<core::reason::FixedSize>(world.at(2).measured(2, 100).ask(kEngine).reason));
}

}  // namespace
}  // namespace tidepool::policies
