#include <catch2/catch.hpp>

#include "core/codec/codec.hpp"
#include "core/state/account.hpp"
#include "forecast/forecast_report.hpp"
#include "forecast/submit_plan.hpp"
#include "policies/registry.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::test {
namespace {

using forecast::Basis;
using forecast::SubmitPlan;

core::EngineParts parts_by(std::string_view policy) {
  return {policies::make_policies(policy).value(), {std::make_shared<PlainDetector>()}, {}};
}

// A cluster of some slots, told what happens; a job steps ten samples a second for each worker.
class Scene {
 public:
  Scene(std::string policy, int slots) : policy_(std::move(policy)), engine_(parts_by(policy_)) {
    learn(core::NodeJoined{.node = NodeId(1),
                           .name = "n1",
                           .slots = slots,
                           .slot_type = "gpu",
                           .price_per_slot_hour = Money::micros(3'600'000)});
  }

  static core::JobSpec job(int size, std::int64_t seconds, int priority = 0) {
    core::JobSpec spec = job_spec({.min = size, .max = size, .preferred = size, .batch = 10 * size});
    spec.priority = priority;
    spec.work_samples = seconds * 10 * size;
    return spec;
  }

  void share(std::vector<core::Tenant> tenants) {
    core::TenantTree tree;
    tree.tenants = std::move(tenants);
    learn(core::TenantsConfigured{std::move(tree)});
  }
  // It runs and has reported `steps` steps of a second.
  JobId run(const core::JobSpec& spec, std::int64_t steps) {
    const JobId id = submit(spec);
    const core::Job* job = engine_.view().find_job(id);
    for (const WorkerId worker : std::vector<WorkerId>(job->membership.workers)) learn(core::WorkerReady{worker});
    learn(core::GenerationSwitched{.job = id, .generation = 1, .switch_step = 1});
    now_ = now_ + Duration::seconds(steps);
    learn(core::StepsMeasured{.job = id,
                              .generation = 1,
                              .last_step = steps,
                              .steps = steps,
                              .elapsed = Duration::seconds(steps),
                              .samples = steps * spec.batch.global});
    return id;
  }
  // Its training has ended, and its workers are gone.
  void finish(JobId id) {
    const core::Job job = *engine_.view().find_job(id);
    learn(core::TrainingFinished{id, job.progress.step, 0});
    for (const WorkerId worker : job.membership.workers) learn(core::WorkerExited{worker, 0, 0, {}});
    REQUIRE(engine_.view().find_job(id) == nullptr);
  }
  JobId submit(const core::JobSpec& spec) {
    const JobId id = engine_.next_job_id();
    learn(core::JobSubmitted{id, spec});
    return id;
  }
  // Time passes without a report.
  void pass(std::int64_t seconds) { now_ = now_ + Duration::seconds(seconds); }
  [[nodiscard]] SubmitPlan plan(const core::JobSpec& spec) const {
    const core::ClusterState state = engine_.view();
    const auto before = core::digest_of(state);
    auto plan = forecast::plan_submit(parts_by(policy_), state, {.spec = spec, .now = now_, .limits = {}}, {});
    REQUIRE(plan.ok());
    CHECK(core::digest_of(state) == before);
    return *std::move(plan);
  }
  [[nodiscard]] forecast::Forecast forecast() const {
    return forecast::forecast(parts_by(policy_), engine_.view(), now_);
  }
  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] const core::ClusterState& state() const { return engine_.view(); }

 private:
  void learn(core::Fact fact) {
    REQUIRE(engine_.step({.at = now_, .fact = std::move(fact)}).ok());
    for (int round = 0; round < 8; ++round) {
      const core::Decision decision = engine_.decide(now_);
      REQUIRE(engine_.validate(decision).ok());
      (void)engine_.accept(decision);
      if (decision.empty()) break;
    }
  }

  std::string policy_;
  core::Engine engine_;
  Instant now_ = Instant() + Duration::seconds(1'000);
};

double seconds_from(Instant now, const std::optional<Instant>& at) {
  REQUIRE(at);
  return (*at - now).to_seconds();
}

TEST_CASE("a job that runs ends when its declared work is done at its measured speed, and costs what it holds") {
  Scene scene("fixed", 2);
  const JobId job = scene.run(Scene::job(2, 1'000), 100);
  const auto made = scene.forecast();
  const auto& told = made.jobs.at(job);
  CHECK(told.basis == Basis::kDeclared);
  CHECK_FALSE(told.start);
  CHECK(seconds_from(scene.now(), told.end) == Approx(900).margin(1));
  // A slot costs a thousandth a second.
  CHECK(told.cost.to_units() == Approx(2 * 1'000 * 0.001).epsilon(0.01));
  REQUIRE(told.sizes.size() == 2);
  CHECK(told.sizes[0].size == 2);
  CHECK(told.sizes[1].size == 0);
}

TEST_CASE("a forecast names the policy file that decides, which it does not ask") {
  Scene scene("fixed", 2);
  const JobId job = scene.run(Scene::job(2, 1'000), 100);
  core::ClusterState state = scene.state();
  CHECK(scene.forecast().unasked_policy.empty());
  state.deployment.active = core::PolicyFileRef{.name = "capped", .version = std::string(64, 'a')};
  const auto made = forecast::forecast(parts_by("fixed"), state, scene.now());
  CHECK(made.policy == scene.forecast().policy);
  CHECK(made.jobs.at(job) == scene.forecast().jobs.at(job));
  CHECK(forecast::tell(state, made, {}).unasked_policy == "capped@aaaaaaaaaaaa");
}

TEST_CASE("what is told of a job's cost is never less than what it holds has cost by then, reported or not") {
  Scene scene("fixed", 2);
  const JobId job = scene.run(Scene::job(2, 1'000), 100);
  scene.pass(800);
  const Money spent = core::account_at(scene.state(), *scene.state().find_job(job), scene.now()).cost;
  REQUIRE(spent > scene.state().find_job(job)->account.cost);
  forecast::Forecast made{.at = scene.now(), .until = scene.now() + Duration::seconds(86'400)};
  made.jobs[job] = {.basis = Basis::kDeclared,
                    .end = scene.now() + Duration::seconds(100),
                    .cost = spent + spent,
                    .sizes = {{scene.now(), 2}}};
  const auto declared = forecast::tell(scene.state(), made, {}).jobs.at(job);
  CHECK(declared.cost_low >= spent);
  CHECK(declared.cost >= declared.cost_low);
  made.jobs[job].basis = Basis::kUnknown;
  CHECK(forecast::tell(scene.state(), made, {}).jobs.at(job).cost == spent);
}

TEST_CASE("a job that waits starts when the one before it ends, and is taken to be as fast as that one") {
  Scene scene("fifo", 2);
  const JobId before = scene.run(Scene::job(2, 1'000), 100);
  const JobId next = scene.submit(Scene::job(2, 500));
  const auto made = scene.forecast();
  const auto& told = made.jobs.at(next);
  CHECK(told.waits);
  CHECK(told.starts_after == forecast::FreedBy{before, forecast::FreedBy::How::kEnds});
  CHECK(told.basis == Basis::kKin);
  CHECK(told.start_basis == Basis::kDeclared);
  CHECK(seconds_from(scene.now(), told.start) == Approx(902).margin(2));
  CHECK(seconds_from(*told.start, told.end) == Approx(500).margin(2));
}

TEST_CASE("a job that waits has the length of the steps that its file tells a built-in trainer to do") {
  Scene scene("fifo", 2);
  scene.run(Scene::job(2, 1'000), 100);
  core::JobSpec spec = Scene::job(2, 0);
  spec.work_samples.reset();
  core::RunSpec run{.trainer = "charlm"};
  run.args["steps"] = {std::int64_t{500}};
  spec.run = run;
  const JobId next = scene.submit(spec);
  const auto made = scene.forecast();
  const auto& told = made.jobs.at(next);
  CHECK(told.basis == Basis::kKin);  // its speed is that of the other job
  CHECK(seconds_from(*told.start, told.end) == Approx(500).margin(2));
}

TEST_CASE("of a job of which nothing is known no end is told, only before what it does not start") {
  Scene scene("fixed", 2);
  core::JobSpec spec = Scene::job(2, 1'000);
  spec.work_samples.reset();
  const JobId job = scene.submit(spec);
  const auto made = scene.forecast();
  CHECK(made.jobs.at(job).basis == Basis::kUnknown);
  Scene other("fixed", 1);
  const SubmitPlan plan = other.plan(Scene::job(2, 10));
  const auto& told = plan.told.jobs.at(plan.job);
  CHECK_FALSE(told.start);
  CHECK_FALSE(told.end);
  REQUIRE(told.not_before);
  CHECK(*told.not_before == plan.told.until);
  CHECK(*told.not_before >= other.now() + Duration::seconds(7 * 86'400));
}

TEST_CASE("a job whose tenant has spent its budget starts when the next window begins") {
  Scene scene("fixed", 4);
  core::Tenant tenant{.name = "demo", .guarantee = 4};
  // What two slots cost in half an hour.
  tenant.budget = {.limit = Money::micros(3'600'000),
                   .window = core::BudgetWindow::kDay,
                   .thresholds = {{100, core::BudgetAction::kPause}}};
  scene.share({tenant});
  const JobId running = scene.run(Scene::job(2, 7'200), 30);
  const auto made = scene.forecast();
  CHECK_FALSE(made.cut_short);
  CHECK(made.events < 500);
  const Instant midnight = Instant() + Duration::seconds(86'400);
  REQUIRE(made.jobs.contains(running));
  const auto& told = made.jobs.at(running);
  REQUIRE(told.sizes.size() > 2);
  CHECK(told.sizes[1].size == 0);
  CHECK(told.sizes[1].at < scene.now() + Duration::seconds(1'900));
  CHECK(told.sizes[2].at >= midnight);
  CHECK(told.sizes[2].at < midnight + Duration::seconds(60));
}

// How long jobs take, as a calibration has seen it: twice as long as was said.
forecast::Calibration twice_as_long() {
  core::ClusterState state;
  forecast::Calibration calibration;
  for (std::uint64_t n = 1; n <= 100; ++n) {
    const Instant said = Instant() + Duration::seconds(static_cast<std::int64_t>(n) * 1'000'000);
    auto job = std::make_shared<core::Job>();
    job->id = JobId(n);
    state.jobs.emplace(job->id, job);
    state.next_job = n + 1;
    forecast::Forecast made{.at = said};
    made.jobs[job->id] = {.start = said + Duration::seconds(20'000)};
    calibration.remember(state, made);
    auto started = std::make_shared<core::Job>(*job);
    started->started_at = said + Duration::seconds(40'000);
    state.jobs.insert_or_assign(job->id, started);
    calibration.learn(state, *started->started_at);
  }
  return calibration;
}

TEST_CASE("a start that the calendar of a budget fixes is told as it is, whatever forecasts have been off by") {
  Scene scene("fixed", 4);
  core::Tenant tenant{.name = "demo", .guarantee = 4};
  tenant.budget = {.limit = Money::micros(1'900'000),
                   .window = core::BudgetWindow::kDay,
                   .thresholds = {{100, core::BudgetAction::kPause}}};
  scene.share({tenant});
  (void)scene.run(Scene::job(2, 7'200), 1'000);  // spends it; tomorrow it is enough for what waits
  const JobId waiting = scene.submit(Scene::job(2, 60));
  const auto made = scene.forecast();
  const Instant midnight = Instant() + Duration::seconds(86'400);
  REQUIRE(made.jobs.at(waiting).start_fixed == midnight);
  REQUIRE(made.jobs.at(waiting).end_fixed == midnight);
  const forecast::Calibration calibration = twice_as_long();
  const Instant scaled = calibration.expect(forecast::Moment::kStart, Basis::kDeclared, scene.now(), midnight).at;
  REQUIRE(scaled > midnight + Duration::seconds(80'000));
  const forecast::ForecastReport told = forecast::tell(scene.state(), made, calibration);
  const auto& start = told.jobs.at(waiting).start;
  REQUIRE(start);
  CHECK(start->early >= midnight);
  CHECK(start->at < midnight + Duration::seconds(120));
  CHECK(start->late < midnight + Duration::seconds(120));
  REQUIRE(told.jobs.at(waiting).end);
  CHECK(told.jobs.at(waiting).end->early >= midnight);
  CHECK(told.jobs.at(waiting).end->at < midnight + Duration::seconds(300));
  // A job that no budget holds is set right as before.
  Scene other("fifo", 2);
  (void)other.run(Scene::job(2, 20'000), 100);
  const JobId next = other.submit(Scene::job(2, 60));
  const auto free = other.forecast();
  CHECK_FALSE(free.jobs.at(next).start_fixed);
  const auto later = forecast::tell(other.state(), free, calibration).jobs.at(next).start;
  REQUIRE(later);
  CHECK(later->at > other.now() + Duration::seconds(35'000));
}

TEST_CASE("what came after a time that a calendar had fixed is held against the forecast, and nothing else") {
  forecast::Calibration calibration;
  const Instant said = Instant() + Duration::seconds(1'000);
  const Instant midnight = Instant() + Duration::seconds(86'400);
  const auto job = [](std::uint64_t id, std::optional<Instant> started) {
    auto made = std::make_shared<core::Job>();
    made->id = JobId(id);
    made->started_at = started;
    return made;
  };
  core::ClusterState state;
  state.next_job = 3;
  state.jobs.emplace(JobId(1), job(1, {}));
  state.jobs.emplace(JobId(2), job(2, {}));
  forecast::Forecast made{.at = said};
  made.jobs[JobId(1)] = {.start = midnight + Duration::seconds(10), .start_fixed = midnight};
  made.jobs[JobId(2)] = made.jobs[JobId(1)];
  calibration.remember(state, made);
  state.jobs.insert_or_assign(JobId(1), job(1, midnight + Duration::seconds(10)));
  // Its budget was raised: no forecast was wrong.
  state.jobs.insert_or_assign(JobId(2), job(2, said + Duration::seconds(50)));
  calibration.learn(state, midnight + Duration::seconds(20));
  CHECK(calibration.observed(forecast::Moment::kStart) == forecast::Observed{.all = 1, .within = 1});
}

TEST_CASE("a job that is planned while the cluster is idle starts as soon as those before it did") {
  Scene scene("fixed", 2);
  scene.finish(scene.run(Scene::job(2, 100), 100));
  REQUIRE(scene.state().jobs.empty());
  const SubmitPlan plan = scene.plan(Scene::job(2, 100));
  const auto& told = plan.told.jobs.at(plan.job);
  REQUIRE(told.start);
  CHECK(told.start->at < scene.now() + Duration::seconds(1));
  CHECK(told.slots_at == scene.now());
}

TEST_CASE("a plan says when the job starts and that those behind it do not mind") {
  Scene scene("fifo", 2);
  const JobId running = scene.run(Scene::job(2, 1'000), 100);
  const JobId waiting = scene.submit(Scene::job(2, 500));
  const SubmitPlan plan = scene.plan(Scene::job(2, 100));
  CHECK(plan.changes.empty());
  const auto& told = plan.told.jobs.at(plan.job);
  REQUIRE(told.start);
  CHECK(told.start->early <= told.start->at);
  CHECK(told.start->at <= told.start->late);
  REQUIRE(told.end);
  CHECK(told.end->at >= told.start->at);
  CHECK(told.cost_low <= told.cost);
  CHECK(told.cost <= told.cost_high);
  CHECK(plan.told.jobs.contains(running));
  CHECK(plan.told.jobs.contains(waiting));
}

TEST_CASE("a plan of a job that goes first says which others start and end later, and by how much") {
  Scene scene("fifo", 2);
  const JobId running = scene.run(Scene::job(2, 1'000), 100);
  const JobId waiting = scene.submit(Scene::job(2, 500));
  const SubmitPlan plan = scene.plan(Scene::job(2, 300, 5));
  REQUIRE(plan.changes.size() == 1);
  const SubmitPlan::Change& change = plan.changes.front();
  CHECK(change.job == waiting);
  CHECK(change.job != running);
  CHECK(change.effect == SubmitPlan::Effect::kLater);
  REQUIRE(change.start_by);
  CHECK(change.start_by->to_seconds() == Approx(302).margin(3));
  REQUIRE(change.end_by);
  CHECK(change.end_by->to_seconds() == Approx(302).margin(3));
}

TEST_CASE("a plan tells no delay of a job whose end it can tell no more") {
  Scene scene("fifo", 2);
  scene.run(Scene::job(2, 1'000), 100);
  const JobId waiting = scene.submit(Scene::job(2, 500));
  const forecast::Limits limits{.horizon =
                                    Duration::seconds(1'500)};  // it would end after 1,400 s, and ends after 1,700
  const auto plan = forecast::plan_submit(parts_by("fifo"), scene.state(),
                                          {.spec = Scene::job(2, 300, 5), .now = scene.now(), .limits = limits}, {});
  REQUIRE(plan.ok());
  REQUIRE(plan->changes.size() == 1);
  CHECK(plan->changes.front().job == waiting);
  CHECK(plan->changes.front().effect == SubmitPlan::Effect::kLater);
  CHECK_FALSE(plan->changes.front().start_by.has_value());
  CHECK_FALSE(plan->changes.front().end_by.has_value());
}

TEST_CASE("a plan names the job for which another is preempted") {
  Scene scene("tidal", 2);
  scene.share({{.name = "demo"}, {.name = "vision", .guarantee = 2}});
  const JobId running = scene.run(Scene::job(2, 20'000), 1'000);
  core::JobSpec claim = Scene::job(2, 500);
  claim.tenant = "vision";
  const SubmitPlan plan = scene.plan(claim);
  REQUIRE(plan.changes.size() == 1);
  CHECK(plan.changes.front().job == running);
  CHECK(plan.changes.front().effect == SubmitPlan::Effect::kPreempted);
  CHECK(plan.changes.front().taken_for == core::reason::Claimants{.for_job = plan.job});
}

TEST_CASE("a plan names the budget that pauses another job sooner") {
  Scene scene("fixed", 4);
  core::Tenant tenant{.name = "demo", .guarantee = 4};
  // What two slots cost in half an hour, and four in a quarter.
  tenant.budget = {.limit = Money::micros(3'600'000),
                   .window = core::BudgetWindow::kDay,
                   .thresholds = {{100, core::BudgetAction::kPause}}};
  scene.share({tenant});
  const JobId running = scene.run(Scene::job(2, 7'200), 30);
  const SubmitPlan plan = scene.plan(Scene::job(2, 7'200));
  REQUIRE(plan.changes.size() == 1);
  const SubmitPlan::Change& change = plan.changes.front();
  CHECK(change.job == running);
  CHECK(change.effect == SubmitPlan::Effect::kPreempted);
  REQUIRE(change.at);
  CHECK((*change.at - scene.now()).to_seconds() == Approx(885).margin(10));
  REQUIRE(change.budget);
  CHECK(change.budget->tenant == "demo");
  CHECK(change.budget->action == core::BudgetAction::kPause);
  CHECK(change.budget->at <= *change.at);
}

TEST_CASE("a plan names the budget that shrinks another job sooner, which pauses it later") {
  Scene scene("fixed", 4);
  core::Tenant tenant{.name = "demo", .guarantee = 4};
  // Half of it is what two slots cost in a quarter of an hour.
  tenant.budget = {.limit = Money::micros(3'600'000),
                   .window = core::BudgetWindow::kDay,
                   .thresholds = {{50, core::BudgetAction::kShrink}, {100, core::BudgetAction::kPause}}};
  scene.share({tenant});
  core::JobSpec elastic = job_spec({.min = 1, .max = 2, .preferred = 2, .batch = 20});
  elastic.work_samples = 7'200 * 20;
  const JobId running = scene.run(elastic, 30);
  const SubmitPlan plan = scene.plan(Scene::job(2, 7'200));
  REQUIRE(plan.changes.size() == 1);
  const SubmitPlan::Change& change = plan.changes.front();
  CHECK(change.job == running);
  CHECK(change.effect == SubmitPlan::Effect::kShrunk);
  CHECK(change.to == 1);
  CHECK(seconds_from(scene.now(), change.at) == Approx(435).margin(15));
  REQUIRE(change.budget);
  CHECK(change.budget->action == core::BudgetAction::kShrink);
  CHECK(change.budget->at == *change.at);
}

TEST_CASE("a plan that the engine would refuse is an error") {
  Scene scene("fifo", 2);
  core::JobSpec spec = Scene::job(2, 100);
  spec.elastic.sizes = {3};
  const auto plan = forecast::plan_submit(parts_by("fifo"), {}, {.spec = spec, .now = scene.now(), .limits = {}}, {});
  CHECK_FALSE(plan.ok());
}

}  // namespace
}  // namespace tidepool::test
