// Which sizes a job may have next, and what its measurements say of the one it has.
#include "policies/engine/size_explorer.hpp"

#include <catch2/catch.hpp>

#include "core/words/sentence.hpp"
#include "tests/support/job_records.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::policies::cluster {
namespace {

using test::JobWorld;

SizeExplorer reach_of(const JobWorld& world) {
  return {world.state, world.job, ladder_of(world.state, world.job)};
}

std::vector<int> sizes(const JobWorld& world) {
  return reach_of(world).sizes(JobSpeed(world.job));
}

// What is told of a target of this size whose reason rests on that; PriceHold = what was told before.
core::Reason told(const JobWorld& world, int size, RestsOn rests_on) {
  core::Target target{.size = size, .place = 0, .reason = core::reason::PriceHold{}, .mark = {}};
  add_measurements_to_answer(world.state, world.job, rests_on, target);
  return target.reason;
}

}  // namespace

TEST_CASE("of a job whose program reports nothing, no measurement is awaited") {
  JobWorld world({1, 2}, 1);
  world.at(1);
  REQUIRE(test::says<core::reason::Measuring>(told(world, 1, RestsOn::kSizes)));
  world.job.spec.resize = core::ResizeMode::kRestart;
  CHECK(test::says<core::reason::PriceHold>(told(world, 1, RestsOn::kSizes)));
  world.job.progress.reported_at = world.now;
  CHECK(test::says<core::reason::Measuring>(told(world, 1, RestsOn::kSizes)));
}

TEST_CASE("a job begins at the size that its user prefers, by default the smallest") {
  JobWorld world({1, 2, 3, 4, 8, 16}, 3);
  CHECK(sizes(world) == std::vector<int>{1, 2, 3});  // and below, where a slot is dear
  CHECK(sizes(JobWorld({1, 2, 3})) == std::vector<int>{1});
}

TEST_CASE("afterwards it may have twice what was measured, and at least the next size") {
  JobWorld world({1, 2, 3, 4, 8, 16});
  world.at(1).measured(1, 100);
  CHECK(sizes(world) == std::vector<int>{1, 2});
  world.at(2).measured(2, 190);
  CHECK(sizes(world) == std::vector<int>{1, 2, 3, 4});
  JobWorld far({1, 8});
  far.at(1).measured(1, 100);
  CHECK(sizes(far) == std::vector<int>{1, 8});
}

TEST_CASE("a job that began where its user wanted it first tries half as many workers again") {
  JobWorld world({1, 2, 3, 4, 5, 6, 7, 8}, 4);
  world.at(4).measured(4, 390);
  CHECK(sizes(world).back() == 6);
  world.at(6).measured(6, 570);
  CHECK(sizes(world).back() == 8);
}

TEST_CASE("sizes that did not pay by the job's own scale condition are out of reach until the evidence is stale") {
  JobWorld world({1, 2, 3, 4, 8});
  world.at(2).measured(1, 178).measured(2, 200).measured(4, 205);
  world.job.progress.reported_at = world.now;
  CHECK(sizes(world) == std::vector<int>{1, 2});       // 3 is not expected to pay either
  world.job.spec.scaling.efficiency_threshold = 0.01;  // 205 / 200 is 2.5 % for two workers more
  CHECK(sizes(world).back() < 4);                      // and the noise of a measurement is 2 %
  world.measured(4, 230);
  CHECK(sizes(world).back() == 8);
  world.measured(4, 205);
  world.job.progress.reported_at = world.now + Duration::seconds(41'000);
  CHECK(sizes(world).back() == 8);
}

TEST_CASE("a size that did not pay stays out of reach when the smaller one turns slow for another reason") {
  JobWorld world({1, 2, 3});
  world.at(1).measured(1, 200).measured(2, 205);
  world.job.measurements.sizes[2].entered = {.from = 1, .from_rate = 200, .rate = 204, .at = world.now};
  world.job.progress.reported_at = world.now;
  CHECK(sizes(world) == std::vector<int>{1});
  world.measured(1, 120);  // others compute on the same machine now
  CHECK(sizes(world) == std::vector<int>{1});
  SECTION("and comes into reach when the way back shows that it pays") {
    world.job.measurements.sizes[1].entered = {
        .from = 2, .from_rate = 190, .rate = 120, .at = world.now + Duration::seconds(1)};
    CHECK(sizes(world).back() >= 2);
  }
}

TEST_CASE("a larger size that lowered throughput is told with the rates that were compared") {
  JobWorld world({1, 2});
  world.at(2).measured(1, 100).measured(2, 120);  // most of that before others came to the same machine
  world.job.measurements.sizes[2].entered = {.from = 1, .from_rate = 100, .rate = 75, .at = world.now};
  world.job.progress.reported_at = world.now;
  const core::Reason reason = told(world, 1, RestsOn::kNoPrice);
  CHECK(test::number_in(reason, "throughput") == Approx(100));
  CHECK(test::number_in(reason, "next_throughput") == Approx(75));
  CHECK(core::sentence(reason) == "shrinking 2 -> 1: the last worker lowered throughput (100 -> 75 samples/s)");
}

TEST_CASE("what a job holds is given up when it did not pay, unless that stalls it for longer than it brings") {
  JobWorld world({1, 2, 4});
  world.at(4).measured(1, 100).measured(2, 190).measured(4, 200);  // faster, but not by a tenth of a worker
  world.job.progress.reported_at = world.now;
  CHECK(sizes(world) == std::vector<int>{1, 2});
  CHECK(test::says<core::reason::InefficientDown>(told(world, 2, RestsOn::kNoPrice)));
  world.job.spec.work_samples = 100;  // half a second of work
  CHECK(sizes(world) == std::vector<int>{1, 2, 4});
  CHECK(test::says<core::reason::TransitionTooDear>(told(world, 4, RestsOn::kSizes)));
}

TEST_CASE("a program that chooses its batch is not held to what a size gave at the batch of then") {
  JobWorld world({1, 2});
  world.job.spec.batch = {.global = 100, .on_resize = core::OnResize::kCallback, .global_max = 100'000};
  world.at(1).measured(1, 100).measured(2, 100);  // two were no faster, at the declared batch
  CHECK(sizes(world) == std::vector<int>{1});
  world.job.progress.noise_scale = 100'000;  // by now larger batches teach as much a sample
  CHECK(sizes(world) == std::vector<int>{1, 2});
  world.job.progress.noise_scale = 1;  // more samples a step teach nothing
  CHECK(sizes(world) == std::vector<int>{1});
}

TEST_CASE("where a size gave less than the one below, a program that chooses its batch tries one more") {
  JobWorld world({4, 8, 16, 32});
  world.job.spec.batch = {.global = 32, .on_resize = core::OnResize::kCallback, .global_max = 512};
  world.job.progress.noise_scale = 30;
  world.at(4).measured(4, 32 / 0.5);
  world.measured(8, 32 / 1.7);  // on two nodes
  CHECK(sizes(world) == std::vector<int>{4, 16});
  world.measured(16, 32 / 1.75);  // and on four: larger ones do not pay either
  CHECK(sizes(world) == std::vector<int>{4});
}

TEST_CASE("where the first step up does not pay, half the size is measured before it is kept") {
  JobWorld world({1, 2, 3, 4}, 2);
  world.at(3).measured(2, 200).measured(3, 190);
  world.job.progress.reported_at = world.now;
  CHECK(sizes(world) == std::vector<int>{1});
  const core::Reason down = told(world, 1, RestsOn::kNoPrice);
  CHECK(test::says<core::reason::ExploreDown>(down));
  CHECK(test::number_in(down, "efficiency") == Approx(-0.1));

  SECTION("it goes back up if the workers between pay") {
    world.at(1).measured(1, 120);
    CHECK(sizes(world) == std::vector<int>{1, 2});
    const core::Reason up = told(world, 2, RestsOn::kNoPrice);
    CHECK(test::says<core::reason::EfficientUp>(up));
    CHECK(test::number_in(up, "efficiency") == Approx(80.0 / 120));
    world.at(2);
    CHECK(sizes(world) == std::vector<int>{1, 2});
    const core::Reason kept = told(world, 2, RestsOn::kSizes);
    CHECK(test::says<core::reason::EfficiencySettled>(kept));
    CHECK(test::number_in(kept, "next") == 3);
    CHECK(test::number_in(kept, "efficiency") == Approx(-0.1));
  }
  SECTION("it stays there if they do not") {
    world.at(1).measured(1, 195);
    CHECK(sizes(world) == std::vector<int>{1});
    CHECK(test::number_in(told(world, 1, RestsOn::kSizes), "next") == 2);
  }
  SECTION("it does not look if the two stalls take longer than that could bring") {
    world.job.spec.work_samples = 200;
    CHECK(sizes(world).back() >= 2);
  }
  SECTION("a step that paid before it is evidence enough") {
    world.measured(1, 110);
    CHECK(sizes(world).back() == 2);
  }
}

TEST_CASE("while a slot costs something, its price is what is told") {
  JobWorld world({1, 2, 4});
  world.at(1).measured(1, 100);
  CHECK(test::says<core::reason::ExploreUp>(told(world, 2, RestsOn::kNoPrice)));
  CHECK(test::says<core::reason::PriceHold>(told(world, 2, RestsOn::kPrice)));
  CHECK(test::says<core::reason::PriceHold>(told(world, 1, RestsOn::kElse)));
}

TEST_CASE("a size is measured for as long as its user asks before anything is concluded from it") {
  JobWorld world({1, 2, 4});
  world.at(1).measured(1, 100, 7);
  const core::Reason reason = told(world, 1, RestsOn::kSizes);
  CHECK(test::says<core::reason::Measuring>(reason));
  CHECK(test::number_in(reason, "steps") == 7);
  CHECK(test::number_in(reason, "of") == 20);
}

}  // namespace tidepool::policies::cluster
