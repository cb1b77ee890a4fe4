// Tenants with budgets, over random lives of a cluster: whatever policy decides, every law of decisions holds, accounts
// agree with what jobs have cost to the last microsecond, and a spent budget lets nothing start.
#include <catch2/catch.hpp>

#include <map>

#include "base/accrual.hpp"
#include "core/decide/transition_planner.hpp"
#include "core/state/account.hpp"
#include "core/state/budget_hold.hpp"
#include "core/state/job_state.hpp"
#include "core/state/ledger.hpp"
#include "policies/registry.hpp"
#include "tests/support/decision_laws.hpp"
#include "tests/support/policy_parts.hpp"
#include "tests/support/random_tenants.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

__extension__ using Wide = __int128;

// On Monday, 1 June 1970 a day, a week and a month begin at once.
constexpr std::int64_t kTurn_us = std::int64_t{151} * 86'400 * 1'000'000;

core::TenantTree with_budgets(Rng& rng, core::TenantTree tree) {
  for (core::Tenant& tenant : tree.tenants) {
    if (rng.chance(0.4)) continue;
    core::Budget budget{.limit = Money::micros(rng.between(200, 60'000)),
                        .window = static_cast<core::BudgetWindow>(rng.between(0, 2))};
    int percent = 0;
    for (std::int64_t n = rng.between(1, 4); n > 0; --n) {
      percent += static_cast<int>(rng.between(1, 60));
      budget.thresholds.push_back({percent, static_cast<core::BudgetAction>(rng.between(0, 3))});
    }
    tenant.budget = std::move(budget);
  }
  return tree;
}

// In millionths x microseconds / hour.
Wide exact(Money whole, std::int64_t remainder) {
  return static_cast<Wide>(whole.count_micros()) * kUsPerHour + remainder;
}

// What jobs have cost until now, by tenant, those that have left the state included.
std::map<std::string, Wide> cost_by_tenant(const SimulatedWorld& world) {
  std::map<std::string, Wide> cost;
  const auto add = [&](core::Job job, bool is_there) {
    if (is_there) core::charge(world.state(), job, world.now());
    for (const core::Tenant* tenant : world.state().tenants->path_to(job.spec.tenant)) {
      cost[tenant->name] += exact(job.account.cost, job.account.cost_remainder);
    }
  };
  for (const auto& [id, job] : world.state().jobs) add(*job, true);
  for (const auto& [id, job] : world.ended()) add(*job, false);
  return cost;
}

// What of it lies before an account's present window: the same until that ends, and then whole millionths more.
class Ledger {
 public:
  void require_agrees(const SimulatedWorld& world) {
    // Another tree, which an old fact may bring back, counts other jobs.
    if (tree_ != *world.state().tenants) entries_.clear();
    tree_ = *world.state().tenants;
    const auto cost = cost_by_tenant(world);
    std::map<std::string, Entry> now;
    for (const auto& [tenant, account] : world.state().budgets) {
      INFO(tenant);
      core::BudgetAccount counted = account;
      core::count_until(counted, world.now());
      const auto spent = cost.find(tenant);
      const Wide all = spent == cost.end() ? 0 : spent->second;
      const Entry entry{account.window_ends_us, all - exact(counted.spent, counted.remainder)};
      if (const auto known = entries_.find(tenant); known != entries_.end()) {
        const Wide more = entry.before - known->second.before;
        if (entry.window_ends_us == known->second.window_ends_us) {
          REQUIRE(more == 0);
        } else {
          ++turns_;
          REQUIRE(more >= 0);
          REQUIRE(more % kUsPerHour == 0);
        }
      }
      now.emplace(tenant, entry);
    }
    entries_ = std::move(now);
  }
  void forget() { entries_.clear(); }
  [[nodiscard]] std::size_t turns() const { return turns_; }

 private:
  struct Entry {
    std::int64_t window_ends_us = 0;
    Wide before = 0;
  };
  core::TenantTree tree_;
  std::map<std::string, Entry> entries_;
  std::size_t turns_ = 0;
};

// Slots of the job that do not step: of workers that boot, wait for a switch, or leave.
std::int64_t slots_that_wait(const core::ClusterState& state, const core::Job& job) {
  std::int64_t slots = 0;
  for (const auto& [id, worker] : state.workers) {
    if (worker.job != job.id || worker.node_lost) continue;
    const core::Membership& membership = job.membership;
    const core::Transition* transition = job.phase.transition();
    const auto is_in = [&](const std::vector<WorkerId>& some) { return std::count(some.begin(), some.end(), id) > 0; };
    const bool joins = transition != nullptr && is_in(transition->joining_workers);
    const bool leaves = transition != nullptr && is_in(transition->leaving_workers);
    const bool goes_on = worker.phase == core::WorkerPhase::kMember || leaves;
    const bool had_members = membership.commit.from_size > 0 && !membership.parking;
    const bool steps = goes_on && (membership.switched || (had_members && !joins));
    if (!steps) slots += static_cast<std::int64_t>(worker.slots.size());
  }
  return slots;
}

// The parts of each account are not negative and add up to it, and time that passes by itself is useful but for the
// workers that wait.
void require_parts(const core::ClusterState& state, Instant now) {
  for (const auto& [id, job] : state.jobs) {
    INFO(id.text());
    const core::Account& account = job->account;
    const core::Used useful = core::useful_of(account);
    REQUIRE(useful.slot_time >= Duration());
    REQUIRE(useful.cost >= Money());
    core::Used sum = useful;
    for (const core::Overhead overhead : core::kOverheads) {
      REQUIRE(account.overheads[overhead].slot_time >= Duration());
      REQUIRE(account.overheads[overhead].cost >= Money());
      sum = sum + account.overheads[overhead];
    }
    REQUIRE(sum == core::Used{account.slot_time, account.cost});
    core::Job later = *job;
    core::charge(state, later, now + Duration::seconds(10));
    const core::Overheads grown = later.account.overheads - account.overheads;
    const Duration passed = now + Duration::seconds(10) - account.charged_until;
    const std::int64_t booted_us = grown[core::Overhead::kBootAndResize].slot_time.count_us();
    REQUIRE(booted_us == passed.count_us() * slots_that_wait(state, *job));
    REQUIRE(grown.total().slot_time.count_us() == booted_us);
  }
}

// After a decision. Gives the number of jobs that a budget holds.
std::size_t require_held(const core::ClusterState& state, Instant now) {
  std::size_t held = 0;
  for (const auto& [id, job] : state.jobs) {
    INFO(id.text());
    if (!job->hold || core::is_final(job->state()) || core::is_ending(*job, now)) continue;
    ++held;
    const core::BudgetAccount& account = state.budgets.at(job->hold->tenant);
    REQUIRE(core::in_force(account));
    REQUIRE(core::in_force(account)->action >= job->hold->action);
    if (job->hold->action == core::BudgetAction::kPause) {
      REQUIRE_FALSE(core::is_active(job->state()));
      REQUIRE_FALSE(job->planned);
    }
    const int least = job->spec.elastic.sizes.front();
    // One that cannot change yet may have a target from before a member was lost.
    if (core::is_shrunk(*job) && job->planned && job->state() == core::JobState::kRunning) {
      REQUIRE((job->planned->target.size <= least || job->planned->target.size == job->size()));
    }
  }
  return held;
}

}  // namespace

TEST_CASE("whatever budgets tenants have and whatever policy decides, every law holds and accounts are exact") {
  std::size_t held = 0;
  Ledger ledger;
  for_each_seed("budgets", 15, [&](std::uint64_t seed, Rng& rng) {
    for (const policies::KnownPolicy& policy : policies::known_policies()) {
      INFO(policy.name);
      ledger.forget();
      SimulatedWorld world(seed, true, parts_of(policy.name));
      REQUIRE(world.learn(core::UtcSet{kTurn_us - rng.between(1, 90'000'000)}));
      const auto draw = [&] { return with_budgets(rng, random_tenants(rng, static_cast<int>(rng.between(0, 20)))); };
      REQUIRE(world.share_among(draw()));
      for (int i = 0; i < 120; ++i) {
        world.tick();
        require_books(world.state());
        if (rng.chance(0.02)) (void)world.share_among(draw());
        decide_and_check(world);
        held += require_held(world.state(), world.now());
        require_parts(world.state(), world.now());
        ledger.require_agrees(world);
      }
    }
  });
  if (all_seeds_run()) REQUIRE(held > 1'000);
  if (all_seeds_run()) REQUIRE(ledger.turns() > 50);
}

TEST_CASE("a state with budgets that is written and read back goes on as the engine that wrote it") {
  for_each_seed("budgets recovered", 20, [](std::uint64_t seed, Rng& rng) {
    SimulatedWorld world(seed, true, parts_of("tidal"));
    REQUIRE(world.share_among(with_budgets(rng, random_tenants(rng, 8))));
    for (int i = 0; i < 80; ++i) {
      world.tick();
      decide_and_check(world);
    }
    check_recovery(world, parts_of("tidal"));
  });
}

}  // namespace tidepool::test
