// What a policy for the whole cluster sees of the engine's records, and what becomes of its answer.
#include <catch2/catch.hpp>

#include <cmath>

#include "policies/cluster/engine_rows.hpp"
#include "policies/cluster/lawful_plan.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/job_records.hpp"

namespace tidepool::policies::cluster {
namespace {

using test::JobWorld;

// One row that holds nothing, in a cluster of so many nodes of four slots.
View view_of(int nodes, std::vector<JobRow> jobs) {
  View view;
  for (int i = 1; i <= nodes; ++i) view.nodes.push_back({.id = NodeId(static_cast<std::uint64_t>(i)), .slots = 4});
  view.jobs = std::move(jobs);
  return view;
}

JobRow row(std::uint64_t id, std::vector<int> sizes, int each = 1) {
  JobRow job;
  job.id = JobId(id);
  job.sizes = std::move(sizes);
  job.size_min = job.sizes.front();
  job.size_max = job.sizes.back();
  job.slots_per_worker = each;
  return job;
}

Allocation grants(std::vector<int> sizes) {
  Allocation allocation;
  for (const int size : sizes) {
    allocation.order.push_back(allocation.grants.size());
    allocation.grants.push_back({.size = size, .reason = {core::ReasonCode::kStarted, {{"size", double(size)}}}});
  }
  return allocation;
}

}  // namespace

TEST_CASE("a job's speed is what was measured, and a stated guess where nothing was") {
  JobWorld world({1, 2, 4, 8});
  CHECK(JobSpeed(world.job).goodput({.nodes = 1, .size = 4}) == Approx(4 / 1.15));  // nothing seen
  world.measured(1, 100).measured(2, 180);
  const JobSpeed speed(world.job);
  CHECK(speed.goodput({.nodes = 1, .size = 2}) == Approx(180.0 / 4'096));
  CHECK(speed.step_seconds({.nodes = 1, .size = 1}) == Approx(40.96));
  const double four = speed.goodput({.nodes = 1, .size = 4}) * 4'096;
  CHECK(four > 180);
  CHECK(four <= 360);  // nobody scales better than without loss
  CHECK(speed.largest_measured() == 2);
}

TEST_CASE("a job that has had one size is expected to lose less than half its speed on half the slots") {
  JobWorld world({1, 2, 4, 8});
  world.measured(8, 800);
  const JobSpeed speed(world.job);
  CHECK(speed.goodput({.nodes = 1, .size = 8}) * 4'096 == Approx(800));
  CHECK(speed.goodput({.nodes = 1, .size = 4}) * 4'096 == Approx(800 * (4 / 1.15) / (8 / 1.35)));
  CHECK(speed.goodput({.nodes = 1, .size = 1}) * 4'096 == Approx(800 / (8 / 1.35)));
}

TEST_CASE("noise makes a larger batch worth less, and a worker of two slots counts as one") {
  JobWorld world({1, 2});
  world.job.spec.gpus_per_worker = 2;
  world.job.spec.batch.global = 100;
  world.measured(1, 100).measured(2, 200);
  world.job.sizes[2].step_seconds = 1;  // a batch of 200
  world.job.spec.batch.on_resize = core::OnResize::kLinear;
  world.job.noise_scale = 100;
  const JobSpeed speed(world.job);
  CHECK(speed.goodput({.nodes = 1, .size = 2}) == Approx(1));
  CHECK(speed.goodput({.nodes = 1, .size = 4}) == Approx(2 * 200.0 / 300));
}

TEST_CASE("sizes are cut to allowed ones, and slots go in the policy's order") {
  const View view = view_of(1, {row(1, {2, 4}), row(2, {1, 2, 3})});
  CHECK(lawful_plan(view, grants({3, 1}), 4)[0].size == 2);
  CHECK(lawful_plan(view, grants({1, 3}), 4)[0].size == 0);
  Allocation later = grants({2, 2});
  later.order = {1, 0};
  const auto plan = lawful_plan(view, later, 4);
  CHECK(plan[1].size == 2);
  CHECK(plan[1].place == 0);
  CHECK(plan[0].size == 2);
}

TEST_CASE("a job that may not be preempted keeps its least size, and the others share the rest") {
  View view = view_of(1, {row(1, {2, 4}), row(2, {1, 2, 3, 4})});
  view.jobs[0].placement = {{.node = 0, .slots = 4}};
  view.jobs[0].preemptible = false;
  const auto plan = lawful_plan(view, grants({0, 4}), 4);
  CHECK(plan[0].size == 2);
  CHECK(plan[1].size == 2);
}

TEST_CASE("workers of several slots get no more than nodes have room for") {
  View view = view_of(2, {row(1, {3}, 3), row(2, {3, 6}, 3), row(3, {1, 2}, 1)});
  const auto plan = lawful_plan(view, grants({3, 3, 2}), 8);
  CHECK(plan[0].size == 1);
  CHECK(plan[1].size == 1);
  CHECK(plan[2].size == 2);
  view.jobs[0].placement = {{.node = 0, .slots = 2}, {.node = 1, .slots = 2}};  // in the way of any gang of three
  view.jobs[0] = row(1, {4}, 1);
  view.jobs[0].placement = {{.node = 0, .slots = 2}, {.node = 1, .slots = 2}};
  const auto cut = lawful_plan(view, grants({4, 3, 1}), 8);
  CHECK(cut[0].size == 4);
  CHECK(cut[1].size == 0);
  CHECK(cut[1].reason.code == core::ReasonCode::kWaitingForSlots);
}

TEST_CASE("numbers that are not finite never leave the policy, and sizes in reasons are workers") {
  const View view = view_of(1, {row(1, {2, 4}, 2)});
  Allocation allocation = grants({4});
  allocation.grants[0].reason = {core::ReasonCode::kPriceHold, {{"size", 4}, {"price", HUGE_VAL}}};
  allocation.grants[0].lost = {{.size = 2, .score = std::nan(""), .reason = {}}};
  allocation.grants[0].mark.numbers = {1, std::nan("")};
  const auto plan = lawful_plan(view, allocation, 4);
  CHECK(plan[0].size == 2);
  CHECK(plan[0].reason.number("size") == 2);
  CHECK(plan[0].reason.number("price") == 0);
  CHECK(plan[0].lost[0].size == 1);
  CHECK(plan[0].lost[0].score == 0);
  CHECK(plan[0].mark.numbers == std::vector<double>{1});
}

TEST_CASE("who needs more than the cluster has never fits; who needs what fixed claims hold waits") {
  const View view = view_of(1, {row(1, {8})});
  CHECK(lawful_plan(view, grants({0}), 4)[0].reason.code == core::ReasonCode::kNeverFits);
  CHECK(lawful_plan(view, grants({0}), 8)[0].reason.code == core::ReasonCode::kWaitingForSlots);
}

}  // namespace tidepool::policies::cluster
