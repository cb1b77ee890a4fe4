// No job waits for ever: under a stream of jobs that never ends and always leaves some waiting, a job that every other
// outbids when it comes starts within the bound of policies/tidal/README.md, which is told in its own length.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/rng.hpp"
#include "policies/tidal/tidal.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::policies::tidal {
namespace {

using cluster::JobRow;
using cluster::View;

constexpr int kSlots = 8;
constexpr int kPresent = 12;  // jobs of one slot: four wait at any time
constexpr double kRoundS = 300;
constexpr double kRestartS = 30;

class Linear final : public cluster::SpeedModel {
 public:
  [[nodiscard]] double step_seconds(cluster::Shape shape) const override { return 1.0 / shape.size; }
};

JobRow fixed(std::uint64_t id, int size, double seconds, const View& view, const cluster::SpeedModel& speed) {
  JobRow job;
  job.id = JobId(id);
  job.submitted = view.now;
  job.size_min = job.size_max = job.size_wanted = job.largest_seen = size;
  job.sizes = {size};
  job.useful_left = seconds * size;
  job.transition = Duration::from_seconds(kRestartS);
  job.speed = &speed;
  return job;
}

// A gang of all slots beside jobs of one slot and a tenth of its length at most, each replaced when it ends.
struct Stream {
  explicit Stream(Rng& random) : rng(random) {
    view.nodes = {{.id = NodeId(1), .slots = kSlots}};
    gang_s = 6'000 + 6'000 * rng.uniform();
    view.jobs.push_back(fixed(1, kSlots, gang_s, view, speed));
    replace();
  }
  void replace() {
    while (view.jobs.size() <= kPresent) {
      view.jobs.push_back(fixed(++last, 1, 60 + 540 * rng.uniform(), view, speed));
    }
  }
  // False once the gang has started.
  bool round() {
    core::StepBudget budget(1'000'000);
    const cluster::Allocation allocation = Tidal().allocate(view, budget);
    if (!allocation.placements[0].empty()) return false;
    for (std::size_t row = 0; row < view.jobs.size(); ++row) {
      JobRow& job = view.jobs[row];
      const double owed = job.placement.empty() ? kRestartS : 0;
      job.placement = allocation.placements[row];
      if (job.placement.empty()) continue;
      job.useful_left = *job.useful_left - (kRoundS - owed);
      job.held += Duration::from_seconds(kRoundS);
    }
    std::erase_if(view.jobs, [](const JobRow& job) { return *job.useful_left <= 0; });
    view.now = view.now + Duration::from_seconds(kRoundS);
    replace();
    return true;
  }

  Rng& rng;
  Linear speed;
  View view;
  double gang_s = 0;
  std::uint64_t last = 1;
};

}  // namespace

TEST_CASE("a gang of all slots starts beside a stream of short jobs that never ends") {
  test::for_each_seed("starvation", 8, [](std::uint64_t, Rng& rng) {
    Stream stream(rng);
    // No job is worth more than a start, a price of c jobs a slot, and as much again for coming back.
    const double ahead = 2 * (1 + kPressure * (kPresent + 1) / kSlots);
    const double length_s = (stream.gang_s + kRestartS) * std::sqrt(double(kSlots));
    // Of those ahead none waits for longer than it takes to serve all others once.
    const double others = 1 + kPresent * 600.0 / kPatienceLeast;
    const double bound_s = kPatience * length_s * ahead * others;
    double waited_s = 0;
    while (stream.round() && waited_s <= bound_s) waited_s += kRoundS;
    INFO("waited " << waited_s << " s of " << bound_s);
    CHECK(waited_s > kPatienceLeast);
    CHECK(waited_s <= bound_s);
  });
}

}  // namespace tidepool::policies::tidal
