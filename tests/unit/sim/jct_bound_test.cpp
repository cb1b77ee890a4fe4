// Lower bounds on the mean completion time, on cases whose best schedule is known.
#include <catch2/catch.hpp>

#include "studies/replay/jct_bound.hpp"

namespace tidepool::sim {
namespace {

NeedyJob job(double ready_s, double seconds, double slot_seconds) {
  return {.submitted_s = ready_s,
          .ready_s = ready_s,
          .need = {.seconds = seconds, .slot_seconds = slot_seconds, .lag_s = seconds / 2}};
}

}  // namespace

TEST_CASE("a job alone takes what it takes on the whole cluster, or what its work takes there") {
  CHECK(jct_bounds({job(0, 10, 10)}, 4).best_s() == Approx(10));
  CHECK(jct_bounds({job(0, 10, 80)}, 4).best_s() == Approx(20));
  CHECK(jct_bounds({}, 4).best_s() == 0);
}

TEST_CASE("in the pool the job with the least work left goes first, also past one that has begun") {
  // 100 s of the whole cluster from 0, 10 s from 50: ends at 110 and 60.
  const JctBounds bounds = jct_bounds({job(0, 1, 400), job(50, 1, 40)}, 4);
  CHECK(bounds.srpt_s == Approx((110 + 10) / 2.0));
  // With 55 s left the one that has begun goes on.
  CHECK(jct_bounds({job(0, 1, 400), job(50, 1, 220)}, 4).srpt_s == Approx((100 + 105) / 2.0));
}

TEST_CASE("jobs that cannot use the pool alone are held to their own pace as well") {
  // Two jobs of 100 s on one slot each, a cluster of two slots: both end at 100.
  const JctBounds bounds = jct_bounds({job(0, 100, 100), job(0, 100, 100)}, 2);
  CHECK(bounds.alone_s == Approx(100));
  CHECK(bounds.srpt_s == Approx(75));   // 50 and 100: the pool serves one after the other
  CHECK(bounds.busy_s == Approx(100));  // mean busy at 25 and 75, and 50 s more each
  // Three of them: one must wait.
  CHECK(jct_bounds({job(0, 100, 100), job(0, 100, 100), job(0, 100, 100)}, 2).best_s() == Approx(125));
}

}  // namespace tidepool::sim
