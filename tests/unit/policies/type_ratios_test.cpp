// What jobs that have run on two types of slot tell of those that have run on one.
#include "policies/engine/type_ratios.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>

#include "core/state/measured/type_records.hpp"
#include "policies/engine/engine_rows.hpp"
#include "tests/support/row_goodputs.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::policies::cluster {
namespace {

core::SizeRecord at_speed(double samples_per_second, std::int64_t steps = 100) {
  return {.steps = steps, .step_seconds = 100 / samples_per_second, .samples_per_second = samples_per_second};
}

core::Job job(std::uint64_t id) {
  core::Job job;
  job.id = JobId(id);
  job.spec.batch.global = 100;
  job.spec.elastic.sizes = {1, 2, 4, 8};
  job.spec.elastic.max = 8;
  return job;
}

// It has been measured on "a", then on "b", where it is now.
core::Job on_both(std::uint64_t id, double on_a, double on_b) {
  core::Job both = job(id);
  core::measure_on(both.measurements, "a");
  both.measurements.sizes[1] = at_speed(on_a);
  core::measure_on(both.measurements, "b");
  both.measurements.sizes[1] = at_speed(on_b);
  return both;
}

// It has come from "a" and was not measured on "b" yet.
core::Job moved(std::uint64_t id, double on_a) {
  core::Job one = job(id);
  core::measure_on(one.measurements, "a");
  one.measurements.sizes[1] = at_speed(on_a);
  one.measurements.sizes[2] = at_speed(1.8 * on_a);
  core::measure_on(one.measurements, "b");
  return one;
}

}  // namespace

TEST_CASE("how much faster a type is follows from the jobs that have run on both, each counted once") {
  TypeRatios ratios;
  CHECK_FALSE(ratios.ratio("b", "a"));
  ratios.tell(on_both(1, 10, 20));
  CHECK(ratios.ratio("b", "a").value() == Approx(2));
  CHECK(ratios.ratio("a", "b").value() == Approx(0.5));
  ratios.tell(on_both(2, 10, 80));
  CHECK(ratios.ratio("b", "a").value() == Approx(4));
  ratios.tell(on_both(1, 10, 80));  // in place of what it told before
  CHECK(ratios.ratio("b", "a").value() == Approx(8));
  ratios.withdraw(JobId(2));
  ratios.withdraw(JobId(1));
  CHECK_FALSE(ratios.ratio("b", "a"));
}

TEST_CASE("a job that is new on a type is expected to be as much faster there as others are, until it is measured") {
  TypeRatios ratios;
  ratios.tell(on_both(1, 10, 30));
  core::Job one = moved(2, 50);
  const auto expected = ratios.expected(one);
  REQUIRE(expected);
  const JobSpeed speed(one, *expected);
  CHECK(speed.is_known());
  CHECK(speed.largest_measured() == 0);  // no size of it was tried here
  CHECK(speed.goodput({.nodes = 1, .size = 1}) == Approx(1.5));
  CHECK(speed.goodput({.nodes = 1, .size = 2}) == Approx(2.7));
  one.measurements.sizes[1] = at_speed(60);
  CHECK_FALSE(ratios.expected(one));
}

TEST_CASE("where no job has run on both types a job is expected to be as fast on the one as on the other") {
  TypeRatios ratios;
  const core::Job one = moved(1, 50);
  CHECK(JobSpeed(one, *ratios.expected(one)).goodput({.nodes = 1, .size = 1}) == Approx(0.5));
  CHECK(ratios.take_moved().empty());
  ratios.tell(on_both(2, 10, 20));
  CHECK(ratios.take_moved() == std::vector<JobId>{JobId(1)});
  CHECK(JobSpeed(one, *ratios.expected(one)).goodput({.nodes = 1, .size = 1}) == Approx(1));
}

TEST_CASE("what its user states of two types counts until some job has run on both") {
  TypeRatios ratios;
  core::Job one = moved(1, 50);
  one.spec.type_speeds = {{"a", 2}, {"b", 1}};
  CHECK(JobSpeed(one, *ratios.expected(one)).goodput({.nodes = 1, .size = 1}) == Approx(0.25));
  ratios.tell(on_both(2, 10, 20));
  CHECK(JobSpeed(one, *ratios.expected(one)).goodput({.nodes = 1, .size = 1}) == Approx(1));
}

TEST_CASE("over any history, rows that were kept expect of a new type what rows made a moment ago expect") {
  int expecting = 0;
  test::for_each_seed("speeds by type", 60, [&](std::uint64_t, Rng& rng) {
    core::ClusterState state = test::one_node_state(8);
    EngineRows kept;
    const auto types = std::vector<std::string>{"a", "b", "c"};
    for (int i = 0; i < 80; ++i) {
      const JobId id(1 + rng.below(8));
      core::Job changed = state.find_job(id) != nullptr ? *state.find_job(id) : job(id.number());
      core::measure_on(changed.measurements, types[rng.below(types.size())]);
      if (rng.chance(0.6)) changed.measurements.sizes[1 << rng.below(3)] = at_speed(1 + double(rng.below(1'000)));
      state.next_job = 20;
      if (rng.chance(0.1)) {
        state.jobs.erase(id);
      } else {
        state.jobs[id] = std::make_shared<const core::Job>(changed);
      }
      (void)kept.follow(state, id);
      if (i % 8 != 0) continue;
      EngineRows anew;
      for (const auto& [known, row] : state.jobs) (void)anew.follow(state, known);
      CHECK(test::goodputs(state, kept, 2) == test::goodputs(state, anew, 2));
      for (const auto& [known, row] : state.jobs) {
        const auto& measured = row->measurements;
        expecting += measured.sizes.empty() && !measured.on_other_types.empty() ? 1 : 0;
      }
    }
  });
  if (test::all_seeds_run()) CHECK(expecting > 100);
}

}  // namespace tidepool::policies::cluster
