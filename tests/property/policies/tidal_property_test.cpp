// tidal as a whole: its answers keep the laws, do not depend on the order of rows, and are the same whether rows came
// one by one or all at once.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <memory>

#include "base/rng.hpp"
#include "policies/cluster/allocation_check.hpp"
#include "policies/tidal/tidal.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::policies::tidal {
namespace {

using cluster::Allocation;
using cluster::JobRow;
using cluster::Shape;
using cluster::View;

class Amdahl final : public cluster::SpeedModel {
 public:
  explicit Amdahl(Rng& rng) : serial_(rng.uniform() * 0.4), hop_(rng.chance(0.5) ? 0 : rng.uniform() * 0.3) {}
  [[nodiscard]] double step_seconds(Shape shape) const override {
    return serial_ + (1 - serial_) / shape.size + hop_ * (shape.nodes - 1);
  }

 private:
  double serial_;
  double hop_;
};

struct World {
  View view;
  std::vector<std::unique_ptr<Amdahl>> speeds;
};

JobRow random_job(std::uint64_t id, World& world, Rng& rng) {
  JobRow job;
  job.id = JobId(id);
  job.submitted = Instant::from_micros(rng.between(0, 50'000) * 1'000'000);
  job.weight = rng.chance(0.2) ? 4 : 1;
  job.speed = world.speeds.emplace_back(std::make_unique<Amdahl>(rng)).get();
  job.size_max = static_cast<int>(rng.between(1, 24));
  if (rng.chance(0.3)) job.size_min = static_cast<int>(rng.between(1, job.size_max));
  job.largest_seen = static_cast<int>(rng.between(0, 24));
  job.transition = Duration::seconds(rng.between(0, 60));
  job.slot_seconds = rng.exponential(20'000);
  if (rng.chance(0.4)) job.useful_left = rng.exponential(5'000);
  if (rng.chance(0.4)) job.useful_expected = rng.exponential(5'000);
  return job;
}

World random_world(Rng& rng) {
  World world;
  world.view.now = Instant::from_micros(60'000'000'000);
  const auto nodes = rng.between(1, 10);
  std::vector<int> free;
  for (std::int64_t i = 1; i <= nodes; ++i) {
    free.push_back(static_cast<int>(rng.between(1, 8)));
    world.view.nodes.push_back({.id = NodeId(static_cast<std::uint64_t>(i)), .slots = free.back()});
  }
  const auto jobs = rng.below(40);
  for (std::uint64_t i = 1; i <= jobs; ++i) {
    JobRow job = random_job(i, world, rng);
    for (std::size_t node = 0; node < free.size() && rng.chance(0.5); ++node) {
      const auto slots = static_cast<int>(rng.between(0, std::min(free[node], job.size_max - size_of(job.placement))));
      if (slots == 0) continue;
      job.placement.push_back({.node = static_cast<int>(node), .slots = slots});
      free[node] -= slots;
    }
    job.held = Duration::seconds(job.placement.empty() ? 0 : rng.between(0, 10'000));
    job.frozen = rng.chance(0.1);
    job.preemptible = rng.chance(0.9);
    world.view.jobs.push_back(std::move(job));
  }
  return world;
}

Allocation decide(const View& view) {
  core::StepBudget budget(100'000'000);
  return Tidal().allocate(view, budget);
}

}  // namespace

TEST_CASE("sizes and places keep the laws, a frozen job keeps its own, and the worth is at most the bound") {
  test::for_each_seed("tidal laws", 300, [](std::uint64_t, Rng& rng) {
    const World world = random_world(rng);
    const Allocation allocation = decide(world.view);
    const Status sizes = check_allocation(world.view, allocation);
    INFO((sizes.ok() ? "" : sizes.error().message));
    REQUIRE(sizes.ok());
    const Status laid = check_placements(world.view, allocation, allocation.placements);
    INFO((laid.ok() ? "" : laid.error().message));
    REQUIRE(laid.ok());
    CHECK(allocation.worth <= allocation.bound);
    for (std::size_t row = 0; row < world.view.jobs.size(); ++row) {
      const JobRow& job = world.view.jobs[row];
      if (job.frozen) CHECK(allocation.placements[row] == job.placement);
      if (!job.preemptible && !job.placement.empty()) CHECK(allocation.grants[row].size > 0);
    }
  });
}

TEST_CASE("the order of rows changes nothing") {
  test::for_each_seed("tidal permutation", 150, [](std::uint64_t, Rng& rng) {
    World world = random_world(rng);
    std::map<JobId, int> sizes;
    const auto tide_of = [](const View& view) {
      auto tide = std::make_unique<Tide>(ground_of(view));
      for (const JobRow& job : view.jobs) tide->put(job, view.now);
      core::StepBudget budget(100'000'000);
      (void)tide->settle(view.now, budget);
      return tide;
    };
    const auto before = tide_of(world.view);
    rng.shuffle(world.view.jobs);
    const auto after = tide_of(world.view);
    for (const JobRow& job : world.view.jobs) {
      REQUIRE(before->market().choice(job.id) == after->market().choice(job.id));
    }
  });
}

TEST_CASE("rows that come one by one give what they give at once, however long the others have waited") {
  test::for_each_seed("tide incremental", 100, [](std::uint64_t, Rng& rng) {
    World world = random_world(rng);
    Tide tide(ground_of(world.view));
    std::map<JobId, std::pair<JobRow, Instant>> rows;
    Instant now = world.view.now;
    for (int change = 0; change < 60; ++change) {
      now = now + Duration::seconds(rng.between(0, 600));
      if (!rows.empty() && rng.chance(0.3)) {
        const JobId gone = std::next(rows.begin(), static_cast<std::ptrdiff_t>(rng.below(rows.size())))->first;
        rows.erase(gone);
        tide.leave(gone);
      } else if (!world.view.jobs.empty()) {
        JobRow job = world.view.jobs[rng.below(world.view.jobs.size())];
        job.slot_seconds += rng.exponential(5'000);
        if (job.useful_left) job.useful_left = rng.exponential(5'000);
        rows[job.id] = {job, now};
        tide.put(job, now);
      }
      if (rng.chance(0.3)) continue;
      core::StepBudget budget(100'000'000);
      const Market::Settlement settled = tide.settle(now, budget);
      Tide scratch(ground_of(world.view));
      for (const auto& [id, row] : rows) scratch.put(row.first, row.second);
      REQUIRE(scratch.settle(now, budget).price == settled.price);
      for (const auto& [id, row] : rows) REQUIRE(scratch.market().choice(id) == tide.market().choice(id));
    }
  });
}

}  // namespace tidepool::policies::tidal
