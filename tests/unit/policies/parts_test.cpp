// The small parts of policies: curve fit, utilities, sizes, order, registry.
#include <cstdlib>
#include <functional>
#include <memory>
#include <set>

#include <catch2/catch.hpp>

#include "policies/models/usl_curve.hpp"
#include "policies/registry.hpp"
#include "policies/size/fixed_size.hpp"
#include "policies/size/size_limits.hpp"
#include "policies/size/utility.hpp"
#include "tests/support/file_text.hpp"
#include "tests/support/job_records.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::policies {
namespace {

using test::JobWorld;

std::vector<ThroughputPoint> exact_points(const UslCurve& truth, const std::vector<int>& sizes) {
  std::vector<ThroughputPoint> points;
  for (const int size : sizes) points.push_back({.size = size, .samples_per_second = truth.at(size)});
  return points;
}

TEST_CASE("the fit finds the curve that exact data came from") {
  for (const UslCurve& truth : {UslCurve{5'626, 0.21, 0.03}, UslCurve{12, 0.5, 0}, UslCurve{3e6, 0, 0.2}}) {
    const auto fit = fit_usl(exact_points(truth, {1, 2, 3, 4, 8, 16}));
    REQUIRE(fit);
    CHECK(fit->lambda == Approx(truth.lambda).epsilon(1e-6));
    CHECK(fit->sigma == Approx(truth.sigma).margin(1e-6));
    CHECK(fit->kappa == Approx(truth.kappa).margin(1e-6));
  }
}

TEST_CASE("fewer sizes give fewer parameters") {
  const auto one = fit_usl({{.size = 4, .samples_per_second = 400}, {.size = 4, .samples_per_second = 400}});
  REQUIRE(one);
  CHECK(one->lambda == Approx(100));
  CHECK(one->sigma == 0);
  const auto two = fit_usl({{.size = 1, .samples_per_second = 100}, {.size = 2, .samples_per_second = 160}});
  REQUIRE(two);
  CHECK(two->sigma == Approx(0.25));
  CHECK(two->kappa == 0);
  CHECK_FALSE(fit_usl(std::vector<ThroughputPoint>{}));
  CHECK_FALSE(fit_usl({{.size = 2, .samples_per_second = 0}, {.size = 0, .samples_per_second = 5}}));
}

TEST_CASE("no parameter is ever negative, even if throughput grows faster than size") {
  const auto fit = fit_usl({{.size = 1, .samples_per_second = 100}, {.size = 2, .samples_per_second = 230}});
  REQUIRE(fit);
  CHECK(fit->sigma == 0);
  CHECK(fit->kappa == 0);
  CHECK(fit->lambda > 100);
}

TEST_CASE("heavier points pull the curve towards them") {
  const auto fit = fit_usl(
      {{.size = 1, .samples_per_second = 100, .weight = 1'000}, {.size = 1, .samples_per_second = 200, .weight = 1}});
  REQUIRE(fit);
  CHECK(fit->lambda == Approx(100).epsilon(0.01));
}

TEST_CASE("a linear utility falls from its value to zero and below") {
  core::ScalingSpec scaling;
  CHECK_FALSE(has_utility(scaling));
  scaling.linear_utility = core::LinearUtility{.value = 100, .zero_at = Duration::seconds(1'000)};
  CHECK(has_utility(scaling));
  CHECK(utility_at(scaling, 0) == Approx(100));
  CHECK(utility_at(scaling, 500) == Approx(50));
  CHECK(utility_at(scaling, 1'500) == Approx(-50));
}

TEST_CASE("a piecewise utility is flat before its first point and continues its last line") {
  core::ScalingSpec scaling;
  scaling.piecewise_utility =
      core::PiecewiseUtility{{{Duration::seconds(100), 10}, {Duration::seconds(200), 8}, {Duration::seconds(300), 2}}};
  CHECK(utility_at(scaling, 50) == Approx(10));
  CHECK(utility_at(scaling, 150) == Approx(9));
  CHECK(utility_at(scaling, 200) == Approx(8));
  CHECK(utility_at(scaling, 250) == Approx(5));
  CHECK(utility_at(scaling, 400) == Approx(-4));
}

TEST_CASE("steps on the ladder go to the nearest allowed size at least N away, or the last one") {
  const std::vector<int> sizes{1, 2, 4, 8};
  const AllowedSizes ladder{.sizes = sizes};
  CHECK(ladder.up(1, 1) == 2);
  CHECK(ladder.up(2, 1) == 4);
  CHECK(ladder.up(1, 2) == 4);
  CHECK(ladder.up(4, 100) == 8);
  CHECK(ladder.up(8, 1) == std::nullopt);
  CHECK(ladder.down(8, 1) == 4);
  CHECK(ladder.down(4, 3) == 1);
  CHECK(ladder.down(2, 100) == 1);
  CHECK(ladder.down(1, 1) == std::nullopt);
  CHECK(ladder.start_size(3) == 2);
  CHECK(ladder.start_size(8) == 8);
  const std::vector<int> large{4, 8};
  CHECK(AllowedSizes{.sizes = large}.start_size(3) == 4);
}

TEST_CASE("the price of a slot is the mean over the slots that the job holds") {
  JobWorld world({1, 2});
  world.priced(Money::micros(1'000'000));
  CHECK(price_per_slot_hour(world.state, world.job) == Money::micros(1'000'000));
  world.state.nodes[NodeId(2)] = {.id = NodeId(2), .price_per_slot_hour = Money::micros(3'000'000)};
  world.state.workers[WorkerId(9)] = {.id = WorkerId(9), .job = world.job.id, .node = NodeId(2), .slots = {0, 1}};
  world.job.membership.workers = {WorkerId(9)};
  CHECK(price_per_slot_hour(world.state, world.job) == Money::micros(3'000'000));
}

TEST_CASE("jobs wait in line by priority, then time of submission") {
  const auto rank = [](int priority, std::int64_t at) {
    core::Job job;
    job.spec.priority = priority;
    job.submitted_at = Instant::from_micros(at);
    return FixedSize().rank(job);
  };
  CHECK(rank(5, 90) < rank(0, 20));
  CHECK(rank(0, 20) < rank(0, 30));
  CHECK(rank(0, 20) == rank(0, 20));
  CHECK(AutoscalingEngine().rank({}) == FixedSize().rank({}));
}

TEST_CASE("the fixed size is the preferred one, running or waiting") {
  JobWorld world({1, 2, 4}, 2);
  CHECK(world.ask(FixedSize()).size == 2);
  CHECK(world.at(1).ask(FixedSize()).size == 2);
  CHECK(test::says<core::reason::FixedSize>(world.ask(FixedSize()).reason));
}

TEST_CASE("the document says of every policy with which size a job starts") {
  const std::string page = test::text_of_file(std::string(std::getenv("TIDEPOOL_SOURCE_DIR")) + "/docs/policies.md");
  const auto begin = page.find("## With which size a job starts");
  REQUIRE(begin != std::string::npos);
  const std::string section = page.substr(begin, page.find("\n## ", begin) - begin);
  for (const KnownPolicy& known : known_policies()) {
    INFO(known.name);
    CHECK(section.find("`" + known.name + "`") != std::string::npos);
  }
}

TEST_CASE("the table gives every policy once, under its name, and the chosen one as the default") {
  const auto policies = make_policies("fifo");
  REQUIRE(policies.ok());
  std::set<std::string_view> names;
  for (const cluster::AllocationPreset& preset : kPolicies) {
    INFO(preset.name);
    CHECK(names.insert(preset.name).second);
    CHECK(!preset.summary.empty());
    CHECK(policies->at(std::string(preset.name))->name() == preset.name);
  }
  CHECK(policies->at("default")->name() == "fifo");
  CHECK((*make_policies()).at("default")->name() == kDefaultPreset);
  CHECK(kDefaultPreset == "tidal");
  CHECK_FALSE(policies->contains("optimus"));  // reads the true profile
}

TEST_CASE("every policy has one incremental form: a rule for single jobs, or a planner") {
  const auto policies = make_policies("tidal");
  REQUIRE(policies.ok());
  for (const auto& [name, policy] : *policies) {
    INFO(name);
    CHECK((policy->rule() == nullptr) == (policy->planner() != nullptr));
  }
  CHECK(policies->at("default")->planner() != nullptr);
  for (const KnownPolicy& known : known_policies()) {
    INFO(known.name);
    REQUIRE(policies->contains(known.name));
    CHECK((policies->at(known.name)->rule() != nullptr) == (known.scope == "job"));
    CHECK(!known.summary.empty());
  }
  CHECK(policies->at("fifo")->line_rule() == core::LineRule::kStrict);
  CHECK(policies->at("fixed")->line_rule() == core::LineRule::kPassed);
  CHECK(policies->at("autoscaling_engine")->line_rule() == core::LineRule::kPassed);
  CHECK(policies->at("tidal")->line_rule() == core::LineRule::kReserves);
}

TEST_CASE("an unknown policy is refused with the names there are") {
  const auto policies = make_policies("fastest");
  REQUIRE_FALSE(policies.ok());
  CHECK(policies.error().message.starts_with("there is no policy \"fastest\"; choose one of autoscaling_engine, "));
  for (const KnownPolicy& known : known_policies())
    CHECK(policies.error().message.find(known.name) != std::string::npos);
}

TEST_CASE("a plan from scratch has a target for each job that it counts with, in line, and a pinned size goes first") {
  const auto policies = make_policies();
  JobWorld world({1, 2, 4}, 2);
  core::ClusterState state;
  const auto add = [&](std::uint64_t id, int priority, int pinned, core::JobPhase phase) {
    auto job = std::make_shared<core::Job>(world.job);
    job->id = JobId(id);
    job->spec.priority = priority;
    job->requests.pinned_size = pinned;
    job->phase = std::move(phase);
    state.jobs[job->id] = job;
  };
  add(1, 0, 0, core::phase::Pending{});
  add(2, 5, 4, core::phase::Pending{});
  add(3, 0, 0, core::phase::Suspended{});
  IdSet<JobId> jobs;
  for (const auto& [id, job] : state.jobs) jobs.insert(id);
  const std::function<bool(const core::Job&)> counts = [](const core::Job& job) {
    return job.state() != core::JobState::kSuspended;
  };
  const std::function<bool(const core::Job&)> none = [](const core::Job&) { return false; };
  core::StepBudget budget(1'000);
  for (const char* name : {"fixed", "autoscaling_engine"}) {
    const auto plan = policies->at(name)->plan({{state, world.now}, jobs, jobs, counts, none}, budget);
    REQUIRE(plan.ok());
    REQUIRE(plan->targets.size() == 2);
    CHECK(plan->targets.at(JobId(1)).size == 2);
    CHECK(plan->targets.at(JobId(1)).place == 1);
    CHECK(plan->targets.at(JobId(2)).size == 4);
    CHECK(plan->targets.at(JobId(2)).place == 0);
    CHECK(test::says<core::reason::PinnedByUser>(plan->targets.at(JobId(2)).reason));
  }
  core::Job pinned = *state.jobs[JobId(2)];
  pinned.membership.members = {WorkerId(1), WorkerId(2)};
  CHECK(test::says<core::reason::ResizedByUser>(core::pinned_target(pinned).reason));
}

}  // namespace
}  // namespace tidepool::policies
