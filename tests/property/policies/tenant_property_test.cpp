// Tenants that share a cluster, over random lives of it: whatever policy decides within them, every law of decisions
// holds, and what tenants hold follows docs/fairness.md.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>

#include "core/decide/plan_inputs.hpp"
#include "core/state/job_state.hpp"
#include "core/state/reason_read.hpp"
#include "core/state/tenant_jobs.hpp"
#include "core/tenants/entitlement.hpp"
#include "core/tenants/guarantee_room.hpp"
#include "core/tenants/tenant_nodes.hpp"
#include "policies/registry.hpp"
#include "tests/support/decision_laws.hpp"
#include "tests/support/planted_policy.hpp"
#include "tests/support/random_tenants.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

// They plan for the whole cluster.
std::vector<std::string> planning_policies() {
  std::vector<std::string> names;
  for (const policies::KnownPolicy& policy : policies::known_policies()) {
    if (policy.scope == "cluster") names.push_back(policy.name);
  }
  return names;
}

// What a state finds by name is what a look at all tenants finds.
void require_found_by_name(const core::TenantsByName& tree) {
  const core::TenantTree& plain = tree;
  std::vector<std::string> names = {"", "nobody"};
  for (const core::Tenant& tenant : tree.tenants) names.push_back(tenant.name);
  for (const std::string& name : names) {
    INFO(name);
    REQUIRE(tree.find(name) == plain.find(name));
    REQUIRE(tree.path_to(name) == plain.path_to(name));
    if (tree.find(name) != nullptr) REQUIRE(tree.is_leaf(name) == plain.is_leaf(name));
  }
}

void require_tenant_laws(const core::ClusterState& state) {
  REQUIRE(state.plan.error == "");
  require_found_by_name(*state.tenants);
  int entitled = 0;
  for (const auto& [name, plan] : state.plan.tenants) {
    INFO(name);
    entitled += plan.entitled;
    REQUIRE(state.tenants->find(name) != nullptr);
    REQUIRE(plan.entitled >= 0);
    REQUIRE(plan.loan >= 0);
  }
  REQUIRE(entitled <= state.slots_total());
  // What tenants have used is what their jobs have.
  std::map<std::string, Duration> used;
  for (const auto& [id, job] : state.jobs) used[job->spec.tenant] += job->account.slot_time;
  for (const auto& [name, use] : state.tenant_uses) REQUIRE(use.slot_time >= used[name]);
}

// A job that keeps slots because no other needs them, though its tenant or one above it holds more than it may.
const core::Job* kept_beyond_limits(const core::ClusterState& state) {
  const core::TenantPlaces places = core::places_of(*state.tenants);
  const auto most = core::most_held(core::nodes_of(*state.tenants, places), core::slots_to_share(state));
  const core::GuaranteeRoom room(state);
  for (const auto& [id, job] : state.jobs) {
    if (!core::is_any_of<core::reason::Unclaimed>(job->verdict.reason)) continue;
    if (!job->planned || job->planned->target.size > 0) continue;
    const bool may_end = job->recovery.unconfirmed_since.has_value() ||
                         std::any_of(job->membership.members.begin(), job->membership.members.end(),
                                     [&](WorkerId each) { return state.find_worker(each)->program_ended; });
    if (!core::runs_unchanged(*job) || may_end) continue;  // its verdict is of before
    for (const core::Tenant* each : state.tenants->path_to(job->spec.tenant)) {
      if (room.held(each->name) > most[places.at(each->name)]) return job.get();
    }
  }
  return nullptr;
}

// What tenants have used is the sum of what is booked on their jobs, those that have ended included.
bool uses_are_booked(const core::ClusterState& state, const std::map<JobId, std::shared_ptr<const core::Job>>& ended) {
  core::TenantUses booked;
  const auto add = [&](const core::Job& job) {
    core::TenantUse& use = booked[job.spec.tenant];
    use.slot_time = use.slot_time + job.account.slot_time;
    use.cost = use.cost + job.account.cost;
  };
  for (const auto& [id, job] : state.jobs) add(*job);
  for (const auto& [id, job] : ended) add(*job);
  return std::all_of(booked.begin(), booked.end(), [&](const auto& entry) {
    const auto known = state.tenant_uses.find(entry.first);
    return (known == state.tenant_uses.end() ? core::TenantUse() : known->second) == entry.second;
  });
}

// With a limit for most tenants, which many jobs reach.
core::TenantTree with_few_jobs(Rng& rng, core::TenantTree tree) {
  for (core::Tenant& tenant : tree.tenants) {
    if (rng.chance(0.6)) tenant.jobs_max = static_cast<int>(rng.between(1, 4));
  }
  return tree;
}

// No tenant that has more jobs than before has more than it may. How many have all that they may.
std::size_t require_jobs_max(const core::ClusterState& state, const core::TenantJobs& before) {
  std::size_t full = 0;
  for (const core::Tenant& tenant : state.tenants->tenants) {
    if (!tenant.jobs_max) continue;
    INFO(tenant.name);
    const int has = core::jobs_of(state.tenant_jobs, tenant.name);
    if (has > core::jobs_of(before, tenant.name)) REQUIRE(has <= *tenant.jobs_max);
    full += has == *tenant.jobs_max ? 1 : 0;
  }
  return full;
}

// Plans with tenants and without, in two lives in which the same happens.
bool alone_as_without(std::uint64_t seed, const core::Engine::Parts& parts, std::size_t& changes) {
  SimulatedWorld alone(seed, true, parts);
  SimulatedWorld shared(seed, true, parts);
  // A fact more in the one life takes one more in the other. As much is guaranteed as jobs may keep for good.
  REQUIRE(alone.learn(core::ClockAdvanced{}));
  REQUIRE(shared.learn(core::TenantsConfigured{{.tenants = {{.name = "demo", .guarantee = 1'000}}}}));
  for (int i = 0; i < 100; ++i) {
    alone.tick();
    shared.tick();
    const core::Decision without = alone.engine().decide(alone.now());
    const core::Decision with = shared.engine().decide(shared.now());
    const auto plan = [](const core::Decision& any) { return core::to_json(any)["plan"].dump(); };
    if (plan(with) != plan(without)) return false;
    changes += with.plan.size();
    decide_and_check(alone);
    decide_and_check(shared);
  }
  return true;
}

}  // namespace

TEST_CASE("whatever tenants share the cluster and whatever policy decides, every law of decisions holds") {
  std::size_t plans = 0;
  for_each_seed("tenants", 20, [&](std::uint64_t seed, Rng& rng) {
    for (const std::string& policy : planning_policies()) {
      INFO(policy);
      SimulatedWorld world(seed, true, parts_of(policy));
      REQUIRE(world.share_among(random_tenants(rng, static_cast<int>(rng.between(0, 20)))));
      for (int i = 0; i < 120; ++i) {
        world.tick();
        require_books(world.state());
        if (rng.chance(0.03)) (void)world.share_among(random_tenants(rng, static_cast<int>(rng.between(0, 20))));
        decide_and_check(world);
        require_tenant_laws(world.state());
        plans += world.state().plan.tenants.size() > 1 ? 1 : 0;
      }
    }
  });
  if (all_seeds_run()) REQUIRE(plans > 1'000);
}

TEST_CASE("no job keeps slots that none needs where its tenant holds more than it may borrow or than others lend") {
  std::size_t left = 0;
  for_each_seed("holding limits", 40, [&](std::uint64_t seed, Rng& rng) {
    SimulatedWorld world(seed, true, parts_of("tidal"));
    const auto tree = [&] {
      core::TenantTree drawn = random_tenants(rng, static_cast<int>(rng.between(0, 8)));
      for (core::Tenant& each : drawn.tenants) {
        if (rng.chance(0.5)) each.borrow = static_cast<int>(rng.between(0, 3));
      }
      return drawn;
    };
    REQUIRE(world.share_among(tree()));
    for (int i = 0; i < 150; ++i) {
      world.tick();
      if (rng.chance(0.03)) (void)world.share_among(tree());
      const core::Decision decision = world.engine().decide(world.now());
      left += static_cast<std::size_t>(std::count_if(decision.plan.begin(), decision.plan.end(), [](const auto& any) {
        return core::is_any_of<core::reason::OverTenantLimit>(any.reason);
      }));
      decide_and_check(world);
      const core::Job* kept = kept_beyond_limits(world.state());
      if (kept != nullptr) FAIL(kept->id.text() << " of " << kept->spec.tenant);
    }
  });
  if (all_seeds_run()) CHECK(left > 0);
}

TEST_CASE("no tenant gets a job beyond jobs_max, and what is counted is what a recount finds") {
  std::size_t full = 0;
  for_each_seed("jobs_max", 20, [&](std::uint64_t seed, Rng& rng) {
    SimulatedWorld world(seed, true, parts_of("tidal"));
    REQUIRE(world.share_among(with_few_jobs(rng, random_tenants(rng, static_cast<int>(rng.between(0, 20))))));
    for (int i = 0; i < 150; ++i) {
      const core::TenantJobs before = world.state().tenant_jobs;
      world.tick();
      require_books(world.state());  // with a recount
      full += require_jobs_max(world.state(), before);
      if (rng.chance(0.05)) (void)world.share_among(with_few_jobs(rng, random_tenants(rng, 12)));
      decide_and_check(world);
    }
  });
  if (all_seeds_run()) CHECK(full > 50);
}

TEST_CASE("a state with tenants that is written and read back goes on as the engine that wrote it") {
  for_each_seed("tenants recovered", 20, [](std::uint64_t seed, Rng& rng) {
    SimulatedWorld world(seed, true, parts_of("tidal"));
    REQUIRE(world.share_among(random_tenants(rng, 8)));
    for (int i = 0; i < 80; ++i) {
      world.tick();
      decide_and_check(world);
    }
    check_recovery(world, parts_of("tidal"));
  });
}

TEST_CASE("a tenant alone is served as if there were none") {
  std::size_t changes = 0;
  for_each_seed("one tenant", 20, [&](std::uint64_t seed, Rng&) {
    for (const std::string& policy : planning_policies()) {
      INFO(policy);
      REQUIRE(alone_as_without(seed, parts_of(policy), changes));
    }
  });
  REQUIRE(changes > 0);
}

TEST_CASE("planted: a policy that decides otherwise because there is a tree is seen") {
  int seen = 0;
  std::size_t changes = 0;
  for_each_seed("sees the tree", 8, [&](std::uint64_t seed, Rng&) {
    REQUIRE(alone_as_without(seed, planted_parts(PolicyBug::kNone), changes));
    seen += alone_as_without(seed, planted_parts(PolicyBug::kSeesTheTree), changes) ? 0 : 1;
  });
  CHECK(seen > 0);
}

TEST_CASE("planted: a planner that remembers what the state does not say is seen beside one from scratch") {
  int seen = 0;
  for_each_seed("remembers", 8, [&](std::uint64_t seed, Rng& rng) {
    SimulatedWorld world(seed, true, planted_parts(PolicyBug::kRemembers));
    REQUIRE(world.share_among(random_tenants(rng, 8)));
    for (int i = 0; i < 120; ++i) {
      world.tick();
      const core::Decision decision = world.engine().decide(world.now());
      if (!is_as_from_scratch(world, decision)) {
        ++seen;
        return;
      }
      for (const auto& event : world.engine().accept(decision)) world.see(event);
      world.carry_out(decision);
    }
  });
  CHECK(seen > 0);
}

TEST_CASE("what tenants have used is what their jobs' accounts add up to, to the microsecond and the millionth") {
  int caught = 0;
  for_each_seed("uses", 20, [&](std::uint64_t seed, Rng& rng) {
    SimulatedWorld world(seed, true, parts_of("tidal"));
    REQUIRE(world.share_among(random_tenants(rng, 8)));
    for (int i = 0; i < 120; ++i) {
      world.tick();
      decide_and_check(world);
      (void)world.take_ended();
      REQUIRE(uses_are_booked(world.state(), world.ended()));
      // Planted: an account that is off by the least there is.
      core::ClusterState wrong = world.state();
      if (wrong.tenant_uses.empty()) continue;
      core::TenantUse& use = wrong.tenant_uses.edit(wrong.tenant_uses.begin()->first);
      const bool is_time = rng.chance(0.5);
      if (is_time) use.slot_time = use.slot_time + Duration::micros(1);
      if (!is_time) use.cost = use.cost + Money::micros(1);
      if (uses_are_booked(wrong, world.ended())) continue;
      ++caught;
    }
  });
  CHECK(caught > 0);
}

TEST_CASE("after the faults stop, the jobs of all tenants come to their end") {
  for_each_seed("tenants come to rest", 20, [](std::uint64_t seed, Rng& rng) {
    SimulatedWorld world(seed + 500, true, parts_of("tidal"));
    REQUIRE(world.share_among(random_tenants(rng, 6)));
    for (int i = 0; i < 120; ++i) {
      world.tick();
      decide_and_check(world);
    }
    world.calm_down();
    // What would be kept for good waits for as long as its tenant is guaranteed less, or may not borrow.
    for (const auto& [id, job] : IdTable(world.state().jobs)) {
      const auto path = world.state().tenants->path_to(job->spec.tenant);
      const bool is_bounded = std::any_of(path.begin(), path.end(), [](const auto* any) { return any->borrow; });
      const bool is_firm =
          job->requests.pinned_size > 0 || job->spec.scaling.policy != "default" || !job->spec.preemptible;
      if (!core::is_final(job->state()) && (is_firm || is_bounded)) world.learn(core::JobCancelRequested{id});
    }
    decide_and_check(world);
    int rounds = 0;
    while (world.work_a_round()) {
      decide_and_check(world);
      if (++rounds <= 3'000) continue;
      for (const auto& [id, job] : world.state().jobs) {
        UNSCOPED_INFO(id.text() << " of " << job->spec.tenant << " " << core::to_text(job->state()) << " "
                                << core::to_json(job->verdict.reason).dump());
      }
      FAIL("a job is stuck");
    }
  });
}

}  // namespace tidepool::test
