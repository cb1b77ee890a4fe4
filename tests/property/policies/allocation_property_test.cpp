// Whatever a policy answers, no slot is given twice: allocations that pass the check are laid out lawfully, and every
// policy of the table passes it on random clusters.
#include <catch2/catch.hpp>

#include <cmath>

#include "base/rng.hpp"
#include "policies/cluster/allocation_check.hpp"
#include "studies/baselines/registry.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::policies::cluster {
namespace {

// Amdahl's law with a penalty for leaving a node; parameters per job.
class Curve final : public SpeedModel {
 public:
  explicit Curve(Rng& rng) : serial_(rng.uniform() * 0.3), hop_(rng.uniform() * 0.2) {}
  [[nodiscard]] double step_seconds(Shape shape) const override {
    return serial_ + (1 - serial_) / shape.size + (shape.nodes > 1 ? hop_ : 0);
  }

 private:
  double serial_;
  double hop_;
};

struct World {
  View view;
  std::vector<std::unique_ptr<Curve>> curves;
};

void add_jobs(World& world, Rng& rng) {
  std::vector<int> free;
  for (const NodeRow& node : world.view.nodes) free.push_back(node.slots);
  const auto jobs = rng.below(40);
  for (std::uint64_t i = 1; i <= jobs; ++i) {
    world.curves.push_back(std::make_unique<Curve>(rng));
    JobRow job;
    job.id = JobId(i);
    job.speed = world.curves.back().get();
    job.size_max = static_cast<int>(rng.between(1, 24));
    job.size_wanted = static_cast<int>(rng.between(1, job.size_max));
    if (rng.chance(0.3)) job.size_min = static_cast<int>(rng.between(1, job.size_wanted));
    for (int size = job.size_min; rng.chance(0.3) && size <= job.size_max; size += 2) job.sizes.push_back(size);
    if (!job.sizes.empty()) job.size_max = job.size_wanted = job.sizes.back();
    job.largest_seen = static_cast<int>(rng.between(0, job.size_max));
    job.resize_blocked = rng.chance(0.1);
    job.weight = rng.uniform() * 4;
    job.resizes = static_cast<int>(rng.below(9));
    job.transition = Duration::seconds(rng.between(0, 60));
    job.held = Duration::seconds(rng.between(0, 40'000));
    job.mark.level = static_cast<int>(rng.below(2));
    if (rng.chance(0.7)) job.steps_left = rng.exponential(1'000);
    if (rng.chance(0.5)) job.deadline = world.view.now + Duration::seconds(rng.between(-600, 40'000));
    for (std::size_t node = 0; node < free.size() && rng.chance(0.5); ++node) {
      const auto slots = static_cast<int>(rng.between(0, std::min(free[node], job.size_max - size_of(job.placement))));
      if (slots == 0) continue;
      job.placement.push_back({.node = static_cast<int>(node), .slots = slots});
      free[node] -= slots;
    }
    world.view.jobs.push_back(std::move(job));
  }
}

World random_world(Rng& rng) {
  World world;
  world.view.now = Instant::from_micros(rng.between(0, 1'000'000'000));
  if (rng.chance(0.5)) world.view.types = {{.name = "fast", .price_per_hour = 2}, {.name = "slow"}};
  const auto nodes = rng.chance(0.03) ? 0 : rng.between(1, 12);
  for (std::int64_t i = 1; i <= nodes; ++i) {
    world.view.nodes.push_back(
        {.id = NodeId(static_cast<std::uint64_t>(i)), .slots = static_cast<int>(rng.between(1, 8))});
    if (!world.view.types.empty()) world.view.nodes.back().type = static_cast<int>(rng.below(2));
  }
  add_jobs(world, rng);
  return world;
}

// Sizes and order drawn at random, sometimes against every law.
Allocation random_allocation(const View& view, Rng& rng) {
  Allocation allocation;
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    allocation.grants.push_back({.size = static_cast<int>(rng.between(rng.chance(0.02) ? -1 : 0, 4))});
    allocation.order.push_back(rng.chance(0.01) ? rng.below(view.jobs.size()) : row);
  }
  rng.shuffle(allocation.order);
  return allocation;
}

}  // namespace

TEST_CASE("every policy of the table keeps the laws on random clusters, and answers the same twice") {
  test::for_each_seed("allocation policies", 60, [](std::uint64_t, Rng& rng) {
    const World world = random_world(rng);
    for (const AllocationPreset& preset : studies::all_presets()) {
      core::StepBudget budget(1'000'000);
      const Allocation allocation = preset.policy()->allocate(world.view, budget);
      const Status sizes = check_allocation(world.view, allocation);
      INFO(preset.name << ": " << (sizes.ok() ? "" : sizes.error().message));
      REQUIRE(sizes.ok());
      const auto placements = lay_out(*preset.place(), world.view, allocation);
      const Status laid = check_placements(world.view, allocation, placements);
      INFO((laid.ok() ? "" : laid.error().message));
      REQUIRE(laid.ok());
      for (std::size_t row = 0; row < placements.size() && allocation.placements.empty(); ++row) {
        const Placement& held = world.view.jobs[row].placement;
        const Grant& grant = allocation.grants[row];
        if (size_of(held) == grant.size && grant.type < 0) CHECK(placements[row] == held);
      }
      core::StepBudget again(1'000'000);
      const Allocation same = preset.policy()->allocate(world.view, again);
      REQUIRE(same.order == allocation.order);
      REQUIRE(same.placements == allocation.placements);
      for (std::size_t row = 0; row < world.view.jobs.size(); ++row) {
        REQUIRE(same.grants[row].size == allocation.grants[row].size);
        REQUIRE(same.grants[row].mark == allocation.grants[row].mark);
      }
    }
  });
}

TEST_CASE("a random policy either is refused or has its sizes laid out on free slots") {
  int refused = 0;
  int laid = 0;
  test::for_each_seed("random allocations", 500, [&](std::uint64_t, Rng& rng) {
    const World world = random_world(rng);
    const Allocation allocation = random_allocation(world.view, rng);
    if (!check_allocation(world.view, allocation).ok()) {
      ++refused;
      return;
    }
    ++laid;
    for (const AllocationPreset& preset : studies::all_presets()) {
      REQUIRE(check_placements(world.view, allocation, preset.place()->place(world.view, allocation)).ok());
    }
  });
  INFO("refused " << refused << ", laid out " << laid);
  if (refused + laid >= 500) CHECK((refused > 50 && laid > 50));
}

}  // namespace tidepool::policies::cluster
