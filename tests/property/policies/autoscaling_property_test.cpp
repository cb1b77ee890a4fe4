// The autoscaling engine in a closed loop with a job whose true throughput curve is drawn at random: it ends at a
// size that the measured efficiencies justify, in a bounded number of changes, and stays there.
#include <algorithm>
#include <map>

#include <catch2/catch.hpp>

#include "policies/models/usl_curve.hpp"
#include "policies/size/autoscaling_engine.hpp"
#include "tests/support/job_records.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::policies {
namespace {

using test::JobWorld;

struct ClosedLoop {
  JobWorld world;
  UslCurve truth;
  double noise = 0;  // relative, of the mean over one round
  Rng rng;
  int changes = 0;

  // One round of K steps at the present size, then one judgement; true if the size changed.
  bool round() {
    const int size = world.job.size();
    const std::int64_t every = world.job.spec.scaling.every_steps;
    const double measured = truth.at(size) * (1 + noise * rng.normal());
    const core::SizeRecord old = world.job.measurements.sizes[size];
    const double weight = old.steps == 0 ? 1 : 0.2;
    world.now = world.now + Duration::from_seconds(static_cast<double>(every * world.job.spec.batch.global) / measured);
    world.measured(size, (1 - weight) * old.samples_per_second + weight * measured, old.steps + every);
    const int wish = world.at(size).ask(AutoscalingEngine()).size;
    const auto& allowed = world.job.spec.elastic.sizes;
    REQUIRE(std::find(allowed.begin(), allowed.end(), wish) != allowed.end());
    if (wish == size) return false;
    ++changes;
    world.at(wish);
    return true;
  }
};

ClosedLoop draw(Rng& rng) {
  std::vector<int> sizes;
  const int top = static_cast<int>(rng.between(1, 16));
  for (int k = 1; k <= top; ++k) {
    if (k == top || rng.chance(0.7)) sizes.push_back(k);
  }
  const int preferred = sizes[rng.below(sizes.size())];
  ClosedLoop loop{.world = JobWorld(sizes, preferred),
                  .truth = {1'000 + 9'000 * rng.uniform(), 0.5 * rng.uniform(), 0.1 * rng.uniform() * rng.uniform()},
                  .rng = rng.fork()};
  loop.world.job.spec.scaling.spawn_size = static_cast<int>(rng.between(1, 3));
  loop.world.at(preferred);
  return loop;
}

TEST_CASE("without noise the engine settles, at a size before the first measured step that does not pay") {
  test::for_each_seed("autoscaling settles", 300, [](std::uint64_t, Rng& rng) {
    ClosedLoop loop = draw(rng);
    int rounds_since_change = 0;
    for (int round = 0; round < 400 && rounds_since_change < 40; ++round) {
      rounds_since_change = loop.round() ? 0 : rounds_since_change + 1;
    }
    CHECK(rounds_since_change == 40);
    // Each size is visited at most twice: once to try it, once more for evidence or to come back.
    CHECK(loop.changes <= 2 * static_cast<int>(loop.world.job.spec.elastic.sizes.size()));
    // The size kept is justified by what was measured: the step into it pays, the step out of it does not.
    const auto& records = loop.world.job.measurements.sizes;
    const auto here = records.find(loop.world.job.size());
    const auto pays = [](const auto& low, const auto& high) {
      const double k1 = low.first;
      const double gain = (high.second.samples_per_second - low.second.samples_per_second) / (high.first - low.first);
      return gain / (low.second.samples_per_second / k1) > 0.1;
    };
    REQUIRE(here != records.end());
    if (here != records.begin()) CHECK(pays(*std::prev(here), *here));
    if (std::next(here) != records.end()) {
      CHECK_FALSE(pays(*here, *std::next(here)));
    } else {
      CHECK(loop.world.job.size() == loop.world.job.spec.elastic.sizes.back());
    }
  });
}

TEST_CASE("with half a per cent of noise the engine does not flap between neighbours") {
  test::for_each_seed("autoscaling does not flap", 100, [](std::uint64_t, Rng& rng) {
    ClosedLoop loop = draw(rng);
    loop.noise = 0.005;
    for (int round = 0; round < 100; ++round) loop.round();
    const int before = loop.changes;
    for (int round = 0; round < 300; ++round) loop.round();
    // Staleness allows a visit (two changes) per half hour at most; within noise nothing else may move.
    const double hours = (loop.world.now - Instant()).to_seconds() / 3'600;
    CHECK(loop.changes - before <= 4 + 4 * static_cast<int>(hours));
  });
}

TEST_CASE("the same records give the same wish, byte for byte") {
  test::for_each_seed("autoscaling is pure", 50, [](std::uint64_t, Rng& rng) {
    ClosedLoop loop = draw(rng);
    for (int round = 0; round < 10; ++round) {
      loop.round();
      const auto first = loop.world.ask(AutoscalingEngine());
      const auto second = loop.world.ask(AutoscalingEngine());
      CHECK(first.size == second.size);
      CHECK(first.reason == second.reason);
      CHECK(first.lost.size() == second.lost.size());
    }
  });
}

}  // namespace
}  // namespace tidepool::policies
