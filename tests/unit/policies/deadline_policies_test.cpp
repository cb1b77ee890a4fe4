// Policies with deadlines, and Tiresias's queues, on examples small enough to reckon by hand.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "policies/cluster/allocation_check.hpp"
#include "policies/cluster/deadline_plan.hpp"
#include "studies/baselines/edf.hpp"
#include "studies/baselines/elasticflow.hpp"
#include "studies/baselines/tiresias_dlas.hpp"
#include "tests/support/allocation_views.hpp"

namespace tidepool::policies::cluster {
namespace {

// One step a second on one slot; the second half of a doubling is worth `keeps` of it.
class Scaling final : public SpeedModel {
 public:
  explicit Scaling(double keeps) : keeps_(keeps) {}
  [[nodiscard]] double step_seconds(Shape shape) const override {
    return 1 / std::pow(1 + keeps_, std::log2(shape.size));
  }

 private:
  double keeps_;
};

struct World {
  View view;
  std::vector<std::unique_ptr<Scaling>> scalings;

  explicit World(int slots) {
    view.now = Instant::from_micros(1'000'000'000);
    view.nodes = {{.id = NodeId(1), .slots = slots}};
  }
  JobRow& job(double steps, int deadline_s, double keeps = 1) {
    scalings.push_back(std::make_unique<Scaling>(keeps));
    JobRow& row = view.jobs.emplace_back();
    row.id = JobId(view.jobs.size());
    row.size_max = 8;
    row.steps_left = steps;
    row.deadline = view.now + Duration::seconds(deadline_s);
    row.speed = scalings.back().get();
    return row;
  }
  Allocation ask(const AllocationPolicy& policy) const { return test::decide(policy, view); }
  std::vector<int> sizes(const AllocationPolicy& policy) const { return test::sizes_of(ask(policy)); }
};

}  // namespace

TEST_CASE("edf: the job due first takes all it may, the next what is left, down to a size at which it can run") {
  World world(8);
  world.job(1'000, 900);
  world.job(1'000, 300).size_max = 4;
  world.job(1'000, 600).size_max = 1;
  CHECK(world.sizes(EarliestDeadline()) == std::vector<int>{2, 4, 1});
  world.view.jobs[1].deadline.reset();  // without a deadline it comes last
  CHECK(world.sizes(EarliestDeadline()) == std::vector<int>{4, 2, 1});
}

TEST_CASE("a plan takes the smallest size that ends in time, and no more than it needs before that") {
  const Demand demand{.levels = {{1, 1}, {2, 2}, {4, 4}}, .steps_left = 900, .deadline_s = 600};
  const DeadlinePlan alone = plan_for(demand, SlotProfile(4), 60);
  // One slot does 600 steps: not enough. Two do 1,200: enough, and in one stretch as there is one step of the profile.
  CHECK(alone.in_time);
  CHECK(alone.stretches == std::vector<Stretch>{{.from_s = 0, .size = 2}});
  CHECK(alone.ends_s == 450);
  CHECK(alone.frees_s == 480);
}

TEST_CASE("a plan waits at the smaller size for slots that become free before the deadline") {
  SlotProfile profile(4);
  profile.take({{.from_s = 0, .size = 3}}, 300);  // one slot is free until 300 s, all four afterwards
  const Demand demand{.levels = {{1, 1}, {2, 2}, {4, 4}}, .steps_left = 840, .deadline_s = 600};
  const DeadlinePlan plan = plan_for(demand, profile, 60);
  CHECK(plan.in_time);
  CHECK(plan.stretches == std::vector<Stretch>{{.from_s = 0, .size = 1}, {.from_s = 300, .size = 2}});
  CHECK(plan.ends_s == 570);
}

TEST_CASE("a plan takes the smaller size for as long as the larger one is enough from later on") {
  SlotProfile profile(5);
  profile.take({{.from_s = 0, .size = 1}}, 240);
  const Demand demand{.levels = {{1, 1}, {2, 2}, {4, 4}}, .steps_left = 650, .deadline_s = 600};
  const DeadlinePlan plan = plan_for(demand, profile, 60);
  // One slot is not enough; two are from 240 s on: 720 steps. Until then one slot does 240 of them.
  CHECK(plan.stretches == std::vector<Stretch>{{.from_s = 0, .size = 1}, {.from_s = 240, .size = 2}});
  CHECK(plan.ends_s == 445);
}

TEST_CASE("a plan that cannot end in time is the fastest one, and says so") {
  const Demand demand{.levels = {{1, 1}, {2, 2}}, .steps_left = 3'000, .deadline_s = 600};
  const DeadlinePlan plan = plan_for(demand, SlotProfile(4), 60);
  CHECK_FALSE(plan.in_time);
  CHECK(plan.stretches == std::vector<Stretch>{{.from_s = 0, .size = 2}});
  CHECK(plan.ends_s == 1'500);
}

TEST_CASE("taking a plan and giving it back leaves as many slots free as before") {
  SlotProfile profile(4);
  const std::vector<Stretch> plan{{.from_s = 0, .size = 1}, {.from_s = 120, .size = 3}};
  profile.take(plan, 300);
  CHECK(profile.free_now() == 3);
  CHECK(slot_seconds(plan, 300) == 120 + 3 * 180);
  profile.give(plan, 300);
  for (const SlotProfile::Step& step : profile.steps()) CHECK(step.free == 4);
}

TEST_CASE("elasticflow declines a job that would make an accepted one late, and accepts it if there is room") {
  World world(2);
  world.job(1'100, 600).mark.level = 1;  // accepted before: needs both slots nearly to its deadline
  world.job(500, 600);
  const Allocation full = world.ask(ElasticFlow());
  CHECK(full.grants[0].size == 2);
  CHECK(full.grants[1].declined);
  CHECK(full.grants[1].size == 0);
  world.view.jobs[1].deadline = world.view.now + Duration::seconds(1'800);
  const Allocation room = world.ask(ElasticFlow());
  CHECK_FALSE(room.grants[1].declined);
  CHECK(room.grants[1].mark.level == 1);
}

TEST_CASE("elasticflow never declines a job that has run") {
  World world(1);
  world.job(5'000, 600).held = Duration::seconds(60);
  const Allocation allocation = world.ask(ElasticFlow());
  CHECK_FALSE(allocation.grants[0].declined);
  CHECK(allocation.grants[0].size == 1);
}

TEST_CASE("elasticflow gives slots left over to the job that they shorten most cheaply") {
  World world(3);
  world.job(600, 6'000, 0.2).mark.level = 1;  // scales badly
  world.job(600, 6'000, 0.9).mark.level = 1;  // scales well
  CHECK(world.sizes(ElasticFlow()) == std::vector<int>{1, 2});
}

TEST_CASE("elasticflow asks to be asked when a plan changes a size") {
  World world(2);
  world.job(600, 400).mark.level = 1;      // both slots until 300 s
  world.job(1'000, 1'000).mark.level = 1;  // waits for them
  const Allocation allocation = world.ask(ElasticFlow());
  CHECK(allocation.grants[0].size == 2);
  REQUIRE(allocation.wake.has_value());
  CHECK(*allocation.wake == world.view.now + Duration::seconds(300));
}

TEST_CASE("a declined job that holds slots, or has run, breaks a law") {
  World world(2);
  world.job(100, 100);
  Allocation allocation{.grants = {{.declined = true}}, .order = {0}, .placements = {}};
  CHECK(check_allocation(world.view, allocation).ok());
  allocation.grants[0].size = 1;
  CHECK_FALSE(check_allocation(world.view, allocation).ok());
  allocation.grants[0].size = 0;
  world.view.jobs[0].held = Duration::seconds(1);
  CHECK_FALSE(check_allocation(world.view, allocation).ok());
}

TEST_CASE("tiresias_dlas: a job falls behind the other queue at 3,250 GPU-seconds, and asks for that moment") {
  World world(4);
  world.job(1, 1).size_wanted = 4;
  world.job(1, 1).size_wanted = 4;
  Allocation allocation = world.ask(TiresiasDlas());
  CHECK(allocation.grants[0].size == 4);
  CHECK(allocation.grants[1].size == 0);
  REQUIRE(allocation.wake.has_value());
  CHECK(*allocation.wake == world.view.now + Duration::seconds(813));  // 3,250 / 4, rounded up
  world.view.jobs[0].placement = {{.node = 0, .slots = 4}};
  world.view.jobs[0].slot_seconds = 3'252;
  for (std::size_t row = 0; row < 2; ++row) world.view.jobs[row].mark = allocation.grants[row].mark;
  allocation = world.ask(TiresiasDlas());
  CHECK(allocation.grants[0].size == 0);
  CHECK(allocation.grants[0].mark.level == 1);
  CHECK(allocation.grants[1].size == 4);
}

TEST_CASE("tiresias_dlas: a job that waits keeps its mark while no other passes it, and the order is what it was") {
  World world(8);
  for (int i = 0; i < 6; ++i) world.job(1, 1).size_wanted = 4;
  const auto follow = [&](const Allocation& allocation) {
    for (std::size_t row = 0; row < world.view.jobs.size(); ++row) {
      JobRow& job = world.view.jobs[row];
      job.mark = allocation.grants[row].mark;
      job.placement.clear();
      if (allocation.grants[row].size > 0) job.placement = {{.node = 0, .slots = allocation.grants[row].size}};
    }
  };
  follow(world.ask(TiresiasDlas()));
  world.view.now = world.view.now + Duration::seconds(60);
  std::vector<Mark> before;
  for (const JobRow& job : world.view.jobs) before.push_back(job.mark);
  const Allocation again = world.ask(TiresiasDlas());
  for (std::size_t row = 0; row < before.size(); ++row) {
    INFO("row " << row);
    CHECK((again.grants[row].mark == before[row]) == (again.grants[row].size == 0));
  }
  // The first falls into the second queue, and the others keep their order.
  world.view.jobs[0].slot_seconds = 3'252;
  follow(world.ask(TiresiasDlas()));
  CHECK(world.view.jobs[0].mark.level == 1);
  CHECK(world.ask(TiresiasDlas()).order == std::vector<std::size_t>{1, 2, 3, 4, 5, 0});
}

TEST_CASE("tiresias_dlas: within a queue those that run keep their slots from those that wait") {
  World world(4);
  world.job(1, 1).size_wanted = 3;
  world.job(1, 1).size_wanted = 3;
  world.view.jobs[0].mark = {.level = 0, .since = world.view.now, .numbers = {1}};  // waited before
  world.view.jobs[1].mark = {.level = 0, .since = world.view.now, .numbers = {0}};  // ran before
  world.view.jobs[1].placement = {{.node = 0, .slots = 3}};
  CHECK(world.sizes(TiresiasDlas()) == std::vector<int>{0, 3});
}

}  // namespace tidepool::policies::cluster
