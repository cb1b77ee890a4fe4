// Utility against cost between jobs: its factor changes at no other times than it says, and what all jobs bring
// together is more than without it.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <deque>

#include "base/rng.hpp"
#include "policies/size/utility.hpp"
#include "policies/tidal/delay_cost.hpp"
#include "policies/tidal/tidal.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::policies::tidal {
namespace {

using cluster::JobRow;
using cluster::View;

constexpr double kSlotPrice = 2;
constexpr std::int64_t kRound = 60;  // seconds

core::ScalingSpec random_scaling(Rng& rng, double length_s) {
  core::ScalingSpec scaling;
  const double value = std::pow(10, rng.uniform() * 3);
  if (rng.chance(0.5)) {
    scaling.linear_utility =
        core::LinearUtility{.value = value, .zero_at = Duration::from_seconds(length_s * (1 + 6 * rng.uniform()))};
    return scaling;
  }
  const Duration due = Duration::from_seconds(length_s * (0.5 + 3 * rng.uniform()));
  scaling.piecewise_utility = core::PiecewiseUtility{{{due, value},
                                                      {due + Duration::from_seconds(length_s), 0},
                                                      {due + Duration::from_seconds(length_s * 1'000), -1}}};
  return scaling;
}

// As fast on k slots as k^0.8.
class Elastic final : public cluster::SpeedModel {
 public:
  [[nodiscard]] double step_seconds(cluster::Shape shape) const override { return std::pow(shape.size, -0.8); }
};

const Elastic kElastic;

struct Workload {
  std::deque<core::ScalingSpec> asked;
  View view;
};

Workload random_workload(Rng& rng) {
  Workload workload;
  workload.view.nodes = {{.id = NodeId(1), .slots = 8}};
  for (std::uint64_t i = 1; i <= 24; ++i) {
    JobRow job;
    job.id = JobId(i);
    job.size_max = job.largest_seen = 8;
    job.speed = &kElastic;
    job.submitted = Instant::from_micros(rng.between(0, 7'200) * 1'000'000);
    job.useful_left = 300 + rng.exponential(6'000);
    job.scaling = &workload.asked.emplace_back(random_scaling(rng, *job.useful_left));
    job.slot_price = kSlotPrice;
    workload.view.jobs.push_back(job);
  }
  return workload;
}

// What all jobs together brought less than if each had ended as it came: planned anew each minute, changes cost
// nothing.
double lost_by(const Workload& workload, bool counts) {
  double lost = 0;
  std::vector<JobRow> left = workload.view.jobs;
  for (std::int64_t now_s = 0; !left.empty(); now_s += kRound) {
    View view{.now = Instant::from_micros(now_s * 1'000'000), .nodes = workload.view.nodes};
    for (const JobRow& job : left) {
      if (job.submitted <= view.now) view.jobs.push_back(job);
      if (!counts && !view.jobs.empty()) view.jobs.back().scaling = nullptr;
    }
    core::StepBudget budget(10'000'000);
    const cluster::Allocation allocation = Tidal().allocate(view, budget);
    for (std::size_t row = 0; row < view.jobs.size(); ++row) {
      const int size = allocation.grants[row].size;
      const auto job =
          std::find_if(left.begin(), left.end(), [&](const JobRow& other) { return other.id == view.jobs[row].id; });
      job->placement = allocation.placements[row];
      if (size == 0) continue;
      job->held += Duration::seconds(kRound);
      const double speed = std::pow(size, 0.8);
      const double done_s = *job->useful_left / speed;
      *job->useful_left -= speed * kRound;
      if (*job->useful_left > 0) continue;
      const double ended_s = static_cast<double>(now_s) + done_s;
      const core::ScalingSpec& asked = workload.asked[job->id.number() - 1];
      lost += utility_at(asked, 0) - utility_at(asked, ended_s - (job->submitted - Instant()).to_seconds());
      left.erase(job);
    }
  }
  return lost;
}

}  // namespace

TEST_CASE("the factor of a delay changes at the times that it tells") {
  test::for_each_seed("delay cost", 300, [](std::uint64_t, Rng& rng) {
    const double left_s = 1 + rng.exponential(5'000);
    const core::ScalingSpec scaling = random_scaling(rng, left_s);
    JobRow job;
    job.submitted = Instant::from_micros(rng.between(0, 1'000'000'000));
    job.scaling = &scaling;
    job.slot_price = kSlotPrice;
    const DelayCost cost(job, left_s);
    Instant now = job.submitted;
    for (int i = 0; i < 200; ++i) {
      const auto next = cost.changes_after(now);
      if (next) REQUIRE(*next > now);
      const Duration step = Duration::from_seconds(left_s * rng.uniform());
      const Instant later = next ? std::min(now + step, *next - Duration::micros(1)) : now + step;
      REQUIRE(cost.factor(later) == cost.factor(now));
      now = next && rng.chance(0.5) ? *next : std::max(now, later);
    }
  });
}

TEST_CASE("jobs lose less together when what a delay costs each of them counts") {
  double with = 0;
  double without = 0;
  int worse = 0;
  test::for_each_seed("utility of all", 20, [&](std::uint64_t, Rng& rng) {
    const Workload workload = random_workload(rng);
    const double counted = lost_by(workload, true);
    const double uncounted = lost_by(workload, false);
    with += counted;
    without += uncounted;
    if (counted > uncounted) ++worse;
  });
  INFO("lost " << with << " with and " << without << " without it; more in " << worse << " worlds");
  CHECK(with <= 0.7 * without);
  CHECK(worse <= 1);
}

}  // namespace tidepool::policies::tidal
