// What a forecast says of jobs that their tenant's budget pauses or ends.
#include <catch2/catch.hpp>

#include "forecast/submit_plan.hpp"
#include "policies/registry.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::test {
namespace {

using forecast::SubmitPlan;

core::EngineParts fixed_parts() {
  return {policies::make_policies("fixed").value(), {std::make_shared<PlainDetector>()}, {}};
}

// Four free slots that cost a thousandth a second each, and a budget of the tenant of all jobs.
struct Budgeted {
  Story story;

  explicit Budgeted(core::Budget budget) {
    story.engine() = core::Engine(fixed_parts());
    story.node(4, "", {}, Money::micros(3'600'000));
    core::TenantTree tree;
    tree.tenants = {{.name = "demo", .guarantee = 4, .budget = std::move(budget)}};
    story.learn(core::TenantsConfigured{std::move(tree)});
  }
  // Of a job on all slots whose length is not known, and of which nothing was measured: it boots for 3 s.
  [[nodiscard]] SubmitPlan plan() const {
    auto plan = forecast::plan_submit(
        fixed_parts(), story.state(),
        {.spec = job_spec({.min = 4, .max = 4, .preferred = 4}), .now = story.now(), .limits = {}}, {});
    REQUIRE(plan.ok());
    return *std::move(plan);
  }
};

TEST_CASE("a job whose budget is spent before its first step is told to start, and when the budget pauses it") {
  // All of it in two seconds.
  const Budgeted scene(
      {.limit = Money::micros(8'000),
       .window = core::BudgetWindow::kDay,
       .thresholds = {
           {30, core::BudgetAction::kWarn}, {60, core::BudgetAction::kShrink}, {100, core::BudgetAction::kPause}}});
  const SubmitPlan plan = scene.plan();
  const auto& told = plan.told.jobs.at(plan.job);
  const Instant now = scene.story.now();
  CHECK_FALSE(told.start);
  CHECK(told.slots_at == now);
  REQUIRE(told.budget);
  CHECK(told.budget->tenant == "demo");
  CHECK(told.budget->action == core::BudgetAction::kPause);
  CHECK(told.budget->at > now);
  CHECK(told.budget->at < now + Duration::seconds(3));
  CHECK_FALSE(told.end);
  CHECK_FALSE(told.is_stopped());
}

TEST_CASE("a job that its budget ends is told to run until then, however long its work is") {
  // All of it in ten seconds.
  const Budgeted scene({.limit = Money::micros(40'000),
                        .window = core::BudgetWindow::kDay,
                        .thresholds = {{100, core::BudgetAction::kStop}}});
  const SubmitPlan plan = scene.plan();
  const auto& told = plan.told.jobs.at(plan.job);
  CHECK(told.is_stopped());
  CHECK(told.budget->tenant == "demo");
  REQUIRE(told.start);
  REQUIRE(told.end);
  CHECK(told.outcome == core::JobState::kCancelled);
  CHECK(told.start->at < told.end->at);
  CHECK(told.end->at < scene.story.now() + Duration::seconds(15));
  CHECK(told.budget->at == told.end->at);
  REQUIRE(told.sizes.size() == 3);
  CHECK(told.sizes[1].size == 4);
  CHECK(told.sizes[2].size == 0);
  CHECK(told.sizes[1].at < told.sizes[2].at);
}

TEST_CASE("a plan names the budget that ends another job sooner, and by how much") {
  // All of it in forty seconds of two slots, or in twenty of four.
  Budgeted scene({.limit = Money::micros(80'000),
                  .window = core::BudgetWindow::kDay,
                  .thresholds = {{100, core::BudgetAction::kStop}}});
  const JobSketch sketch{.min = 2, .max = 2, .preferred = 2};
  const JobId other = scene.story.submit(sketch);
  const auto plan = forecast::plan_submit(fixed_parts(), scene.story.state(),
                                          {.spec = job_spec(sketch), .now = scene.story.now(), .limits = {}}, {});
  REQUIRE(plan.ok());
  REQUIRE(plan->changes.size() == 1);
  const SubmitPlan::Change& change = plan->changes.front();
  CHECK(change.job == other);
  CHECK(change.effect == SubmitPlan::Effect::kEnded);
  REQUIRE(change.budget);
  CHECK(change.budget->tenant == "demo");
  CHECK(change.budget->action == core::BudgetAction::kStop);
  REQUIRE(change.at);
  CHECK((*change.at - scene.story.now()).to_seconds() == Approx(20).margin(3));
  CHECK(change.from == 2);
  CHECK(change.to == 0);
  REQUIRE(change.end_by);
  CHECK(change.end_by->to_seconds() == Approx(-20).margin(3));
}

TEST_CASE("a job that no budget holds is told of none") {
  const Budgeted scene({.limit = Money::micros(3'600'000'000), .thresholds = {{100, core::BudgetAction::kPause}}});
  const SubmitPlan plan = scene.plan();
  CHECK_FALSE(plan.told.jobs.at(plan.job).budget);
}

}  // namespace
}  // namespace tidepool::test
