// The policies that size the whole cluster at once, rule by rule, on a table of step times.
#include <catch2/catch.hpp>

#include <limits>

#include "policies/cluster/allocation_check.hpp"
#include "policies/cluster/plain_queues.hpp"
#include "policies/cluster/queue_grants.hpp"
#include "policies/cluster/size_grants.hpp"
#include "policies/cluster/tiresias.hpp"
#include "policies/place/most_free.hpp"
#include "policies/place/pack.hpp"
#include "studies/baselines/optimus.hpp"
#include "studies/baselines/registry.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::policies::cluster {
namespace {

constexpr std::int64_t kEnough = 1'000'000;

// Step seconds by size, from 1; infinite beyond.
class Table final : public SpeedModel {
 public:
  explicit Table(std::vector<double> seconds) : seconds_(std::move(seconds)) {}
  [[nodiscard]] double step_seconds(Shape shape) const override {
    const auto size = static_cast<std::size_t>(shape.size);
    return size <= seconds_.size() ? seconds_[size - 1] : std::numeric_limits<double>::infinity();
  }

 private:
  std::vector<double> seconds_;
};

const Table kHalving({8, 4, 2, 1, 0.9, 0.8, 0.7, 0.6});
const Table kFlat({8, 7.5, 7.5, 7.5});

View view_of(int nodes, int slots, int jobs) {
  View view{.now = Instant::from_micros(600'000'000), .nodes = {}, .jobs = {}};
  for (int i = 1; i <= nodes; ++i) view.nodes.push_back({.id = NodeId(static_cast<std::uint64_t>(i)), .slots = slots});
  for (int i = 1; i <= jobs; ++i) {
    JobRow job;
    job.id = JobId(static_cast<std::uint64_t>(i));
    job.size_max = 8;
    job.steps_left = 100;
    job.speed = &kHalving;
    view.jobs.push_back(job);
  }
  return view;
}

std::vector<int> sizes_of(const Allocation& allocation) {
  std::vector<int> sizes;
  for (const Grant& grant : allocation.grants) sizes.push_back(grant.size);
  return sizes;
}

Allocation decide(const AllocationPolicy& policy, const View& view) {
  core::StepBudget budget(kEnough);
  return policy.allocate(view, budget);
}

}  // namespace

TEST_CASE("tiresias: a job that was given 16 GPU-hours goes behind those that were not") {
  View view = view_of(1, 4, 2);
  view.jobs[0].size_wanted = view.jobs[1].size_wanted = 4;
  view.jobs[0].held = Duration::seconds(14'399);
  CHECK(sizes_of(decide(Tiresias(), view)) == std::vector<int>{4, 0});
  view.jobs[0].held = Duration::seconds(14'400);  // x 4 = 57,600
  const Allocation after = decide(Tiresias(), view);
  CHECK(sizes_of(after) == std::vector<int>{0, 4});
  CHECK(after.grants[0].mark == Mark{.level = 1, .since = view.now});
  CHECK(test::says<core::reason::TurnWait>(after.grants[0].reason));
}

TEST_CASE("tiresias: within the second queue the job that came there first is first, whatever its age") {
  View view = view_of(1, 4, 2);
  view.jobs[0].size_wanted = view.jobs[1].size_wanted = 4;
  view.jobs[0].mark = {.level = 1, .since = Instant::from_micros(500)};
  view.jobs[1].mark = {.level = 1, .since = Instant::from_micros(400)};
  CHECK(sizes_of(decide(Tiresias(), view)) == std::vector<int>{0, 4});
}

TEST_CASE("a line tells every job which one is next on its other side, and how far away") {
  View view = view_of(1, 4, 3);
  for (JobRow& job : view.jobs) job.size_wanted = 2;
  view.jobs[0].slot_seconds = 7'200;
  view.jobs[1].slot_seconds = 3'600;
  const Allocation allocation = decide(LeastAttained(), view);
  CHECK(sizes_of(allocation) == std::vector<int>{0, 2, 2});
  const Grant& waits = allocation.grants[0];
  CHECK(test::number_in(waits.reason, "rival") == 2);  // the last that is served before it
  CHECK(test::number_in(waits.reason, "bar") == 3'600);
  REQUIRE(waits.lost.size() == 1);
  CHECK(waits.lost[0].size == 2);
  CHECK(waits.lost[0].score == Approx(-1));  // slot-hours
  CHECK(test::number_in(allocation.grants[1].reason, "rival") == 1);
  CHECK(allocation.grants[1].score == Approx(1));
  CHECK(allocation.grants[2].score == Approx(2));
  view.explained = false;
  CHECK(decide(LeastAttained(), view).grants[0].lost.empty());
}

TEST_CASE("a size is held against what its slots bring others, taken or given up") {
  View view = view_of(1, 3, 2);
  const std::vector<std::vector<double>> worth{{0, 1, 1.8, 2}, {0, 1, 1.1, 1.2}};
  for (JobRow& job : view.jobs) job.size_max = 3;
  const Allocation allocation = grant_sizes(view, {{.size = 2}, {.size = 1}}, by_speedup(worth));
  const auto score = [&](std::size_t row, int size) {
    for (const core::Alternative& lost : allocation.grants[row].lost) {
      if (lost.size == size) return lost.score;
    }
    return std::numeric_limits<double>::quiet_NaN();
  };
  CHECK(score(0, 3) == Approx(0.2 - 1));     // the third slot would be the other's only one
  CHECK(score(0, 1) == Approx(-0.8 + 0.1));  // and the second would bring the other less
  CHECK(score(1, 2) == Approx(0.1 - 0.8));
  CHECK(allocation.grants[0].lost.front().size == 1);
  CHECK(test::number_in(allocation.grants[1].lost.front().reason, "rival") == 1);
}

TEST_CASE("at its largest size a job is told what bounds it, by sizes of its own alone") {
  const Table speed({1.0, 1 / 1.04, 1 / 1.04, 0.25});
  const core::ScalingSpec scaling;
  JobRow job;
  job.size_max = 1;
  job.largest_seen = 2;  // by its kind
  job.speed = &speed;
  job.scaling = &scaling;
  CHECK(test::says<core::reason::AtMax>(at_the_top(job, 1, 0).reason));  // its file has no larger size
  job.size_beyond = 2;
  const core::Reason settled = at_the_top(job, 1, 0).reason;
  CHECK(test::says<core::reason::EfficiencySettled>(settled));
  CHECK(test::number_in(settled, "next") == 2);
  CHECK(test::number_in(settled, "efficiency") == Approx(0.04));
  CHECK(test::number_in(settled, "threshold") == scaling.efficiency_threshold);
  job.size_beyond = 4;  // of sizes 1 and 4, and the fourth pays
  CHECK(test::says<core::reason::NoSlotsToGrow>(at_the_top(job, 1, 2).reason));
  job.bound = core::reason::NoMeasurements{{.size = 1}};
  CHECK(test::says<core::reason::NoMeasurements>(at_the_top(job, 1, 0).reason));
  job.size_max = 4;
  job.largest_seen = 1;
  CHECK(test::says<core::reason::Measuring>(at_the_top(job, 2, 0).reason));
}

TEST_CASE("a queue with overtaking passes over what does not fit; a strict one stops there") {
  View view = view_of(1, 4, 3);
  view.jobs[0].size_wanted = 3;
  view.jobs[1].size_wanted = 2;
  view.jobs[2].size_wanted = 1;
  CHECK(sizes_of(grant_in_order(view, {0, 1, 2}, Overtaking::kAllowed)) == std::vector<int>{3, 0, 1});
  const Allocation strict = grant_in_order(view, {0, 1, 2}, Overtaking::kNever);
  CHECK(sizes_of(strict) == std::vector<int>{3, 0, 0});
  CHECK(test::says<core::reason::BehindOlderJob>(strict.grants[2].reason));
  view.jobs[0].size_wanted = 5;
  CHECK(test::says<core::reason::NeverFits>(grant_in_order(view, {0, 1, 2}, Overtaking::kAllowed).grants[0].reason));
}

TEST_CASE("fifo is strict, srtf takes the shortest first and the unknown last, las the least served first") {
  View view = view_of(1, 4, 3);
  for (JobRow& job : view.jobs) job.size_wanted = 3;
  CHECK(sizes_of(decide(StrictFifo(), view)) == std::vector<int>{3, 0, 0});
  view.jobs[0].steps_left.reset();
  view.jobs[1].steps_left = 50;
  view.jobs[2].steps_left = 40;
  CHECK(sizes_of(decide(ShortestRemaining(), view)) == std::vector<int>{0, 0, 3});
  view.jobs[1].speed = &kFlat;  // 50 x 7.5 s against 40 x 2 s
  view.jobs[2].size_wanted = 4;
  CHECK(sizes_of(decide(ShortestRemaining(), view)) == std::vector<int>{0, 0, 4});
  view.jobs[0].slot_seconds = 30;
  view.jobs[1].slot_seconds = 10;
  view.jobs[2].slot_seconds = 20;
  CHECK(decide(LeastAttained(), view).order == std::vector<std::size_t>{1, 2, 0});
}

TEST_CASE("optimus: the next slot goes to the job whose remaining time falls most") {
  View view = view_of(2, 4, 2);
  view.jobs[1].speed = &kFlat;
  // Job 1 falls by 400, 200, 100 s, then 10 a slot; job 2 by 50, then 0.
  CHECK(sizes_of(decide(Optimus(), view)) == std::vector<int>{6, 2});
  view.jobs[1].steps_left = 100'000;
  CHECK(sizes_of(decide(Optimus(), view)) == std::vector<int>{6, 2});
  view.jobs[0].steps_left = 0.1;
  view.jobs[1].speed = &kHalving;
  CHECK(sizes_of(decide(Optimus(), view)) == std::vector<int>{1, 7});
}

TEST_CASE("optimus: every job gets one before any gets two, and none more than its batch allows") {
  View view = view_of(1, 4, 6);
  CHECK(sizes_of(decide(Optimus(), view)) == std::vector<int>{1, 1, 1, 1, 0, 0});
  view = view_of(2, 4, 1);
  view.jobs[0].size_max = 3;
  const Allocation allocation = decide(Optimus(), view);
  CHECK(sizes_of(allocation) == std::vector<int>{3});
  CHECK(test::says<core::reason::Started>(allocation.grants[0].reason));
}

TEST_CASE("optimus: a size of which nothing is known is not taken") {
  View view = view_of(2, 4, 1);
  view.jobs[0].speed = &kFlat;  // nothing beyond 4, nothing to gain beyond 2
  CHECK(sizes_of(decide(Optimus(), view)) == std::vector<int>{2});
  const Table nothing({});
  view.jobs[0].speed = &nothing;
  CHECK(sizes_of(decide(Optimus(), view)) == std::vector<int>{1});
}

TEST_CASE("most_free: unchanged jobs stay, others take the emptiest node first, then the next") {
  View view = view_of(3, 4, 3);
  view.jobs[0].placement = {{.node = 1, .slots = 3}};
  view.jobs[1].placement = {{.node = 0, .slots = 1}};
  Allocation allocation{.grants = std::vector<Grant>(3), .order = {2, 1, 0}};
  allocation.grants[0].size = 3;  // as it holds
  allocation.grants[1].size = 6;  // grows
  allocation.grants[2].size = 2;  // new, and served first
  const auto placements = MostFree().place(view, allocation);
  CHECK(placements[0] == view.jobs[0].placement);
  CHECK(placements[2] == Placement{{.node = 0, .slots = 2}});
  CHECK(placements[1] == Placement{{.node = 2, .slots = 4}, {.node = 0, .slots = 2}});
  CHECK(check_placements(view, allocation, placements).ok());
}

TEST_CASE("pack: a small job goes to the fullest node with room, a large one takes whole nodes first") {
  View view = view_of(4, 4, 4);
  view.jobs[0].placement = {{.node = 0, .slots = 1}};
  view.jobs[1].placement = {{.node = 1, .slots = 2}};
  Allocation allocation{.grants = std::vector<Grant>(4), .order = {3, 2, 0, 1}};
  allocation.grants[0].size = 1;  // stays
  allocation.grants[1].size = 2;  // stays
  allocation.grants[2].size = 2;
  allocation.grants[3].size = 6;
  const auto placements = Pack().place(view, allocation);
  CHECK(placements[3] == Placement{{.node = 2, .slots = 4}, {.node = 1, .slots = 2}});
  CHECK(placements[2] == Placement{{.node = 0, .slots = 2}});
  CHECK(check_placements(view, allocation, placements).ok());
}

TEST_CASE("the check names each broken law of an allocation") {
  View view = view_of(1, 4, 2);
  const Allocation good{.grants = {{.size = 2}, {.size = 2}}, .order = {0, 1}};
  CHECK(check_allocation(view, good).ok());
  const auto message = [&](const Allocation& bad) {
    const Status status = check_allocation(view, bad);
    return status.ok() ? std::string() : status.error().message;
  };
  CHECK(message({.grants = {{.size = 2}}, .order = {0}}) == "a policy answers for every job, and once");
  CHECK(message({.grants = {{.size = 3}, {.size = 2}}, .order = {0, 1}}) ==
        "the sizes add up to 5 slots, the cluster has 4");
  CHECK(message({.grants = {{.size = -1}, {.size = 2}}, .order = {0, 1}}) == "job-1: size -1 is not between 0 and 8");
  CHECK(message({.grants = {{.size = 2}, {.size = 9}}, .order = {0, 1}}) == "job-2: size 9 is not between 0 and 8");
  CHECK(message({.grants = {{.size = 2}, {.size = 2}}, .order = {0, 0}}) ==
        "the order of placement names row 0 twice or beyond the last job");
  CHECK(message({.grants = {{.size = 2}, {.size = 2}}, .order = {1}}) == "the order of placement leaves jobs out");
}

TEST_CASE("the check names each broken law of placements") {
  const View view = view_of(2, 4, 2);
  const Allocation allocation{.grants = {{.size = 3}, {.size = 2}}, .order = {0, 1}};
  const auto message = [&](const std::vector<Placement>& placements) {
    const Status status = check_placements(view, allocation, placements);
    return status.ok() ? std::string() : status.error().message;
  };
  CHECK(message({{{0, 3}}, {{1, 2}}}).empty());
  CHECK(message({{{0, 3}}}) == "a place stage answers for every job, and once");
  CHECK(message({{{0, 3}}, {{0, 2}}}) == "job-2: node node-1 is given more slots than it has");
  CHECK(message({{{0, 2}}, {{1, 2}}}) == "job-1: was granted 3 slots and placed on 2");
  CHECK(message({{{0, 3}}, {{2, 2}}}) == "job-2: placed on a node that does not exist");
  CHECK(message({{{0, 3}}, {{1, 1}, {1, 1}}}) == "job-2: has two shares on one node");
  CHECK(message({{{0, 3}}, {{1, 2}, {0, 0}}}) == "job-2: has a share without slots");
}

TEST_CASE("an unknown policy for the cluster is answered with the known ones") {
  CHECK(studies::find_preset("tiresias").ok());
  const auto unknown = studies::find_preset("tiresia");
  REQUIRE(!unknown.ok());
  CHECK(unknown.error().message.find("tiresias") != std::string::npos);
}

}  // namespace tidepool::policies::cluster
