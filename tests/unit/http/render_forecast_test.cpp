// Forecasts as the API shows them.
#include <tuple>

#include <catch2/catch.hpp>

#include "core/facts/event_data.hpp"
#include "core/words/adjusted_reason.hpp"
#include "forecast/forecast_report.hpp"
#include "schedulerd/live/http/forecasts/plan_words.hpp"
#include "schedulerd/live/http/render.hpp"
#include "schedulerd/live/http/tenant_view.hpp"
#include "tests/support/no_history.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

Instant minute(std::int64_t n) {
  return Instant() + Duration::seconds(60 * n);
}

forecast::Expected around(std::int64_t n) {
  forecast::Expected expected;
  expected.at = expected.early = expected.late = minute(n);
  return expected;
}

// job-7 and job-8 are of vision, job-9 of speech.
std::shared_ptr<Published> jobs_of_two_tenants() {
  auto seen = std::make_shared<Published>();
  const std::pair<int, const char*> owners[] = {{7, "vision"}, {8, "vision"}, {9, "speech"}};
  for (const auto& [id, tenant] : owners) {
    auto job = std::make_shared<core::Job>();
    job->id = JobId(static_cast<std::uint64_t>(id));
    job->spec.tenant = tenant;
    seen->state.jobs[job->id] = std::move(job);
  }
  return seen;
}

TEST_CASE("a job that its user has suspended or cancelled has no forecast, not even the one made before") {
  auto picture = std::make_shared<ForecastPicture>();
  picture->told.jobs[JobId(7)].sizes = {{minute(0), 2}};
  test::NoHistory past;
  const Caller admin;
  Published seen;
  core::Job job;
  job.id = JobId(7);
  const auto forecast = [&] {
    seen.state.jobs[job.id] = std::make_shared<const core::Job>(job);
    return render_forecast({seen, admin, past, picture}, job.id);
  };
  job.phase = core::phase::Running{};
  CHECK(forecast().is_object());
  job.requests.cancel = true;
  CHECK(forecast().is_null());
  job.requests = {};
  job.requests.suspend = true;
  CHECK(forecast().is_null());
  job.phase = core::phase::Suspended{};
  CHECK(forecast().is_null());
}

TEST_CASE("a plan names the job for which another is preempted or shrunk to those who may see that job") {
  test::NoHistory past;
  const auto seen = jobs_of_two_tenants();
  PlannedSubmit planned;
  planned.plan.job = JobId(8);
  planned.plan.told.jobs[JobId(8)].start = around(5);
  planned.plan.changes.push_back({.job = JobId(7), .effect = forecast::SubmitPlan::Effect::kPreempted});
  const Caller of_vision{.tenant = "vision"};
  using Effect = forecast::SubmitPlan::Effect;
  for (const auto& [effect, field, other] : {std::tuple(Effect::kPreempted, "preempted_for", "shrunk_for"),
                                             std::tuple(Effect::kShrunk, "shrunk_for", "preempted_for")}) {
    forecast::SubmitPlan::Change& change = planned.plan.changes.front();
    change.effect = effect;
    const auto named = [&](std::optional<JobId> claimant, const Caller& caller) {
      change.taken_for.for_job = claimant;
      const json told = render_plan(planned, {*seen, caller, past}, "USD").at("changes").at(0);
      CHECK(told.at(other).is_null());
      return told.at(field);
    };
    CHECK(named(JobId(9), Caller()) == "job-9");
    CHECK(named(JobId(9), of_vision) == "a job of another tenant");
    CHECK(named(JobId(8), of_vision) == "the planned job");
    CHECK(named(std::nullopt, of_vision).is_null());
  }
  planned.plan.changes.front().taken_for.for_others = 2;
  const json told = render_plan(planned, {*seen, of_vision, past}, "USD");
  CHECK(told.at("changes").at(0).at("shrunk_for_others") == 2);
}

TEST_CASE("the reason of a shrink names the job that it is for to those who may see that job") {
  test::NoHistory past;
  Published seen;
  core::Job job;
  job.id = JobId(9);
  job.spec.tenant = "speech";
  seen.state.jobs[job.id] = std::make_shared<const core::Job>(job);
  const json reason = core::reason_data(
      core::with_claimants(core::reason::BackToSize{{.from = 4, .to = 2}}, {.for_job = JobId(9), .for_others = 1}));
  const Caller of_vision{.tenant = "vision"};
  const Caller of_speech{.tenant = "speech"};
  CHECK(without_foreign_jobs(reason, {seen, of_speech, past}) == reason);
  CHECK(reason.at("text") == "going 4 -> 2 for job-9 and 1 more job: to the size that its policy gives it");
  const json told = without_foreign_jobs(reason, {seen, of_vision, past});
  CHECK(told.at("text") ==
        "going 4 -> 2 for a job of another tenant and 1 more job: to the size that its policy gives it");
  CHECK_FALSE(told.at("numbers").contains("for_job"));
  CHECK(told.at("numbers").at("for_others") == 1);
}

TEST_CASE("numbers of a job that the caller may not see are left out with its id") {
  namespace reason = core::reason;
  test::NoHistory past;
  Published seen;
  core::Job job;
  job.id = JobId(9);
  job.spec.tenant = "speech";
  seen.state.jobs[job.id] = std::make_shared<const core::Job>(job);
  const Caller of_vision{.tenant = "vision"};
  const Caller of_speech{.tenant = "speech"};
  const auto told = [&](const core::Reason& why, const Caller& caller) {
    return without_foreign_jobs(core::reason_data(why), {seen, caller, past}).at("numbers");
  };
  const core::Reason outbid =
      reason::PriceWait{.needed = 2, .market = {.worth = 1.0, .price = 2.5, .rival = JobId(9), .rival_worth = 2.5}};
  CHECK(told(outbid, of_speech).at("rival_worth") == 2.5);
  for (const char* left_out : {"rival", "rival_worth"}) CHECK_FALSE(told(outbid, of_vision).contains(left_out));
  CHECK(told(outbid, of_vision).at("price") == 2.5);
  const reason::ByTurn turn{.measure = core::Measure::kService, .own = 20.0, .rival = JobId(9), .bar = 3600.0};
  const core::Reason behind = reason::TurnWait{.needed = 4, .by = turn};
  CHECK(told(behind, of_speech).at("bar") == 3600.0);
  for (const char* left_out : {"rival", "bar"}) CHECK_FALSE(told(behind, of_vision).contains(left_out));
  CHECK(told(behind, of_vision).at("own") == 20.0);
  const reason::ByMerit alone{.measure = core::Measure::kFitness, .merit = 0.25, .asked = 0.5};
  CHECK(told(core::Reason(reason::MeritWait{.needed = 4, .by = alone}), of_vision).at("asked") == 0.5);
}

// One job and a forecast of it, as an admin sees both.
struct OneJob {
  OneJob() {
    job.id = JobId(7);
    job.spec.elastic.sizes = {4};
    picture->told.until = minute(7 * 24 * 60);
  }
  [[nodiscard]] forecast::JobReport& told() const { return picture->told.jobs[job.id]; }
  [[nodiscard]] json explained() {
    seen.state.jobs[job.id] = std::make_shared<const core::Job>(job);
    return render_explanation({seen, admin, past, picture}, job);
  }

  std::shared_ptr<ForecastPicture> picture = std::make_shared<ForecastPicture>();
  test::NoHistory past;
  const Caller admin;
  Published seen;
  core::Job job;
};

TEST_CASE("a job that has lost its slots has no forecast until one is made without them") {
  OneJob scene;
  scene.told().sizes = {{minute(0), 4}, {minute(40), 0}};
  scene.told().end = around(40);
  scene.job.phase = core::phase::Running{};
  CHECK(scene.explained().at("forecast").is_object());
  for (const core::JobPhase& phase :
       {core::JobPhase(core::phase::Suspending{}), core::JobPhase(core::phase::Pending{})}) {
    scene.job.phase = phase;
    CHECK(scene.explained().at("forecast").is_null());
  }
  scene.told().sizes = {{minute(0), 0}, {minute(10), 4}};
  scene.told().start = around(10);
  CHECK(scene.explained().at("forecast").is_object());
}

TEST_CASE("a job that cannot start has no forecast, and one that waits and has no start yet has") {
  OneJob scene;
  scene.told().sizes = {{minute(0), 0}};
  scene.told().not_before = scene.picture->told.until;
  scene.job.verdict.job = scene.job.id;
  scene.job.verdict.reason = core::reason::WaitingForSlots{.needed = 4};
  CHECK(scene.explained().at("forecast").is_object());
  scene.job.verdict.reason = core::reason::NeverFits{.needed = 4, .cluster = 2};
  CHECK(scene.explained().at("forecast").is_null());
}

TEST_CASE("a deadline that is missed for all that was looked ahead is told without a date that nothing tells") {
  OneJob scene;
  scene.job.spec.deadline = Duration::seconds(3'600);
  scene.job.verdict.job = scene.job.id;
  scene.job.verdict.reason = core::reason::WaitingForSlots{.needed = 4};
  scene.told().basis = forecast::Basis::kDeclared;
  scene.told().sizes = {{minute(0), 0}};
  scene.told().not_before = scene.picture->told.until;
  const auto misses = [&] {
    std::string text;
    const json explained = scene.explained();
    for (const json& line : explained.at("evidence")) {
      if (line.get<std::string>().starts_with("it is expected to miss")) text = line;
    }
    return text;
  };
  CHECK(misses() ==
        "it is expected to miss its deadline of 1970-01-01 01:00 UTC: the forecast looks 7 days ahead and sees no end "
        "of it");
  scene.job.requests.suspend = true;  // when it goes on is its user's choice
  scene.job.phase = core::phase::Suspended{};
  CHECK(misses().empty());
  scene.job.requests.suspend = false;
  scene.job.phase = core::phase::Pending{};
  scene.told().start = around(90);
  scene.told().not_before = minute(90);
  scene.told().basis = forecast::Basis::kUnknown;
  CHECK(misses() ==
        "it is expected to miss its deadline of 1970-01-01 01:00 UTC by at least 30 min: its start is expected at "
        "about 1970-01-01 01:30 UTC");
}

TEST_CASE("a forecast names other jobs to those who may see them") {
  test::NoHistory past;
  const auto seen = jobs_of_two_tenants();
  const auto picture = std::make_shared<ForecastPicture>();
  forecast::JobReport& told = picture->told.jobs[JobId(7)];
  told.start = around(10);
  told.starts_after = {JobId(9), forecast::FreedBy::How::kEnds};
  told.sizes = {{minute(0), 0}, {minute(10), 4}, {minute(20), 2, {.for_job = JobId(9), .for_others = 1}}};
  const auto forecast = [&](const Caller& caller) { return render_forecast({*seen, caller, past, picture}, JobId(7)); };
  const json all = forecast(Caller());
  CHECK(all.at("starts_after") == json({{"job", "job-9"}, {"how", "ends"}}));
  CHECK(all.at("sizes").at(2).at("taken_for") == "job-9");
  CHECK(all.at("sizes").at(2).at("taken_for_others") == 1);
  CHECK_FALSE(all.at("sizes").at(1).contains("taken_for"));
  const json own = forecast({.tenant = "vision"});
  CHECK(own.at("starts_after") == json({{"job", "a job of another tenant"}, {"how", "ends"}}));
  CHECK(own.at("sizes").at(2).at("taken_for") == "a job of another tenant");
  told.starts_after = {JobId(8), forecast::FreedBy::How::kGivesUpSome};
  CHECK(forecast({.tenant = "vision"}).at("starts_after") == json({{"job", "job-8"}, {"how", "gives_up_some"}}));
  told.starts_after.reset();
  CHECK(forecast(Caller()).at("starts_after").is_null());
}

TEST_CASE("a plan tells when the job is given slots, and what a budget does to it") {
  test::NoHistory past;
  const auto seen = jobs_of_two_tenants();
  PlannedSubmit planned;
  planned.plan.job = JobId(8);
  planned.plan.told.at = minute(5);
  planned.plan.told.until = minute(60);
  forecast::JobReport& told = planned.plan.told.jobs[JobId(8)];
  const auto plan = [&] { return render_plan(planned, {*seen, Caller(), past}, "USD"); };
  CHECK(plan().at("forecast").at("slots_at").is_null());
  CHECK(plan().at("forecast").at("at_once") == false);
  CHECK(plan().at("forecast").at("budget").is_null());
  CHECK(plan().at("summary").get<std::string>().starts_with("would not start within"));
  told.slots_at = minute(5);
  told.budget = {minute(6), "vision", core::BudgetAction::kPause};
  CHECK(plan().at("forecast").at("slots_at") == plan().at("forecast").at("computed_at"));
  CHECK(plan().at("forecast").at("at_once") == true);
  CHECK(plan().at("forecast").at("budget").at("tenant") == "vision");
  CHECK(plan().at("forecast").at("budget").at("action") == "pause");
  CHECK(plan().at("summary").get<std::string>().starts_with("would start at once; its end is unknown"));
  told.slots_at = minute(6);
  CHECK(plan().at("forecast").at("at_once") == false);
  CHECK(plan().at("summary").get<std::string>().starts_with("would start at about "));
  told.slots_at = minute(5);
  told.end = around(7);
  told.outcome = core::JobState::kCancelled;
  told.budget->action = core::BudgetAction::kStop;
  CHECK(plan().at("summary").get<std::string>().starts_with(
      "would start at once and be ended by the budget of tenant vision at about "));
}

TEST_CASE("the policy file that decides and was not asked is named") {
  forecast::JobReport told;
  told.sizes = {{minute(0), 0}};
  forecast::ForecastReport of;
  const JobNames unnamed = [](JobId) { return std::string(); };
  CHECK(render_told({}, told, of, unnamed).at("unasked_policy").is_null());
  of.unasked_policy = "capped@0123456789ab";
  CHECK(render_told({}, told, of, unnamed).at("unasked_policy") == "capped@0123456789ab");
}

}  // namespace
}  // namespace tidepool::live::http
