// Tenants with budgets, over random lives of a cluster: whatever policy decides, every law of decisions holds, accounts
// agree with what jobs have cost to the last microsecond, and a spent budget lets nothing start.
#include <catch2/catch.hpp>

#include "core/decide/transition_planner.hpp"
#include "core/explain/budget_warnings.hpp"
#include "core/state/account.hpp"
#include "core/state/budget_hold.hpp"
#include "core/state/job_state.hpp"
#include "core/state/ledger.hpp"
#include "policies/registry.hpp"
#include "tests/support/decision_laws.hpp"
#include "tests/support/policy_parts.hpp"
#include "tests/support/seeds.hpp"
#include "tests/support/tenant_budgets.hpp"

namespace tidepool::test {
namespace {

// On Monday, 1 June 1970 a day, a week and a month begin at once.
constexpr std::int64_t kTurn_us = std::int64_t{151} * 86'400 * 1'000'000;

// Slots of the job that do not step: of workers that boot, wait for a switch, or leave.
std::int64_t slots_that_wait(const core::ClusterState& state, const core::Job& job) {
  std::int64_t slots = 0;
  for (const auto& [id, worker] : state.workers) {
    if (worker.job != job.id || worker.is_gone()) continue;
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

std::optional<core::BudgetFate> fate_now(const core::Job& job) {
  if (!job.hold) return std::nullopt;
  if (job.hold->action == core::BudgetAction::kStop) return core::BudgetFate::kCancelled;
  if (job.membership.workers.empty()) return core::BudgetFate::kHeldBack;
  const bool shrinks = job.hold->action == core::BudgetAction::kShrink;
  return shrinks ? core::BudgetFate::kShrunk : core::BudgetFate::kPaused;
}

using Fates = std::map<JobId, std::optional<core::BudgetFate>>;
Fates fates_of(const core::ClusterState& state) {
  Fates fates;
  for (const auto& [id, job] : state.jobs) {
    if (!core::is_final(job->state()) && job->state() != core::JobState::kSuspended) fates[id] = fate_now(*job);
  }
  return fates;
}

// What is foretold of a tree, beside how jobs are now, is how they are once it is set. Gives how many change.
std::size_t require_foretold(SimulatedWorld& world, const core::TenantTree& tree) {
  if (*world.state().tenants == tree) return 0;
  Fates foretold = fates_of(world.state());
  std::size_t changes = 0;
  for (const core::BudgetEffect& effect : core::budget_effects(world.state(), tree, world.now())) {
    REQUIRE((!effect.reached.empty() || !effect.changed.empty() || effect.left_out > Money()));
    REQUIRE_FALSE(core::budget_warnings(world.state(), effect).empty());
    for (const auto& [fate, jobs] : effect.changed) {
      for (const JobId id : jobs) {
        foretold.at(id) = fate == core::BudgetFate::kFreed ? std::nullopt : std::optional(fate);
        ++changes;
      }
    }
  }
  if (!world.share_among(tree)) return 0;
  REQUIRE(fates_of(world.state()) == foretold);
  return changes;
}

}  // namespace

TEST_CASE("whatever budgets tenants have and whatever policy decides, every law holds and accounts are exact") {
  std::size_t held = 0;
  BudgetLedger ledger;
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

TEST_CASE("what is foretold of new budgets is what becomes of jobs when they are set") {
  std::size_t changes = 0;
  for_each_seed("budgets foretold", 20, [&](std::uint64_t seed, Rng& rng) {
    for (const char* policy : {"tidal", "fifo"}) {
      INFO(policy);
      SimulatedWorld world(seed, true, parts_of(policy));
      REQUIRE(world.learn(core::UtcSet{kTurn_us - rng.between(1, 90'000'000)}));
      REQUIRE(world.share_among(with_budgets(rng, random_tenants(rng, 12))));
      for (int i = 0; i < 120; ++i) {
        world.tick();
        decide_and_check(world);
        // Other budgets in the same tree, and now and then another tree, which is refused while jobs lack their
        // tenants.
        if (rng.chance(0.1)) changes += require_foretold(world, with_budgets(rng, *world.state().tenants));
        if (rng.chance(0.02)) changes += require_foretold(world, with_budgets(rng, random_tenants(rng, 12)));
      }
    }
  });
  if (all_seeds_run()) REQUIRE(changes > 50);
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
