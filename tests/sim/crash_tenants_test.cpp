// The daemon dies once, at every journal write in turn, while a tenant has its guarantee back from jobs that shrink or
// are preempted, and while a budget shrinks, pauses or stops jobs. What is lost is nothing: the books of tenants and
// budgets are the sums of their jobs', the guarantee is had, and each threshold of the budget acts once.
#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/sim/laws.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

using core::BudgetAction;
using sim::CrashPoint;
using sim::SimResult;
using sim::SimSetup;

constexpr int kSlots = 6;
constexpr Duration kDay = Duration::seconds(86'400);
// From the moment at which a daemon that died is back: agents connect, the victim saves its state, the claimant boots.
constexpr Duration kBackAgain = Duration::seconds(12);
// In millionths, at a dollar an hour for each slot: until all have left that hold slots when the budget is spent.
constexpr std::int64_t kSpentLate = kSlots * 8 * 1'000'000 / 3'600;

sim::SimJob tenant_job(const std::string& name, const std::string& tenant, std::pair<int, int> sizes, Rng& rng) {
  SimSetup none;
  none.cluster = {.nodes = 2, .slots_per_node = kSlots / 2};
  sim::SimJob job = plain_job(name, none, rng);
  job.truth.curve.sigma = 0.05;
  job.truth.work_samples = rng.between(3'000, 6'000);
  job.spec.tenant = tenant;
  job.spec.elastic.min = sizes.first;
  job.spec.elastic.max = job.spec.elastic.preferred = sizes.second;
  job.spec.elastic.sizes = sim::sizes_between(sizes.first, sizes.second);
  return job;
}

SimSetup tenant_world(std::uint64_t seed, Rng& rng) {
  SimSetup setup{.seed = seed};
  setup.parts = [] { return engine_parts("tidal"); };
  setup.cluster = {.nodes = 2, .slots_per_node = kSlots / 2};
  setup.tenants.tenants = {{.name = "lab", .guarantee = kSlots},
                           {.name = "vision", .parent = "lab", .guarantee = kSlots / 2},
                           {.name = "speech", .parent = "lab", .guarantee = kSlots / 2}};
  setup.tenants.rebalance_every = Duration::seconds(2);
  draw_pace(setup, rng);
  return setup;
}

// Vision fills the pool, with one job that may shrink or several that may not; then speech claims its half.
SimSetup claiming_world(std::uint64_t seed, bool shrinks) {
  Rng rng(seed);
  SimSetup setup = tenant_world(seed, rng);
  auto& jobs = setup.workload.jobs;
  if (shrinks) {
    jobs.push_back(tenant_job("borrower", "vision", {1, kSlots}, rng));
    jobs.back().truth.work_samples *= 4;
  } else {
    const int size = static_cast<int>(rng.between(1, 3));
    for (int i = 0; i < kSlots / size; ++i) {
      jobs.push_back(tenant_job("borrower-" + std::to_string(i), "vision", {size, size}, rng));
    }
  }
  for (auto& job : jobs) job.arrives = Duration();
  jobs.push_back(tenant_job("claim", "speech", {kSlots / 2, kSlots / 2}, rng));
  jobs.back().arrives = Duration::millis(rng.between(8'000, 12'000));
  return setup;
}

// Vision's budget is spent while its jobs run; they go on the next day, or have been stopped.
SimSetup budget_world(std::uint64_t seed, BudgetAction last) {
  Rng rng(seed);
  SimSetup setup = tenant_world(seed, rng);
  setup.limit = kDay * 8;
  // A slot costs a dollar an hour: 6 slots cost about 17 hundredths of a cent a second.
  setup.tenants.tenants[1].budget = {
      .limit = Money::micros(rng.between(14'000, 18'000)),
      .window = core::BudgetWindow::kDay,
      .thresholds = {{30, BudgetAction::kWarn}, {60, BudgetAction::kShrink}, {100, last}}};
  auto& jobs = setup.workload.jobs;
  for (int i = 0; i < 2; ++i) {
    jobs.push_back(tenant_job("job-" + std::to_string(i), "vision", {1, kSlots / 2}, rng));
    jobs.back().arrives = Duration::millis(500 * i);
  }
  jobs.push_back(tenant_job("other", "speech", {1, 1}, rng));
  jobs.back().arrives = Duration::millis(rng.between(2'000, 9'000));
  return setup;
}

// What the journal tells of budgets, each event once it is durable.
struct Told {
  std::map<std::pair<std::int64_t, std::int64_t>, int> reached;  // by end of the window and percent
  std::int64_t renewed = 0;                                      // millionths spent in windows that have ended
  std::int64_t most = 0;                                         // in one of them
};

std::shared_ptr<Told> listen_to_budgets(SimSetup& setup) {
  auto told = std::make_shared<Told>();
  setup.on_event = [told](const core::Event& event) {
    const auto number = [&](const char* field) { return event.data.at(field).get<std::int64_t>(); };
    if (event.type == "budget.reached") ++told->reached[{number("window_ends_unix"), number("percent")}];
    if (event.type == "budget.renewed") {
      const std::int64_t spent = parse_money(event.data.at("spent").get<std::string>())->count_micros();
      told->renewed += spent;
      told->most = std::max(told->most, spent);
    }
  };
  return told;
}

// The first promise of the books that is broken, in words.
std::optional<std::string> broken_books(const SimResult& result) {
  core::TenantUses sums;
  for (const auto& [id, job] : result.jobs) {
    sums[job->spec.tenant].slot_time = sums[job->spec.tenant].slot_time + job->account.slot_time;
    sums[job->spec.tenant].cost = sums[job->spec.tenant].cost + job->account.cost;
  }
  if (sums != result.state.tenant_uses) return "what tenants have used is not what their jobs have";
  if (result.jobs.size() != result.rows.size()) return "a job that was acknowledged is not there";
  return std::nullopt;
}

// broken_law() and the books; a job that its budget has stopped is cancelled.
std::optional<std::string> broken_promise(SimResult result, bool may_be_stopped) {
  if (!result.violations.empty()) return result.violations.front();
  if (auto books = broken_books(result)) return books;
  if (may_be_stopped) {
    std::erase_if(result.rows, [](const auto& row) { return row.state == core::JobState::kCancelled; });
  }
  return broken_law(result);
}

std::optional<std::string> broken_budget(const SimResult& result, const Told& told, const core::Budget& budget) {
  std::int64_t cost = 0;
  int jobs = 0;
  for (const auto& [id, job] : result.jobs) {
    if (job->spec.tenant != "vision") continue;
    cost += job->account.cost.count_micros();
    ++jobs;
  }
  const std::int64_t all = told.renewed + result.state.budgets.at("vision").spent.count_micros();
  if (all < cost || all > cost + jobs) return "windows tell another sum than jobs have cost";
  std::map<std::int64_t, std::int64_t> windows;  // in which it was reached, by percent
  for (const auto& [threshold, times] : told.reached) {
    if (times != 1) return "a threshold has acted " + std::to_string(times) + " times in one window";
    ++windows[threshold.second];
  }
  for (const auto& row : result.rows) {
    if (row.preemptions > windows[100]) return row.name + " was paused more often than the budget was spent";
  }
  return windows.size() == budget.thresholds.size() ? std::nullopt
                                                    : std::optional<std::string>("a threshold has not acted");
}

// Calm first, then with a crash at each write in turn; `check` says what is broken. Returns the runs.
template <class Make, class Check>
int crash_at_each_write(std::uint64_t seed, const Make& make, const Check& check) {
  SimSetup calm_setup = make();
  calm_setup.crash_plan = never();
  auto told = listen_to_budgets(calm_setup);
  const SimResult calm = run(calm_setup);
  const auto calm_broken = check(calm, *told, calm);
  INFO("without a crash: " << (calm_broken ? words(calm, *calm_broken) : std::string()));
  REQUIRE_FALSE(calm_broken);
  for (std::uint64_t write = 1; write <= calm.journal_writes; ++write) {
    SimSetup setup = make();
    const auto point = static_cast<CrashPoint>((seed + write) % 3);
    setup.crash_plan = once(write, point);
    told = listen_to_budgets(setup);
    const SimResult crashed = run(setup);
    const auto broken = check(crashed, *told, calm);
    INFO("crash at write " << write << " of " << calm.journal_writes << ", point " << static_cast<int>(point) << ": "
                           << (broken ? words(crashed, *broken) : std::string()));
    REQUIRE_FALSE(broken);
    REQUIRE(crashed.crashes == 1);
  }
  return static_cast<int>(calm.journal_writes);
}

const sim::JobResult& row_of(const SimResult& result, const std::string& name) {
  const auto found =
      std::find_if(result.rows.begin(), result.rows.end(), [&](const auto& row) { return row.name == name; });
  REQUIRE(found != result.rows.end());
  return *found;
}

std::int64_t preempted(const SimResult& result) {
  std::int64_t times = 0;
  for (const auto& row : result.rows) times += row.preemptions;
  return times;
}

}  // namespace

TEST_CASE("a guarantee that is claimed is had back whichever journal write the daemon dies at, and no book is wrong") {
  int runs = 0;
  std::int64_t shrunk = 0;
  std::int64_t taken = 0;
  for_each_seed("crash in a reclaim", 5, [&](std::uint64_t seed, Rng&) {
    for (const bool shrinks : {true, false}) {
      INFO((shrinks ? "shrinks" : "is preempted"));
      runs += crash_at_each_write(
          seed, [&] { return claiming_world(seed, shrinks); },
          [&](const SimResult& result, const Told&, const SimResult& calm) -> std::optional<std::string> {
            if (auto broken = broken_promise(result, false)) return broken;
            const auto& claim = row_of(result, "claim");
            shrunk += row_of(result, result.rows.front().name).resizes;
            taken += preempted(result);
            const double latest = *row_of(calm, "claim").started_s + (kBackAgain).to_seconds();
            if (*claim.started_s > latest)
              return "the claim started " + std::to_string(*claim.started_s - latest) + " s late";
            if (preempted(result) > preempted(calm)) return "more jobs gave way than without a crash";
            return std::nullopt;
          });
    }
  });
  WARN(runs << " runs with one crash each; " << taken << " preemptions, " << shrunk << " resizes");
  CHECK(taken > 0);
  CHECK(shrunk > 0);
}

TEST_CASE("a budget that is spent acts once and is not forgotten whichever journal write the daemon dies at") {
  int runs = 0;
  int stopped = 0;
  for_each_seed("crash at a budget's end", 5, [&](std::uint64_t seed, Rng&) {
    for (const BudgetAction last : {BudgetAction::kPause, BudgetAction::kStop}) {
      INFO(core::to_text(last));
      runs += crash_at_each_write(
          seed, [&] { return budget_world(seed, last); },
          [&](const SimResult& result, const Told& told, const SimResult&) -> std::optional<std::string> {
            const bool stops = last == BudgetAction::kStop;
            if (auto broken = broken_promise(result, stops)) return broken;
            for (const auto& row : result.rows) stopped += row.state == core::JobState::kCancelled ? 1 : 0;
            const core::Budget budget = *budget_world(seed, last).tenants.tenants[1].budget;
            if (told.most > budget.limit.count_micros() + kSpentLate) return "the budget was held up too late";
            return broken_budget(result, told, budget);
          });
    }
  });
  WARN(runs << " runs with one crash each; " << stopped << " jobs stopped");
  CHECK(stopped > 0);
}

TEST_CASE("the books of tenants and budgets are right however often the daemon dies among failing nodes and workers") {
  std::int64_t crashes = 0;
  for_each_seed("tenants among failures", 20, [&](std::uint64_t seed, Rng&) {
    for (const BudgetAction last : {BudgetAction::kPause, BudgetAction::kStop}) {
      SimSetup setup = troubled(budget_world(seed, last), seed);
      setup.limit = kDay * 90;  // there are days on which the daemon is away for as long as the budget lasts
      const auto told = listen_to_budgets(setup);
      const SimResult result = run(setup);
      auto broken = broken_promise(result, last == BudgetAction::kStop);
      if (!broken) broken = broken_budget(result, *told, *setup.tenants.tenants[1].budget);
      INFO(core::to_text(last) << ": " << (broken ? words(result, *broken) : std::string()));
      REQUIRE_FALSE(broken);
      crashes += result.crashes;
    }
    crashes += run_soundly(troubled(claiming_world(seed, seed % 2 == 0), seed)).crashes;
  });
  WARN(crashes << " crashes survived");
}

TEST_CASE("planted: slots of a borrower that has not left, given to the claim, are seen") {
  int noticed = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SimSetup setup = claiming_world(seed, false);
    setup.crash_plan = never();
    setup.bug = sim::PlantedBug::kFreesLeavingSlots;
    setup.limit = Duration::seconds(900);
    const auto broken = broken_promise(run(setup), false);
    noticed += broken && broken->find("sits on it") != std::string::npos ? 1 : 0;
  }
  WARN(noticed << " of 20 seeds notice");
  CHECK(noticed >= 1);
}

}  // namespace tidepool::test
