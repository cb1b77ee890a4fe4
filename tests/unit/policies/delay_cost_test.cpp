// What a job's delay costs by the utility of its job file, and what that makes of its place among others.
#include <catch2/catch.hpp>

#include "policies/tidal/delay_cost.hpp"
#include "policies/tidal/tidal.hpp"
#include "tests/support/allocation_views.hpp"

namespace tidepool::policies::tidal {
namespace {

using cluster::JobRow;

Instant at(std::int64_t seconds) {
  return Instant::from_micros(seconds * 1'000'000);
}

core::ScalingSpec linear(double value, std::int64_t zero_at_s) {
  core::ScalingSpec scaling;
  scaling.linear_utility = core::LinearUtility{.value = value, .zero_at = Duration::seconds(zero_at_s)};
  return scaling;
}

// 100 until 3 hours after the submission, 0 a minute later, and as good as nothing less from then on.
core::ScalingSpec due_in_three_hours() {
  core::ScalingSpec scaling;
  scaling.piecewise_utility = core::PiecewiseUtility{
      {{Duration::seconds(10'800), 100}, {Duration::seconds(10'860), 0}, {Duration::seconds(10'000'000), -0.01}}};
  return scaling;
}

JobRow job_of(const core::ScalingSpec& scaling, double slot_price) {
  JobRow job;
  job.id = JobId(1);
  job.scaling = &scaling;
  job.slot_price = slot_price;
  return job;
}

}  // namespace

TEST_CASE("a delay costs what the utility loses by it, in what a slot costs meanwhile") {
  const core::ScalingSpec scaling = linear(30, 36'000);  // 3 an hour
  CHECK(DelayCost(job_of(scaling, 3), 1'000).factor(at(0)) == Approx(1));
  CHECK(DelayCost(job_of(scaling, 1.5), 1'000).factor(at(0)) == Approx(2));
  CHECK(DelayCost(job_of(scaling, 12), 1'000).factor(at(50'000)) == Approx(0.25));
  CHECK(DelayCost(job_of(scaling, 1.5), 1'000).changes_after(at(0)) == std::nullopt);
}

TEST_CASE("a utility counts for at most four levels of priority, and for nothing where slots have no price") {
  const core::ScalingSpec dear = linear(1e9, 60);
  const core::ScalingSpec cheap = linear(1e-9, 60);
  const core::ScalingSpec none;
  CHECK(DelayCost(job_of(dear, 1), 1'000).factor(at(0)) == 16);
  CHECK(DelayCost(job_of(cheap, 1), 1'000).factor(at(0)) == 1 / 16.0);
  CHECK(DelayCost(job_of(dear, 0), 1'000).factor(at(0)) == 1);
  CHECK(DelayCost(job_of(none, 1), 1'000).factor(at(0)) == 1);
}

TEST_CASE("a job that is worth nothing if late is urgent while a delay would make it late, and no longer than that") {
  const core::ScalingSpec scaling = due_in_three_hours();
  const DelayCost cost(job_of(scaling, 2), 3'600);
  CHECK(cost.factor(at(0)) == 1 / 16.0);  // it would end after an hour, and after two if it waited for one
  CHECK(cost.factor(at(5'400)) == 16);    // after two and a half, or three and a half
  CHECK(cost.factor(at(7'300)) == 16);    // at the last moment
  CHECK(cost.factor(at(8'000)) == 1 / 16.0);
  CHECK(cost.changes_after(at(8'000)) == std::nullopt);
}

TEST_CASE("of two jobs that are alike the one whose utility falls faster has the slots") {
  const test::GoodputTable speed({1});
  cluster::View view = test::view_of(1, 1, 2, speed);
  for (JobRow& job : view.jobs) {
    job.size_max = 1;
    job.slot_price = 1;
    job.useful_left = 1'000;
  }
  CHECK(test::sizes_of(test::decide(Tidal(), view)) == std::vector<int>{1, 0});
  const core::ScalingSpec slow = linear(20, 36'000);
  const core::ScalingSpec fast = linear(40, 36'000);
  view.jobs[0].scaling = &slow;
  view.jobs[1].scaling = &fast;
  CHECK(test::sizes_of(test::decide(Tidal(), view)) == std::vector<int>{0, 1});
}

TEST_CASE("a market that is kept serves a waiting job when it becomes urgent") {
  const test::GoodputTable speed({1});
  cluster::View view = test::view_of(1, 1, 2, speed);
  const core::ScalingSpec scaling = due_in_three_hours();
  for (JobRow& job : view.jobs) {
    job.size_max = 1;
    job.slot_price = 2;
    job.useful_left = 3'600;
  }
  view.jobs[1].scaling = &scaling;
  MarketState market(pool_of(view));
  core::StepBudget budget(1'000);
  for (const JobRow& job : view.jobs) market.put(job, view.now);
  (void)market.settle(view.now, budget);
  CHECK(market.market().choice(JobId(2)).size == 0);
  CHECK(market.rests(at(800)));
  CHECK_FALSE(market.rests(at(5'400)));
  (void)market.settle(at(5'400), budget);
  CHECK(market.market().choice(JobId(2)).size == 1);
}

}  // namespace tidepool::policies::tidal
