// tidal where there are several slot types, and where jobs have deadlines. The first case of each is an example of
// policies/tidal/README.md.
#include <catch2/catch.hpp>

#include <map>
#include <optional>
#include <vector>

#include "policies/tidal/promises.hpp"
#include "policies/tidal/slot_types.hpp"
#include "policies/tidal/tidal.hpp"
#include "policies/tidal/type_market.hpp"
#include "studies/baselines/elasticflow.hpp"
#include "tests/support/allocation_views.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::policies::tidal {
namespace {

using cluster::Allocation;
using cluster::JobRow;
using cluster::Shape;
using cluster::View;

// Steps a second of one slot by type, twice as many on twice as many slots; types that are not named were never
// measured.
class ByType final : public cluster::SpeedModel {
 public:
  explicit ByType(std::map<int, double> speeds) : speeds_(std::move(speeds)) {}
  [[nodiscard]] double step_seconds(Shape shape) const override { return 1 / goodput(shape); }
  [[nodiscard]] double goodput(Shape shape) const override {
    const auto found = speeds_.find(shape.type);
    return found == speeds_.end() ? 0 : found->second * shape.size;
  }
  [[nodiscard]] bool knows(int type) const override { return speeds_.contains(type); }

 private:
  std::map<int, double> speeds_;
};

View typed_view(std::vector<int> slots) {
  View view{.now = Instant::from_micros(0)};
  for (std::size_t type = 0; type < slots.size(); ++type) {
    view.types.push_back({.name = "type-" + std::to_string(type)});
    view.nodes.push_back({.id = NodeId(type + 1), .slots = slots[type], .type = static_cast<int>(type)});
  }
  return view;
}

JobRow& add(View& view, const cluster::SpeedModel& speed, double left, int size_max = 1) {
  JobRow& job = view.jobs.emplace_back();
  job.id = JobId(view.jobs.size());
  job.size_max = size_max;
  job.largest_seen = size_max;
  job.useful_left = job.steps_left = left;
  job.speed = &speed;
  return job;
}

std::vector<int> types_of(const Allocation& allocation) {
  std::vector<int> types;
  for (const cluster::Grant& grant : allocation.grants) types.push_back(grant.size > 0 ? grant.type : -1);
  return types;
}

Allocation decide_typed(const View& view) {
  return test::decide(Tidal(), view);
}

}  // namespace

TEST_CASE("the worked example with types: the slow slot goes to the job that loses least by it") {
  const ByType steep({{0, 8}, {1, 1}});
  const ByType flat({{0, 2}, {1, 1}});
  View view = typed_view({1, 1});
  add(view, steep, 8'000);
  add(view, flat, 8'000);

  const std::vector<SlotPool> pools = pools_of(view);
  CHECK(pools[0].pace == 1);
  CHECK(pools[1].pace == Approx(0.25));
  CHECK(length_of(view.jobs[0], pools).seconds == Approx(1'000));
  CHECK(length_of(view.jobs[1], pools).seconds == Approx(2'000));
  const UtilityCurve first(view.jobs[0], {.pools = pools, .of = 0, .held_type = -1}, {.behind = 2});
  CHECK(first.curve().back() == Choice{.size = 1, .worth = first.in({}, false)});
  CHECK(first.curve().back().worth == Approx(5.8));

  const Allocation allocation = decide_typed(view);
  CHECK(types_of(allocation) == std::vector<int>{0, 1});
  CHECK(allocation.worth == Approx(7.4));
  CHECK(allocation.bound == Approx(7.4));
}

TEST_CASE("of jobs of fixed sizes whose work is not known the narrow ones come to the fast slots first") {
  const ByType steep({{0, 12}, {1, 1}});
  const ByType flat({{0, 2}, {1, 1}});
  View view = typed_view({4, 4});
  JobRow& gang = add(view, steep, 8'000, 4);
  gang.size_min = 4;
  for (int i = 0; i < 4; ++i) add(view, flat, 8'000);
  for (JobRow& job : view.jobs) job.useful_left.reset();
  CHECK(types_of(decide_typed(view)) == std::vector<int>{1, 0, 0, 0, 0});
  for (JobRow& job : view.jobs) job.useful_left = job.steps_left;  // told, the gang gains most by them
  CHECK(types_of(decide_typed(view)) == std::vector<int>{0, 1, 1, 1, 1});
}

TEST_CASE("a job stays on its type when moving to the better one costs more than it brings") {
  const ByType speed({{0, 1.2}, {1, 1}});
  View view = typed_view({1, 1});
  JobRow& job = add(view, speed, 1'000'000);
  job.placement = {{.node = 1, .slots = 1}};
  job.transition = Duration::seconds(35);  // a tenth of the horizon, for a fifth more speed
  CHECK(types_of(decide_typed(view)) == std::vector<int>{0});
  job.transition = Duration::seconds(120);
  CHECK(types_of(decide_typed(view)) == std::vector<int>{1});
  job.transition = Duration();
  job.resize_blocked = true;
  CHECK(types_of(decide_typed(view)) == std::vector<int>{1});
}

TEST_CASE("where a job was never measured, it is taken for what others gain by that type") {
  const ByType both({{0, 8}, {1, 2}});
  const ByType fast({{0, 8}});
  const ByType slow({{1, 2}});
  View view = typed_view({4, 4});
  add(view, both, 1'000);
  const std::vector<SlotPool> pools = pools_of(view);
  CHECK(reading_of(add(view, fast, 1'000), pools[1], pools).goodput(view.jobs[1], {.type = 1}) == Approx(2));
  CHECK(reading_of(add(view, slow, 1'000), pools[0], pools).goodput(view.jobs[2], {.type = 0}) == Approx(8));
  // It is read where it was measured, whatever others gain.
  CHECK(reading_of(view.jobs[2], pools[1], pools).goodput(view.jobs[2], {.type = 1}) == 2);
}

TEST_CASE("a type on which a job cannot run is none of its choices") {
  const ByType neither({{0, 1}, {1, 0}});
  View view = typed_view({1, 4});
  add(view, neither, 1'000);
  add(view, neither, 2'000);
  CHECK(types_of(decide_typed(view)) == std::vector<int>{0, -1});
}

TEST_CASE("prices of types: no job is left without what it would pay for, and the gap is told") {
  // UtilityCurve of one slot of either type, by bid.
  const auto bid = [](double first, double second) { return TypedBid{{{0, 0}, {1, first}}, {{0, 0}, {1, second}}}; };
  core::StepBudget budget(1'000'000);
  // Two types that are alike: both prices fall together, though neither could alone.
  const TypeSale alike = sell({bid(3, 3), bid(2, 2), bid(1, 1)}, {1, 1}, budget);
  CHECK(alike.worth == Approx(5));
  CHECK(alike.bound == Approx(5));
  CHECK(alike.choices[2].choice.size == 0);
  // The best pairing is not the greedy one: 9 + 5 against 10 + 1.
  const TypeSale paired = sell({bid(10, 9), bid(5, 1)}, {1, 1}, budget);
  CHECK(paired.worth == Approx(14));
  CHECK(paired.choices[0].type == 1);
  CHECK(paired.choices[1].type == 0);
  const TypeSale empty = sell({}, {1, 1}, budget);
  CHECK(empty.worth == 0);
  CHECK(empty.free == std::vector<int>{1, 1});
}

TEST_CASE("the worked example with deadlines: what ends in time with two slots has two, and bids for more") {
  const ByType linear({{0, 1}});
  View view = typed_view({4});
  view.types.clear();
  JobRow& job = add(view, linear, 900, 4);
  job.deadline = view.now + Duration::seconds(600);
  core::StepBudget budget(1'000'000);
  const Promises promises = promises_of(view, budget);
  CHECK(promises.sizes == std::vector<int>{2});
  CHECK(promises.accepted[0]);
  CHECK(test::sizes_of(decide_typed(view)) == std::vector<int>{4});
  // A short job outbids it for the other two, and no more.
  add(view, linear, 10, 4).weight = 1e6;
  const Allocation allocation = decide_typed(view);
  CHECK(test::sizes_of(allocation) == std::vector<int>{2, 2});
  CHECK(allocation.grants[0].mark.level == kAccepted);
}

TEST_CASE("a new job that would make another job late is declined; of several, the least is taken first") {
  const ByType linear({{0, 1}});
  View view = typed_view({4});
  view.types.clear();
  for (const double work : {2'000.0, 1'500.0, 600.0, 9'000.0}) {
    add(view, linear, work, 4).deadline = view.now + Duration::seconds(600);
  }
  const Allocation allocation = decide_typed(view);
  std::vector<bool> declined;
  for (const cluster::Grant& grant : allocation.grants) declined.push_back(grant.declined);
  CHECK(declined == std::vector<bool>{true, false, false, true});
  CHECK(test::says<core::reason::DeadlineLost>(allocation.grants[0].reason));
  // All or none, as ElasticFlow has it, would have declined all four.
  for (const cluster::Grant& grant : test::decide(cluster::ElasticFlow(), view).grants) CHECK(grant.declined);
}

TEST_CASE("an accepted job is never declined, and one that is late anyway takes no slot from those that are not") {
  const ByType linear({{0, 1}});
  View view = typed_view({4});
  view.types.clear();
  add(view, linear, 100'000, 4);
  view.jobs[0].deadline = view.now + Duration::seconds(600);
  view.jobs[0].mark.level = kAccepted;
  add(view, linear, 2'000, 4).deadline = view.now + Duration::seconds(600);
  const Allocation allocation = decide_typed(view);
  CHECK(!allocation.grants[0].declined);
  CHECK(allocation.grants[1].size == 4);
}

TEST_CASE("a plan that will change its size asks to be woken") {
  const ByType linear({{0, 1}});
  View view = typed_view({4});
  view.types.clear();
  // The first has all slots until its deadline; the second waits for them.
  add(view, linear, 4 * 580, 4).deadline = view.now + Duration::seconds(600);
  add(view, linear, 400, 4).deadline = view.now + Duration::seconds(1'200);
  const Allocation allocation = decide_typed(view);
  CHECK(test::sizes_of(allocation) == std::vector<int>{4, 0});
  REQUIRE(allocation.wake);
  CHECK(*allocation.wake > view.now);
  CHECK(*allocation.wake <= view.now + Duration::seconds(660));
}

}  // namespace tidepool::policies::tidal
