// Budgets in simulated days: a tenant spends its daily budget and no more than saving its jobs' states takes beyond it,
// what windows tell adds up to what jobs have cost, and all jobs come to their end.
#include <catch2/catch.hpp>

#include <vector>

#include "base/calendar.hpp"
#include "tests/sim/laws.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

constexpr std::int64_t kLimit = 40'000'000;  // of at most 192 dollars a day: eight slots at a dollar an hour

// Of each of the slots, and what messages take.
constexpr std::int64_t kLeaving = 8 * 60 * 1'000'000 / 3'600;

core::TenantTree tenants() {
  core::Tenant vision{.name = "vision", .guarantee = 8};
  vision.budget = {.limit = Money::micros(kLimit),
                   .window = core::BudgetWindow::kDay,
                   .thresholds = {{50, core::BudgetAction::kShrink}, {100, core::BudgetAction::kPause}}};
  return {.tenants = {vision}};
}

std::int64_t micros_in(const nlohmann::json& data) {
  return parse_money(data.at("spent").get<std::string>())->count_micros();
}

}  // namespace

TEST_CASE("a daily budget is spent day by day, to the millionth, until all jobs have ended") {
  std::size_t spent_days = 0;
  for_each_seed("daily budgets", 6, [&](std::uint64_t seed, Rng&) {
    for (const char* policy : {"tidal", "fifo"}) {
      INFO(policy);
      sim::SimSetup setup;
      setup.seed = seed;
      setup.parts = [policy] { return engine_parts(policy); };
      setup.cluster = {.nodes = 2, .slots_per_node = 4};
      setup.workload = sim::generate_workload({.seed = seed,
                                               .jobs = 24,
                                               .mean_interarrival = Duration::seconds(3'600),
                                               .size_max = 4,
                                               .mean_length = Duration::seconds(20'000),
                                               .tenants = 1});
      for (sim::SimJob& job : setup.workload.jobs) job.spec.tenant = "vision";
      setup.tenants = tenants();
      std::int64_t told = 0;
      setup.on_event = [&](const core::Event& event) {
        if (event.type == "budget.reached") {
          REQUIRE(micros_in(event.data) >= kLimit * event.data.at("percent").get<std::int64_t>() / 100);
        }
        if (event.type != "budget.renewed") return;
        const std::int64_t spent = micros_in(event.data);
        REQUIRE(event.data.at("window_ends_unix").get<std::int64_t>() % kDaySeconds == 0);
        REQUIRE(spent <= kLimit + kLeaving);
        spent_days += spent >= kLimit ? 1U : 0U;
        told += spent;
      };
      const sim::SimResult result = sim::Simulator(std::move(setup)).run();
      for (const std::string& violation : result.violations) UNSCOPED_INFO(violation);
      REQUIRE(result.violations.empty());
      REQUIRE(result.complete);
      // Each job's own cost is rounded down, by less than a millionth.
      std::int64_t cost = 0;
      for (const auto& [id, job] : result.jobs) cost += job->account.cost.count_micros();
      const std::int64_t all = told + result.state.budgets.at("vision").spent.count_micros();
      REQUIRE(all >= cost);
      REQUIRE(all <= cost + static_cast<std::int64_t>(result.jobs.size()));
    }
  });
  if (all_seeds_run()) REQUIRE(spent_days > 6);
}

}  // namespace tidepool::test
