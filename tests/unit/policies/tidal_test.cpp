// The policy tidal, rule by rule. The first case is the worked example of policies/tidal/README.md.
#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>

#include "policies/cluster/allocation_check.hpp"
#include "policies/tidal/node_room.hpp"
#include "policies/tidal/tidal.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::policies::tidal {
namespace {

using cluster::Allocation;
using cluster::JobRow;
using cluster::Placement;
using cluster::Shape;
using cluster::View;

// Seconds a step by size, from 1; infinite beyond. Twice as long on more nodes than needed.
class Table final : public cluster::SpeedModel {
 public:
  Table(std::vector<double> seconds, int slots_per_node) : seconds_(std::move(seconds)), per_node_(slots_per_node) {}
  [[nodiscard]] double step_seconds(Shape shape) const override {
    const auto size = static_cast<std::size_t>(shape.size);
    if (size > seconds_.size()) return std::numeric_limits<double>::infinity();
    return seconds_[size - 1] * (shape.nodes > cluster::packed(shape.size, per_node_).nodes ? 2 : 1);
  }

 private:
  std::vector<double> seconds_;
  int per_node_;
};

Table linear(int sizes, int slots_per_node) {
  std::vector<double> seconds;
  for (int size = 1; size <= sizes; ++size) seconds.push_back(1.0 / size);
  return {seconds, slots_per_node};
}

const Table kGood({1, 1 / 2.0, 1 / 2.5, 1 / 3.0}, 4);
const Table kFair({1, 1 / 1.5, 1 / 1.7, 1 / 2.0}, 4);
const Table kLinear = linear(64, 4);

View view_of(int nodes, std::vector<const Table*> speeds) {
  View view{.now = Instant::from_micros(0), .nodes = {}, .jobs = {}};
  for (int i = 1; i <= nodes; ++i) view.nodes.push_back({.id = NodeId(static_cast<std::uint64_t>(i)), .slots = 4});
  for (const Table* speed : speeds) {
    JobRow job;
    job.id = JobId(view.jobs.size() + 1);
    job.size_max = 64;
    job.useful_left = 1'000;
    job.largest_seen = 64;
    job.speed = speed;
    view.jobs.push_back(job);
  }
  return view;
}

Allocation decide(const View& view) {
  core::StepBudget budget(1'000'000);
  Allocation allocation = Tidal().allocate(view, budget);
  REQUIRE(check_allocation(view, allocation).ok());
  REQUIRE(check_placements(view, allocation, allocation.placements).ok());
  return allocation;
}

std::vector<int> sizes_of(const Allocation& allocation) {
  std::vector<int> sizes;
  for (const cluster::Grant& grant : allocation.grants) sizes.push_back(grant.size);
  return sizes;
}

}  // namespace

TEST_CASE("the worked example: two jobs, four slots") {
  View view = view_of(1, {&kGood, &kFair});
  view.jobs[0].useful_left = 600;
  view.jobs[1].useful_left = 1'200;

  const UtilityCurve first(view.jobs[0], pool_of(view), {.behind = 2});
  REQUIRE(first.curve().size() == 4);
  CHECK(first.curve()[1].worth == Approx(2));
  CHECK(first.curve()[2].worth == Approx(4));
  CHECK(first.curve()[3].worth == Approx(6));
  const UtilityCurve second(view.jobs[1], pool_of(view), {.behind = 1});
  CHECK(second.curve()[1].worth == Approx(5 / 3.0));
  CHECK(second.curve()[2].worth == Approx(5 / 2.0));
  CHECK(second.curve()[3].worth == Approx(10 / 3.0));

  MarketState market_state(pool_of(view));
  for (const JobRow& job : view.jobs) market_state.put(job, view.now);
  core::StepBudget budget(1'000);
  CHECK(market_state.settle(view.now, budget).price == Approx(1));
  CHECK(market_state.market().choice(JobId(1)).size == 2);
  CHECK(market_state.market().choice(JobId(2)).size == 2);
  CHECK(market_state.market().worth() == Approx(6.5));
  CHECK(market_state.market().bound() == Approx(20 / 3.0));

  const Allocation allocation = decide(view);
  CHECK(sizes_of(allocation) == std::vector<int>{2, 2});
  CHECK(allocation.worth == Approx(6.5));
  CHECK(allocation.bound == Approx(20 / 3.0));
}

TEST_CASE("levelling comes on with the number of long jobs, and lifts only what lies below the level") {
  RemainingWork remaining_work;
  const auto others_of = [&](RemainingWork::Class of) {
    for (const auto& [at, others] : remaining_work.others(5)) {
      if (at == of) return others;
    }
    return Others{};
  };
  CHECK(remaining_work.long_jobs() == 0);
  CHECK(remaining_work.others(5).empty());
  const RemainingWork::Class longest = RemainingWork::class_of(100'000);
  const RemainingWork::Class tenth = RemainingWork::class_of(10'000);
  remaining_work.add(longest);
  for (int i = 0; i < 10; ++i) remaining_work.add(tenth);
  CHECK(remaining_work.long_jobs() == Approx(2).epsilon(0.05));
  CHECK(others_of(longest).levelling <= 1 / 16.0);
  for (int i = 0; i < 3; ++i) remaining_work.add(longest);
  CHECK(others_of(longest).levelling == Approx(0.5).margin(1 / 16.0));
  CHECK(others_of(tenth).behind == 14);
  for (int i = 0; i < 40; ++i) remaining_work.add(longest);
  CHECK(others_of(longest).levelling == 1);
  remaining_work.remove(longest);
  for (int i = 0; i < 10; ++i) remaining_work.remove(tenth);
  CHECK(remaining_work.others(5).size() == 1);
  CHECK(others_of(longest).behind == Approx(43).epsilon(0.05));

  // Of 64 slots a job with none behind it reckons with next to no price, so it puts little value on its speed.
  View view = view_of(16, {&kGood});
  JobRow& job = view.jobs[0];
  job.useful_left = 600;
  const auto weight = [&](const Others& others) {
    return UtilityCurve(job, pool_of(view), others).in({.nodes = 1, .size = 1}, true);
  };
  const double low = weight({.behind = 1});
  CHECK(low < kLevel);
  CHECK(weight({.behind = 1, .levelling = 0.5}) == Approx((low + kLevel) / 2));
  CHECK(weight({.behind = 1, .levelling = 1}) == Approx(kLevel));
  CHECK(weight({.behind = 60, .levelling = 1}) == weight({.behind = 60}));
  job.deadline = view.now + Duration::seconds(3'600);
  CHECK(weight({.behind = 1, .levelling = 1}) == Approx(low));
}

TEST_CASE("a hull has the corners at which the worth per slot falls, and no others") {
  CHECK(hull_of({{0, 0}, {1, 1}, {2, 2}, {3, 2.5}}) == Corners{0, 2, 3});            // 1 lies on the line
  CHECK(hull_of({{0, 0}, {4, 3}, {8, 3.2}, {12, 6}, {16, 6}}) == Corners{0, 1, 3});  // 2 lies under it, 4 rises no more
  CHECK(hull_of({{0, 0}, {1, 0}}) == Corners{0});
  CHECK(hull_of({{2, 1}}) == Corners{0});
}

TEST_CASE("when slots are short, the job with the least left goes first, or else the one that was served least") {
  View view = view_of(1, {&kGood, &kGood});
  view.nodes[0].slots = 1;
  view.jobs[0].useful_left = 10'000;
  CHECK(sizes_of(decide(view)) == std::vector<int>{0, 1});
  view.jobs[0].useful_left = view.jobs[1].useful_left = std::nullopt;
  view.jobs[0].useful_expected = 10'000;  // what others of its kind let expect counts like what was declared
  view.jobs[1].useful_expected = 1'000;
  CHECK(sizes_of(decide(view)) == std::vector<int>{0, 1});
  view.jobs[0].useful_expected = view.jobs[1].useful_expected = std::nullopt;
  view.jobs[0].slot_seconds = 60'000;
  CHECK(sizes_of(decide(view)) == std::vector<int>{0, 1});
  view.jobs[0].weight = 100;
  CHECK(sizes_of(decide(view)) == std::vector<int>{1, 0});
}

TEST_CASE("a new job of a fixed size and unknown length goes before one of many that have run for long") {
  View view = view_of(1, std::vector<const Table*>(41, &kGood));
  for (std::size_t i = 0; i < view.jobs.size(); ++i) {
    JobRow& job = view.jobs[i];
    job.size_min = job.size_max = 1;
    job.transition = Duration::seconds(30);
    job.useful_left = std::nullopt;
    if (i < 40) job.slot_seconds = 100'000;
    if (i < 4) job.placement = {{.node = 0, .slots = 1}};
  }
  const std::vector<int> sizes = sizes_of(decide(view));
  CHECK(sizes[40] == 1);
  CHECK(std::count(sizes.begin(), sizes.begin() + 4, 1) == 3);
  // What its kin let expect of a job that takes turns changes nothing.
  view.jobs[40].useful_expected = 1e9;
  CHECK(sizes_of(decide(view)) == sizes);
}

TEST_CASE("a job of a fixed size keeps its slots where coming back costs more than others gain") {
  View view = view_of(1, std::vector<const Table*>(10, &kGood));
  view.nodes[0].slots = 1;
  for (JobRow& job : view.jobs) {
    job.size_min = job.size_max = 1;
    job.costs.start = job.costs.resume = Duration::seconds(30);
    job.useful_left = 10'000;
  }
  view.jobs[0].placement = {{.node = 0, .slots = 1}};
  view.jobs[0].useful_left = 300;
  view.jobs[1].useful_left = 20;
  CHECK(sizes_of(decide(view))[0] == 1);
  view.jobs[0].useful_left = 2'000;
  CHECK(sizes_of(decide(view))[1] == 1);
}

// Hours until the first job, which has so much left, has the slot of the second, which has a tenth of that.
int hours_waited(double useful_left) {
  View view = view_of(1, {&kGood, &kGood});
  view.nodes[0].slots = 1;
  view.jobs[0].useful_left = useful_left;
  view.jobs[1].useful_left = useful_left / 10;
  view.jobs[1].placement = {{.node = 0, .slots = 1}};
  int hours = 0;
  while (sizes_of(decide(view))[0] == 0 && hours < 1'000) {
    ++hours;
    view.now = Instant::from_micros(hours * 3'600'000'000LL);
    view.jobs[1].held = Duration::seconds(hours * 3'600);
  }
  return hours;
}

TEST_CASE("a job that waits is worth more with every step, which is a part of its own length, until it starts") {
  const int of_short = hours_waited(1'000);
  const int of_long = hours_waited(10'000);
  CHECK(of_short > 1);
  CHECK(of_short < 24);
  CHECK(of_long > 8 * of_short);
  CHECK(of_long < 12 * of_short);
}

TEST_CASE(
    "a start is owed whenever it comes, so it lowers no bid; giving up everything is paid for by the job that does") {
  View view = view_of(1, {&kLinear, &kLinear});
  view.nodes[0].slots = 1;
  for (JobRow& job : view.jobs) {
    job.size_max = 1;
    job.transition = Duration::seconds(30);
  }
  view.jobs[0].useful_left = 20;  // with the start that it owes fifty
  view.jobs[1].useful_left = 100'000;
  view.jobs[1].placement = {{.node = 0, .slots = 1}};
  CHECK(sizes_of(decide(view)) == std::vector<int>{1, 0});
  view.jobs[1].useful_left = 40;  // to come back would take it nearly as long as to end
  CHECK(sizes_of(decide(view)) == std::vector<int>{0, 1});
}

TEST_CASE("of jobs of a fixed size both the time and the slot time that are left count") {
  View view = view_of(2, {&kLinear, &kLinear});
  const auto gang_of = [&](std::size_t row, int size, double seconds) {
    view.jobs[row].size_min = view.jobs[row].size_max = size;
    view.jobs[row].useful_left = seconds * size;
  };
  gang_of(0, 8, 1'000);
  gang_of(1, 2, 1'900);  // 2,687 s against 2,828 s: a quarter of the slots is worth twice the time
  CHECK(sizes_of(decide(view)) == std::vector<int>{0, 2});
  gang_of(1, 2, 2'200);
  CHECK(sizes_of(decide(view)) == std::vector<int>{8, 0});
}

TEST_CASE("a job of a fixed size takes scattered slots that others leave, whatever the price") {
  View view = view_of(2, {&kLinear, &kLinear, &kLinear, &kLinear});
  const auto hold = [&](std::size_t row, cluster::Placement placement) {
    JobRow& job = view.jobs[row];
    job.size_min = job.size_max = size_of(placement);
    job.useful_left = 100.0 * job.size_max;
    job.placement = std::move(placement);
  };
  hold(0, {{.node = 0, .slots = 3}});
  hold(1, {{.node = 1, .slots = 3}});
  view.jobs[2].size_min = view.jobs[2].size_max = 4;  // the price is what this one bids
  view.jobs[2].useful_left = 2'000;
  view.jobs[3].size_min = view.jobs[3].size_max = 2;
  view.jobs[3].useful_left = 90'000;
  CHECK(sizes_of(decide(view)) == std::vector<int>{3, 3, 0, 2});
}

TEST_CASE(
    "joining workers that boot hold slots that do nothing, and a job that gives up everything has to start again") {
  View view = view_of(1, {&kLinear});
  JobRow& job = view.jobs[0];
  job.useful_left = 1e9;
  job.placement = {{.node = 0, .slots = 2}};
  const auto worth_of = [&](int size) {
    const Curve curve = UtilityCurve(job, pool_of(view), {.behind = 1}).curve();
    return std::find_if(curve.begin(), curve.end(), [&](const Choice& choice) { return choice.size == size; })->worth;
  };
  const double two = worth_of(2);
  const double four = worth_of(4);
  CHECK(worth_of(0) == 0);
  job.costs.boot = Duration::seconds(35);  // a tenth of the horizon, on two slots more
  CHECK(worth_of(4) == Approx(four - (four - two) / 10));
  CHECK(worth_of(2) == Approx(two));
  CHECK(worth_of(1) == Approx(two / 2));
  job.costs.resume = Duration::seconds(35);
  CHECK(worth_of(0) == Approx(-two / 10));
  job.useful_left = 14;  // 7 s on two slots: no job gains from them for longer
  CHECK(worth_of(0) == Approx(-5 * worth_of(2)));
  job.useful_left = 1e9;
  job.placement = {};
  CHECK(worth_of(0) == 0);
  CHECK(worth_of(4) == Approx(four));
}

TEST_CASE("a job keeps its size when a change costs more than it brings before the horizon, or before its end") {
  View view = view_of(1, {&kLinear});
  view.jobs[0].placement = {{.node = 0, .slots = 2}};
  view.jobs[0].transition = Duration::seconds(30);
  CHECK(sizes_of(decide(view)) == std::vector<int>{4});
  view.jobs[0].transition = Duration::seconds(200);  // 2 x 350 against 4 x 150
  const Allocation stays = decide(view);
  CHECK(sizes_of(stays) == std::vector<int>{2});
  CHECK(test::says<core::reason::PriceHold>(stays.grants[0].reason));
  view.jobs[0].transition = Duration::seconds(30);
  view.jobs[0].useful_left = 60;  // 30 s as it is, 30 + 15 s with twice as many
  CHECK(sizes_of(decide(view)) == std::vector<int>{2});
  view.jobs[0].costs.grow = Duration::seconds(1);  // as measured
  CHECK(sizes_of(decide(view)) == std::vector<int>{4});
}

TEST_CASE("a job grows to the size to which growing is cheap, not to the one to which it was found to be dear") {
  View view = view_of(4, {&kLinear});
  JobRow& job = view.jobs[0];
  job.placement = {{.node = 0, .slots = 4}};
  job.useful_left = 1e9;
  job.sizes = {4, 8, 16};
  job.size_min = 4;
  job.size_max = 16;
  job.costs.grow = Duration::seconds(100);  // in the mean; 350 s are the horizon
  CHECK(sizes_of(decide(view)) == std::vector<int>{16});
  job.costs_by_size = {
      {.workers = 8,
       .costs = {.grow = Duration::seconds(1), .shrink = {}, .move = {}, .start = {}, .boot = {}, .resume = {}}},
      {.workers = 16,
       .costs = {.grow = Duration::seconds(300), .shrink = {}, .move = {}, .start = {}, .boot = {}, .resume = {}}}};
  CHECK(sizes_of(decide(view)) == std::vector<int>{8});
  job.slots_per_worker = 2;  // 16 slots are 8 workers
  CHECK(sizes_of(decide(view)) == std::vector<int>{16});
}

TEST_CASE("a kind of which little is known grows from one node, four times at most") {
  View view = view_of(16, {&kLinear});
  view.jobs[0].largest_seen = 0;
  CHECK(sizes_of(decide(view)) == std::vector<int>{4});
  view.jobs[0].largest_seen = 4;
  CHECK(sizes_of(decide(view)) == std::vector<int>{16});
  view.jobs[0].largest_seen = 16;
  CHECK(sizes_of(decide(view)) == std::vector<int>{64});
}

TEST_CASE("what must not change keeps what it holds, what its user insists on goes first") {
  View view = view_of(1, {&kFair, &kGood});
  view.jobs[0].placement = {{.node = 0, .slots = 3}};
  view.jobs[0].useful_left = 1'000'000;
  view.jobs[0].weight = 1e-6;
  CHECK(sizes_of(decide(view))[0] < 3);
  view.jobs[0].resize_blocked = true;
  CHECK(sizes_of(decide(view)) == std::vector<int>{3, 1});
  view.jobs[0].resize_blocked = false;
  view.jobs[0].preemptible = false;
  view.jobs[0].size_min = 2;
  CHECK(sizes_of(decide(view)) == std::vector<int>{2, 2});
  view.jobs[0].preemptible = true;
  view.jobs[0].weight = 1;
  view.jobs[0].pinned = 4;
  CHECK(sizes_of(decide(view)) == std::vector<int>{4, 0});
}

TEST_CASE("only sizes that the job may have are taken") {
  View view = view_of(2, {&kLinear});
  view.jobs[0].sizes = {3, 6};
  view.jobs[0].size_min = 3;
  CHECK(sizes_of(decide(view)) == std::vector<int>{6});
  view.jobs[0].size_max = 5;
  CHECK(sizes_of(decide(view)) == std::vector<int>{3});
}

TEST_CASE("a job makes room for another that would have to be spread") {
  // Two nodes, each half full; a third job of four slots wants a whole node.
  View view = view_of(2, {&kLinear, &kLinear, &kLinear});
  for (JobRow& job : view.jobs) job.transition = Duration::seconds(1);
  view.jobs[0].placement = {{.node = 0, .slots = 2}};
  view.jobs[1].placement = {{.node = 1, .slots = 2}};
  for (std::size_t row : {0U, 1U}) view.jobs[row].sizes = {2};
  view.jobs[2].sizes = {4};
  const Allocation allocation = decide(view);
  CHECK(sizes_of(allocation) == std::vector<int>{2, 2, 4});
  CHECK(allocation.placements[2].size() == 1);
  // Moving takes all of the horizon: it is spread instead, at half the speed.
  for (std::size_t row : {0U, 1U}) view.jobs[row].transition = Duration::seconds(350);
  CHECK(decide(view).placements[2].size() == 2);
}

TEST_CASE("a job on more nodes than it needs moves together when there is room") {
  View view = view_of(2, {&kLinear});
  view.jobs[0].sizes = {2};
  view.jobs[0].placement = {{.node = 0, .slots = 1}, {.node = 1, .slots = 1}};
  view.jobs[0].transition = Duration::seconds(30);
  CHECK(decide(view).placements[0] == Placement{{.node = 0, .slots = 2}});
  view.jobs[0].transition = Duration::seconds(400);
  CHECK(decide(view).placements[0] == view.jobs[0].placement);
}

TEST_CASE("reasons tell what a slot is worth and costs, what lost, and which job holds the slots that another lacks") {
  View view = view_of(1, {&kGood, &kFair, &kFair});
  view.nodes[0].slots = 2;
  view.jobs[0].useful_left = 100;
  view.jobs[0].weight = 10;
  view.jobs[2].weight = 0.5;
  const Allocation allocation = decide(view);
  REQUIRE(sizes_of(allocation) == std::vector<int>{2, 0, 0});
  const core::Reason& started = allocation.grants[0].reason;
  CHECK(test::says<core::reason::Started>(started));
  CHECK(test::number_in(started, "worth") > test::number_in(started, "price"));
  CHECK(test::number_in(started, "price") > 0);
  CHECK(allocation.grants[0].score ==
        Approx(2 * (test::number_in(started, "worth") - test::number_in(started, "price"))));
  CHECK(allocation.grants[0].score >= allocation.grants[0].lost[0].score);
  REQUIRE(allocation.grants[0].lost.size() == 2);  // one slot, and none
  CHECK(allocation.grants[0].lost[0].size == 1);
  CHECK(allocation.grants[0].lost[1].size == 0);
  CHECK(allocation.grants[0].lost[1].score == 0);
  const core::Reason& first_in_line = allocation.grants[1].reason;
  CHECK(test::says<core::reason::WaitingForSlots>(first_in_line));
  CHECK(test::number_in(first_in_line, "needed") == 1);
  CHECK(test::number_in(first_in_line, "worth") == test::number_in(first_in_line, "price"));
  const core::Reason& outbid = allocation.grants[2].reason;
  CHECK(test::says<core::reason::PriceWait>(outbid));
  CHECK(test::number_in(outbid, "worth") > 0);
  CHECK(test::number_in(outbid, "worth") < test::number_in(outbid, "price"));
  CHECK(test::number_in(outbid, "rival") == double(view.jobs[0].id.number()));
  CHECK(test::number_in(outbid, "rival_worth") >= test::number_in(outbid, "price"));
}

TEST_CASE("a node's room: best fit, whole nodes first, whole workers only") {
  View view = view_of(3, {});
  NodeRoom room(view.nodes);
  room.put(0, {{.node = 0, .slots = 3}});
  room.put(1, {{.node = 1, .slots = 2}});
  CHECK(room.place(1, 1) == Placement{{.node = 0, .slots = 1}});
  CHECK(room.place(2, 1) == Placement{{.node = 1, .slots = 2}});
  CHECK(room.place(6, 1) == Placement{{.node = 2, .slots = 4}, {.node = 1, .slots = 2}});
  CHECK(room.place(7, 1) == Placement{{.node = 2, .slots = 4}, {.node = 1, .slots = 2}, {.node = 0, .slots = 1}});
  CHECK(!room.place(8, 1));
  CHECK(!room.place(8, 2));
  CHECK(room.place(6, 2) == Placement{{.node = 2, .slots = 4}, {.node = 1, .slots = 2}});
  room.take(1, {{.node = 1, .slots = 2}});
  CHECK(room.place(8, 4) == Placement{{.node = 1, .slots = 4}, {.node = 2, .slots = 4}});
}

}  // namespace tidepool::policies::tidal
