// Tenants with budgets: the moment at which one is spent, what becomes of its jobs, and how they go on.
#include <algorithm>

#include <catch2/catch.hpp>

#include "core/engine/engine.hpp"
#include "core/explain/budget_warnings.hpp"
#include "core/explain/explain.hpp"
#include "core/state/reason_read.hpp"
#include "core/words/sentence.hpp"
#include "tests/support/reasons.hpp"
#include "tests/support/shared_pool.hpp"

namespace tidepool::test {
namespace {

using core::BudgetAction;
using core::JobState;

// Slots cost a dollar an hour, and the story begins on Thursday, 1 January 1970, a second after midnight.
core::Tenant tenant(const std::string& name, std::int64_t dollars, BudgetAction action, int guarantee = 8) {
  core::Tenant tenant{.name = name, .guarantee = guarantee};
  tenant.budget = {.limit = Money::micros(dollars * 1'000'000),
                   .window = core::BudgetWindow::kDay,
                   .thresholds = {{50, BudgetAction::kWarn}, {100, action}}};
  return tenant;
}

constexpr Duration kHour = Duration::seconds(3600);

struct BudgetPool : SharedPool {
  explicit BudgetPool(std::vector<core::Tenant> tenants, int slots = 8) : SharedPool(std::move(tenants), slots) {}

  // The clock tells that this moment has come.
  void clock_at(Instant at) {
    story.pass(at - story.now());
    story.learn(core::ClockAdvanced{});
  }
  [[nodiscard]] const core::BudgetAccount& budget(const std::string& tenant) const {
    return story.state().budgets.at(tenant);
  }
  // When so much of it will be spent.
  [[nodiscard]] Instant spends(const std::string& tenant, std::int64_t micros) const {
    return core::reaches_at(budget(tenant), Money::micros(micros)).value();
  }
  // An elastic job that runs at this size.
  static core::JobSpec elastic_spec(const std::string& tenant, int min, int max) {
    core::JobSpec spec = SharedPool::spec(tenant, max);
    spec.elastic.min = min;
    spec.elastic.preferred = max;
    spec.elastic.sizes.clear();
    for (int size = min; size <= max; ++size) spec.elastic.sizes.push_back(size);
    spec.elastic.cooldown = Duration();
    return spec;
  }
  JobId elastic(const std::string& tenant, int min, int max) { return running(elastic_spec(tenant, min, max)); }
  // What an operator is told who is about to set these tenants.
  [[nodiscard]] std::vector<std::string> warnings(std::vector<core::Tenant> tenants) const {
    std::vector<std::string> warnings;
    const core::TenantTree tree{.tenants = std::move(tenants)};
    for (const auto& effect : core::budget_effects(story.state(), tree, story.now())) {
      for (std::string& each : core::budget_warnings(story.state(), effect)) warnings.push_back(std::move(each));
    }
    return warnings;
  }
  [[nodiscard]] std::string why(JobId id) const { return core::sentence(story.job(id).verdict.reason); }
  // The budgets that hold it beside the one of its reason.
  [[nodiscard]] std::vector<std::string> besides(JobId id) const {
    std::vector<std::string> lines = core::explain(story.state(), id).evidence;
    std::erase_if(lines, [](const std::string& line) { return !line.starts_with("also, "); });
    return lines;
  }
};

}  // namespace

TEST_CASE("a budget is spent in the microsecond in which its jobs have cost so much, and they are paused then") {
  BudgetPool pool({tenant("vision", 4, BudgetAction::kPause), {.name = "speech"}});
  const JobId job = pool.running("vision", 2);
  CHECK(pool.budget("vision").rate == Money::micros(2'000'000));
  // Four dollars at two an hour take two hours from the moment at which the job got its slots.
  const Instant began = pool.story.job(job).last_start_at.value();
  const Instant spent_at = began + kHour * 2;
  CHECK(pool.spends("vision", 4'000'000) == spent_at);
  CHECK(pool.story.engine().clock_due() == began + kHour);  // half of it
  pool.clock_at(began + kHour);
  CHECK(pool.story.count("budget.reached") == 1);
  CHECK(pool.story.last("budget.reached").data.at("action") == "warn");
  CHECK(pool.story.last("budget.reached").tenant == "vision");
  pool.story.decide();
  CHECK(pool.story.job(job).size() == 2);

  CHECK(pool.story.engine().clock_due() == spent_at);
  pool.clock_at(spent_at - Duration::micros(1));
  CHECK(pool.story.count("budget.reached") == 1);
  CHECK(names_of(pool.story.decide()).empty());
  pool.clock_at(spent_at);
  CHECK(pool.story.last("budget.reached").data.at("action") == "pause");
  CHECK(pool.story.last("budget.reached").data.at("spent") == "4.00");
  CHECK(names_of(pool.story.decide()) == "preempt");
  CHECK(pool.story.job(job).state() == JobState::kSuspending);
  pool.story.settle(job);
  CHECK(pool.story.job(job).state() == JobState::kPending);
  CHECK(pool.budget("vision").rate == Money());
  CHECK(pool.why(job) == "waits: tenant vision has spent its budget of 4.00, which is renewed at 1970-01-02 00:00 UTC");
  // What it cost to leave is counted as well.
  CHECK(pool.budget("vision").spent >= Money::micros(4'000'000));
  CHECK(pool.story.job(job).account.cost == pool.budget("vision").spent);
}

TEST_CASE("a job that several budgets hold is told all of them") {
  core::Tenant vision = tenant("vision", 4, BudgetAction::kStop);
  vision.parent = "lab";
  vision.budget->thresholds.back().percent = 90;
  BudgetPool pool({tenant("lab", 4, BudgetAction::kPause), vision, {.name = "speech", .parent = "lab"}});
  const JobId first = pool.running("vision", 2);
  pool.clock_at(pool.spends("vision", 3'600'000));
  pool.story.settle(first);
  const JobId waits = pool.submit(SharedPool::spec("vision", 2));
  pool.settle_all();
  CHECK(pool.why(waits) ==
        "waits: tenant vision has spent 90 % of its budget of 4.00, which is renewed at 1970-01-02 00:00 UTC");
  CHECK(pool.besides(waits).empty());
  const JobId other = pool.running("speech", 2);
  pool.clock_at(pool.spends("lab", 4'000'000));
  pool.story.settle(other);
  pool.settle_all();
  CHECK(pool.why(waits) == "waits: tenant lab has spent its budget of 4.00, which is renewed at 1970-01-02 00:00 UTC");
  CHECK(pool.besides(waits) ==
        std::vector<std::string>{"also, tenant vision has spent 90 % of its budget of 4.00, which is "
                                 "renewed at 1970-01-02 00:00 UTC"});
}

TEST_CASE("a paused job is told to wait for the budget that is renewed last, also if that one only shrinks jobs") {
  core::Tenant lab = tenant("lab", 3, BudgetAction::kShrink);
  lab.budget->window = core::BudgetWindow::kMonth;
  core::Tenant vision = tenant("vision", 4, BudgetAction::kPause);
  vision.parent = "lab";
  BudgetPool pool({lab, vision});
  const JobId job = pool.elastic("vision", 1, 2);
  pool.clock_at(pool.spends("lab", 3'000'000));
  pool.story.settle(job);
  REQUIRE(pool.story.job(job).size() == 1);
  pool.clock_at(pool.spends("vision", 4'000'000));
  pool.story.settle(job);
  REQUIRE(pool.story.job(job).state() == JobState::kPending);
  CHECK(pool.why(job) == "waits: tenant vision has spent its budget of 4.00, which is renewed at 1970-01-02 00:00 UTC");
  const core::Explanation told = core::explain(pool.story.state(), job);
  CHECK(told.summary == "waits: tenant lab has spent its budget of 3.00, which is renewed at 1970-02-01 00:00 UTC");
  const std::vector<std::string> advice = told.unblocks();
  CHECK(std::count(advice.begin(), advice.end(), "a larger budget of tenant lab: schedctl tenants apply FILE") == 1);
  CHECK(std::count(advice.begin(), advice.end(), "wait until 1970-02-01 00:00 UTC") == 1);
  CHECK(std::count(advice.begin(), advice.end(), "wait until 1970-01-02 00:00 UTC") == 0);
  CHECK(pool.besides(job) == std::vector<std::string>{"also, tenant vision has spent its budget of 4.00, which is "
                                                      "renewed at 1970-01-02 00:00 UTC"});
  // And so it goes: with the day's budget renewed it still may not start.
  pool.clock_at(Instant::from_micros(24 * kHour.count_us()));
  pool.settle_all();
  CHECK(pool.story.job(job).state() == JobState::kPending);
  CHECK(pool.besides(job).empty());
  pool.clock_at(Instant::from_micros(31 * 24 * kHour.count_us()));
  pool.settle_all();
  CHECK(pool.story.job(job).state() == JobState::kRunning);
}

TEST_CASE("what a tenant has spent stays with the budgets above it when it moves, and new ones pay from then on") {
  const core::Tenant lab = tenant("lab", 4, BudgetAction::kPause, 4);
  core::Tenant vision = tenant("vision", 10, BudgetAction::kPause, 4);
  vision.parent = "lab";
  const core::Tenant corp = tenant("corp", 1, BudgetAction::kPause, 4);
  const core::Tenant sales{.name = "sales", .parent = "corp"};
  BudgetPool pool({lab, vision, corp, sales});
  const JobId job = pool.running("vision", 2);
  pool.clock_at(pool.spends("lab", 3'000'000));
  vision.parent = "corp";
  pool.configure({lab, corp, sales, vision});
  CHECK(pool.budget("lab").spent == Money::micros(3'000'000));
  CHECK(pool.budget("lab").rate == Money());
  CHECK(pool.budget("vision").spent == Money::micros(3'000'000));
  CHECK(pool.budget("corp").spent == Money());
  CHECK(pool.budget("corp").rate == Money::micros(2'000'000));
  pool.settle_all();
  CHECK(pool.story.job(job).size() == 2);
  pool.clock_at(pool.spends("corp", 1'000'000));
  pool.story.settle(job);
  CHECK(pool.story.job(job).state() == JobState::kPending);
  CHECK(pool.why(job) == "waits: tenant corp has spent its budget of 1.00, which is renewed at 1970-01-02 00:00 UTC");
  CHECK(pool.budget("lab").spent == Money::micros(3'000'000));
}

TEST_CASE("a job that comes while the budget is spent waits, and all go on when the window turns") {
  BudgetPool pool({tenant("vision", 4, BudgetAction::kPause), {.name = "speech"}});
  const JobId first = pool.running("vision", 2);
  pool.clock_at(pool.spends("vision", 4'000'000));
  pool.story.settle(first);
  const JobId second = pool.submit(SharedPool::spec("vision", 2));
  const JobId other = pool.submit(SharedPool::spec("speech", 2));
  pool.settle_all();
  CHECK(pool.story.job(second).state() == JobState::kPending);
  CHECK(reason_as<core::reason::BudgetSpent>(pool.story.job(second).verdict.reason) != nullptr);
  CHECK(pool.story.job(other).size() == 2);
  const Instant midnight = Instant::from_micros(24 * kHour.count_us());
  CHECK(pool.story.engine().clock_due() == midnight);
  pool.clock_at(midnight - Duration::micros(1));
  CHECK(pool.story.count("budget.renewed") == 0);
  pool.clock_at(midnight);
  CHECK(pool.story.count("budget.renewed") == 1);
  CHECK(pool.budget("vision").spent == Money());
  pool.settle_all();
  CHECK(pool.story.job(first).size() == 2);
  CHECK(pool.story.job(second).size() == 2);
}

TEST_CASE("a window is cut at midnight, however late the fact that tells it") {
  BudgetPool pool({tenant("vision", 1'000, BudgetAction::kPause)});
  const JobId job = pool.running("vision", 2);
  const Instant began = pool.story.job(job).last_start_at.value();
  const Instant midnight = Instant::from_micros(24 * kHour.count_us());
  pool.clock_at(midnight + kHour);
  const Money before = cost_of(Money::micros(1'000'000), 2, midnight - began);
  CHECK(pool.story.last("budget.renewed").data.at("spent") == to_text(before));
  core::BudgetAccount account = pool.budget("vision");
  core::count_until(account, pool.story.now());
  CHECK(account.spent == Money::micros(2'000'000));
}

TEST_CASE("what a window reached before its end is told, however late the fact, and holds no job in the next one") {
  BudgetPool pool({tenant("vision", 4, BudgetAction::kPause)});
  const JobId job = pool.running("vision", 2);
  pool.clock_at(Instant::from_micros(24 * kHour.count_us()) + kHour);
  CHECK(pool.story.count("budget.reached") == 3);  // the warning of the new day is the third
  CHECK(pool.story.last("budget.reached").data.at("action") == "warn");
  CHECK(pool.story.count("budget.renewed") == 1);
  CHECK(names_of(pool.story.decide()).empty());
  CHECK(pool.story.job(job).size() == 2);
}

TEST_CASE("a threshold is told once a window, whatever else of the budget is changed") {
  core::Tenant vision = tenant("vision", 4, BudgetAction::kPause);
  BudgetPool pool({vision});
  const JobId job = pool.running("vision", 2);
  pool.clock_at(pool.spends("vision", 2'000'000));
  REQUIRE(pool.story.count("budget.reached") == 1);
  vision.budget->thresholds.insert(vision.budget->thresholds.begin(), {.percent = 25, .action = BudgetAction::kWarn});
  pool.configure({vision});
  CHECK(pool.story.count("budget.reached") == 2);  // the new one, whose amount has been spent
  CHECK(pool.story.last("budget.reached").data.at("percent") == 25);
  CHECK(pool.budget("vision").reached == 2);
  // Half of another limit is another amount.
  vision.budget->limit = Money::micros(3'000'000);
  pool.configure({vision});
  CHECK(pool.story.count("budget.reached") == 4);
  CHECK(pool.story.job(job).size() == 2);
}

TEST_CASE("an operator who raises the budget lets its jobs go on") {
  BudgetPool pool({tenant("vision", 4, BudgetAction::kPause), {.name = "speech"}});
  const JobId job = pool.running("vision", 2);
  pool.clock_at(pool.spends("vision", 4'000'000));
  pool.story.settle(job);
  const Money spent = pool.budget("vision").spent;
  pool.configure({tenant("vision", 10, BudgetAction::kPause), {.name = "speech"}});
  CHECK(pool.budget("vision").spent == spent);
  pool.story.settle(job);
  CHECK(pool.story.job(job).size() == 2);
  // And one who lowers it below what is spent stops them at once.
  pool.configure({tenant("vision", 1, BudgetAction::kPause), {.name = "speech"}});
  CHECK(names_of(pool.story.decide()) == "preempt");
  // Without a budget nothing holds them.
  pool.story.settle(job);
  pool.configure({{.name = "vision"}, {.name = "speech"}});
  pool.story.settle(job);
  CHECK(pool.story.job(job).size() == 2);
}

TEST_CASE("a budget that shrinks leaves jobs their smallest sizes, and lets none start") {
  BudgetPool pool({tenant("vision", 4, BudgetAction::kShrink), {.name = "speech"}});
  const JobId job = pool.elastic("vision", 1, 4);
  CHECK(pool.story.job(job).size() == 4);
  pool.clock_at(pool.spends("vision", 4'000'000));
  CHECK(names_of(pool.story.decide()) == "shrink switch");
  pool.story.settle(job);
  CHECK(pool.story.job(job).size() == 1);
  CHECK(pool.plan("vision").entitled == 1);
  CHECK(pool.plan("vision").satisfied);
  CHECK(pool.why(job) ==
        "has its smallest size: tenant vision has spent its budget of 4.00, which is renewed at 1970-01-02 00:00 UTC");
  const JobId second = pool.submit(SharedPool::spec("vision", 1));
  pool.settle_all();
  CHECK(pool.story.job(second).state() == JobState::kPending);
  CHECK_THAT(pool.story.refuses(core::JobResizeRequested{job, 3}),
             Catch::Contains("tenant vision has spent its budget"));
  pool.clock_at(Instant::from_micros(24 * kHour.count_us()));
  pool.settle_all();
  CHECK_FALSE(pool.story.job(job).hold);
  CHECK(pool.story.job(second).size() == 1);
}

TEST_CASE("a size that its user has pinned rests while the budget shrinks the job") {
  BudgetPool pool({tenant("vision", 4, BudgetAction::kShrink)});
  const JobId job = pool.elastic("vision", 1, 4);
  pool.story.learn(core::JobResizeRequested{job, 3});
  pool.story.settle(job);
  CHECK(pool.story.job(job).size() == 3);
  pool.clock_at(pool.spends("vision", 4'000'000));
  pool.story.settle(job);
  CHECK(pool.story.job(job).size() == 1);
  pool.clock_at(Instant::from_micros(24 * kHour.count_us()));
  pool.story.settle(job);
  CHECK(pool.story.job(job).size() == 3);
  CHECK(pool.story.job(job).requests.pinned_size == 3);
}

TEST_CASE("a size that its user pins, or leaves to the policy, while the job is shrunk or withheld holds afterwards") {
  BudgetPool pool({tenant("vision", 4, BudgetAction::kShrink)});
  const JobId job = pool.elastic("vision", 1, 4);
  pool.story.learn(core::JobResizeRequested{job, 3});
  pool.story.settle(job);
  pool.clock_at(pool.spends("vision", 4'000'000));
  pool.story.settle(job);
  const JobId waiting = pool.submit(BudgetPool::elastic_spec("vision", 1, 4));
  pool.settle_all();
  pool.story.learn(core::JobResizeRequested{waiting, 2});
  pool.story.learn(core::JobResizeRequested{waiting, 3});
  pool.story.learn(core::JobResizeRequested{job, 0});
  CHECK(pool.story.job(job).size() == 1);
  pool.clock_at(Instant::from_micros(24 * kHour.count_us()));
  pool.settle_all();
  CHECK(pool.story.job(job).requests.pinned_size == 0);
  CHECK(pool.story.job(waiting).requests.pinned_size == 3);
  CHECK(pool.story.job(waiting).size() == 3);
}

TEST_CASE("a budget that stops ends the jobs that hold slots, and the others wait") {
  BudgetPool pool({tenant("vision", 4, BudgetAction::kStop)}, 2);
  const JobId job = pool.running("vision", 2);
  const JobId waiting = pool.submit(SharedPool::spec("vision", 2));
  pool.story.decide();
  pool.clock_at(pool.spends("vision", 4'000'000));
  pool.settle_all();
  CHECK(pool.story.job(job).state() == JobState::kCancelled);
  CHECK(reason_as<core::reason::BudgetStopped>(pool.story.job(job).verdict.reason) != nullptr);
  CHECK(pool.story.job(waiting).state() == JobState::kPending);
}

TEST_CASE("the budget of a tenant counts what tenants below it spend, and the strongest action holds") {
  core::Tenant lab = tenant("lab", 4, BudgetAction::kPause);
  core::Tenant vision = tenant("vision", 2, BudgetAction::kShrink, 4);
  vision.parent = "lab";
  BudgetPool pool({lab, vision, {.name = "speech", .parent = "lab", .guarantee = 4}});
  const JobId seeing = pool.elastic("vision", 1, 2);
  const JobId hearing = pool.running("speech", 2);
  CHECK(pool.budget("lab").rate == Money::micros(4'000'000));
  CHECK(pool.budget("vision").rate == Money::micros(2'000'000));
  pool.clock_at(pool.spends("vision", 2'000'000));
  pool.settle_all();
  CHECK(pool.story.job(seeing).size() == 1);
  CHECK(pool.story.job(hearing).size() == 2);
  pool.clock_at(pool.spends("lab", 4'000'000));
  pool.settle_all();
  CHECK(pool.story.job(seeing).state() == JobState::kPending);
  CHECK(pool.story.job(hearing).state() == JobState::kPending);
  CHECK_THAT(pool.why(seeing), Catch::Contains("tenant lab has spent"));
}

TEST_CASE("a budget holds under policies that size each job by itself") {
  for (const char* policy : {"fixed", "fifo", "autoscaling_engine"}) {
    INFO(policy);
    BudgetPool pool({tenant("vision", 4, BudgetAction::kShrink)});
    pool.story.engine() = core::Engine(parts_of(policy), pool.story.state());
    core::JobSpec spec = SharedPool::spec("vision", 4);
    spec.elastic.min = 1;
    spec.elastic.sizes = {1, 2, 3, 4};
    spec.elastic.preferred = 4;
    spec.elastic.cooldown = Duration();
    const JobId job = pool.submit(spec);
    pool.story.settle(job);
    REQUIRE(pool.story.job(job).size() > 1);
    pool.clock_at(pool.spends("vision", 4'000'000));
    pool.story.settle(job);
    CHECK(pool.story.job(job).size() == 1);
    CHECK(reason_as<core::reason::BudgetShrunk>(pool.story.job(job).verdict.reason) != nullptr);
    pool.configure({tenant("vision", 4, BudgetAction::kPause)});
    pool.story.settle(job);
    CHECK(pool.story.job(job).state() == JobState::kPending);
    CHECK(reason_as<core::reason::BudgetSpent>(pool.story.job(job).verdict.reason) != nullptr);
    pool.clock_at(Instant::from_micros(24 * kHour.count_us()));
    pool.story.settle(job);
    CHECK(pool.story.job(job).state() == JobState::kRunning);
  }
}

TEST_CASE("an operator is told which jobs a new threshold cancels and holds back at once, and that is what it does") {
  core::Tenant vision = tenant("vision", 4, BudgetAction::kPause);
  BudgetPool pool({vision}, 2);
  const JobId job = pool.running("vision", 2);
  const JobId waiting = pool.submit(SharedPool::spec("vision", 2));
  pool.story.decide();
  pool.clock_at(pool.spends("vision", 3'000'000));
  vision.budget->thresholds = {{75, BudgetAction::kStop}, {100, BudgetAction::kPause}};
  CHECK(pool.warnings({vision}) ==
        std::vector<std::string>{
            "the budget of tenant vision takes effect at once: 3.00 of 4.00 a day are spent, which reaches stop at "
            "75 % (3.00); of its 2 jobs 1 is cancelled (" +
            job.text() + " charlm), 1 that holds no slots may not start (" + waiting.text() + " charlm)"});
  pool.configure({vision});
  pool.settle_all();
  CHECK(pool.story.job(job).state() == JobState::kCancelled);
  CHECK(pool.story.job(waiting).state() == JobState::kPending);
  CHECK(pool.warnings({vision}).empty());  // nothing is new
}

TEST_CASE("an operator is told which jobs a new threshold lets start, and what they run into") {
  core::Tenant vision = tenant("vision", 4, BudgetAction::kPause);
  BudgetPool pool({vision, {.name = "speech"}});
  const JobId job = pool.running("vision", 2);
  pool.clock_at(pool.spends("vision", 4'000'000));
  pool.story.settle(job);
  REQUIRE(pool.story.job(job).state() == JobState::kPending);
  const Money spent = pool.budget("vision").spent;
  vision.budget->thresholds = {{50, BudgetAction::kWarn}, {150, BudgetAction::kStop}};
  const std::string freed =
      "the budget of tenant vision lets jobs continue at once: 1 job that it holds now may start or "
      "grow (" +
      job.text() + " charlm)";
  CHECK(pool.warnings({vision, {.name = "speech"}}) ==
        std::vector<std::string>{freed + "; " + to_text(spent) + " of 4.00 a day are spent, and stop at 150 % (6.00) " +
                                 "is reached when " + to_text(Money::micros(6'000'000) - spent) +
                                 " more are: its jobs that hold slots are then cancelled"});
  vision.budget->thresholds.pop_back();
  CHECK(pool.warnings({vision, {.name = "speech"}}) ==
        std::vector<std::string>{freed + "; it has no other threshold that holds them"});
  vision.budget.reset();
  CHECK(pool.warnings({vision, {.name = "speech"}}) ==
        std::vector<std::string>{freed + "; the tenant no longer has a budget",
                                 "the budget of tenant vision is taken away: " + to_text(spent) +
                                     " that are spent this day count in no budget of its own that is set later, "
                                     "under this name or another"});
  pool.configure({vision, {.name = "speech"}});
  pool.story.settle(job);
  CHECK(pool.story.job(job).size() == 2);
}

TEST_CASE("a threshold that warns alone is told with the number of jobs, and the first jobs of many are named") {
  core::Tenant lab = tenant("lab", 8, BudgetAction::kPause);
  core::Tenant vision{.name = "vision", .parent = "lab", .guarantee = 8};
  BudgetPool pool({lab, vision});
  std::vector<JobId> jobs;
  for (int i = 0; i < 7; ++i) jobs.push_back(pool.running("vision", 1));
  pool.clock_at(pool.spends("lab", 3'000'000));
  lab.budget->thresholds = {{25, BudgetAction::kWarn}, {100, BudgetAction::kPause}};
  const std::string begins =
      "the budget of tenant lab takes effect at once: 3.00 of 8.00 a day are spent, which reaches ";
  CHECK(pool.warnings({lab, vision}) ==
        std::vector<std::string>{begins + "warn at 25 % (2.00); nothing changes for its 7 jobs"});
  lab.budget->thresholds = {{25, BudgetAction::kShrink}, {30, BudgetAction::kPause}};
  std::string named;
  for (std::size_t i = 0; i < 5; ++i) named += (i == 0 ? "" : ", ") + jobs[i].text() + " charlm";
  CHECK(pool.warnings({lab, vision}) ==
        std::vector<std::string>{begins + "shrink at 25 % (2.00), pause at 30 % (2.40); of its 7 jobs 7 are paused (" +
                                 named + " and 2 more)"});
  lab.budget->thresholds.pop_back();
  CHECK_THAT(pool.warnings({lab, vision}).at(0), Catch::Contains("; of its 7 jobs 7 shrink to their smallest sizes ("));
  // A window of another length begins now, and so does one that has just ended.
  lab.budget->window = core::BudgetWindow::kMonth;
  CHECK(pool.warnings({lab, vision}) ==
        std::vector<std::string>{
            "the budget of tenant lab starts from zero, because its window is a month in place of a day: "
            "3.00 that are spent this day do not count in it"});
  // And so does that of a tenant that gets another name.
  core::Tenant renamed = lab;
  renamed.name = "labs";
  vision.parent = "labs";
  CHECK(pool.warnings({renamed, vision}) ==
        std::vector<std::string>{"the budget of tenant lab is taken away: 3.00 that are spent this day count in no "
                                 "budget of its own that is set later, under this name or another"});
  vision.parent = "lab";
  const Instant tomorrow = Instant::from_micros(24 * kHour.count_us());
  lab.budget->window = core::BudgetWindow::kDay;
  CHECK(core::budget_effects(pool.story.state(), {.tenants = {lab, vision}}, tomorrow).empty());
}

TEST_CASE("a corrected clock moves the end of a window, and does not renew it twice") {
  BudgetPool pool({tenant("vision", 4, BudgetAction::kPause)});
  const Instant midnight = Instant::from_micros(24 * kHour.count_us());
  CHECK(pool.story.engine().clock_due() == midnight);
  pool.story.learn(core::UtcSet{kHour.count_us()});
  CHECK(pool.story.engine().clock_due() == midnight - kHour);
  pool.clock_at(midnight - kHour);
  CHECK(pool.story.count("budget.renewed") == 1);
  // Set back over midnight: the day that has begun goes on.
  pool.story.learn(core::UtcSet{0});
  CHECK(pool.story.engine().clock_due() == midnight + kHour * 24);
}

TEST_CASE("a budget that was spent while the clock was a year ahead is renewed with the window of the right day") {
  BudgetPool pool({tenant("vision", 4, BudgetAction::kPause)});
  const JobId job = pool.running("vision", 2);
  const Instant midnight = Instant::from_micros(24 * kHour.count_us());
  pool.story.learn(core::UtcSet{400 * 24 * kHour.count_us()});
  pool.clock_at(pool.spends("vision", 4'000'000));
  pool.story.settle(job);
  REQUIRE(pool.story.job(job).hold);
  CHECK(pool.budget("vision").window_ends_us == 401 * 24 * kHour.count_us());
  pool.story.learn(core::UtcSet{0});
  CHECK(pool.budget("vision").window_ends_us == midnight.count_us());
  CHECK(pool.budget("vision").spent == Money::micros(4'000'000));
  REQUIRE(pool.story.job(job).hold);
  CHECK(pool.story.job(job).hold->window_ends_us == midnight.count_us());
  pool.clock_at(midnight);
  CHECK_FALSE(pool.story.job(job).hold);
  pool.settle_all();
  CHECK(pool.story.job(job).size() == 2);
}

TEST_CASE("what was spent by the time the clock is corrected holds a job, and not what was spent before") {
  core::Tenant vision = tenant("vision", 4, BudgetAction::kStop);
  vision.budget->thresholds = {{50, BudgetAction::kShrink}, {100, BudgetAction::kPause}};
  BudgetPool pool({vision});
  const JobId job = pool.running("vision", 2);
  pool.story.learn(core::UtcSet{400 * 24 * kHour.count_us()});
  pool.clock_at(pool.spends("vision", 2'000'000));
  REQUIRE(pool.story.job(job).hold);
  REQUIRE(pool.story.job(job).hold->action == BudgetAction::kShrink);
  pool.story.pass(kHour * 2);
  pool.story.learn(core::UtcSet{0});
  REQUIRE(pool.story.job(job).hold);
  CHECK(pool.story.job(job).hold->action == BudgetAction::kPause);
  CHECK(pool.story.job(job).hold->percent == 100);
  CHECK(pool.story.job(job).hold->window_ends_us == 24 * kHour.count_us());
}

}  // namespace tidepool::test
