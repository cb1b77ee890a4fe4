// Limits on preemption, over random lives of a cluster that tenants share: no job, nor the pool, has more preemptions
// within any window than is allowed, and none is preempted for a job that has not waited for long enough, or although
// its program refuses, unless the claim was within a guarantee. Every law of decisions holds. And what the pool's limit
// lets through of a plan keeps to shares and guarantees, whatever the plan.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/tenants/victim_order.hpp"
#include "policies/registry.hpp"
#include "tests/support/decision_laws.hpp"
#include "tests/support/policy_parts.hpp"
#include "tests/support/random_tenants.hpp"
#include "tests/support/reasons.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

std::string random_planner(Rng& rng) {
  std::vector<std::string> names;
  for (const policies::KnownPolicy& policy : policies::known_policies()) {
    if (policy.scope == "cluster") names.push_back(policy.name);
  }
  return names[rng.below(names.size())];
}

core::TenantTree random_limits(Rng& rng) {
  core::TenantTree tree = random_tenants(rng, static_cast<int>(rng.between(0, 10)));
  if (rng.chance(0.8)) tree.preempt_after = Duration::seconds(rng.between(0, 15));
  for (core::Tenant& tenant : tree.tenants) {
    if (rng.chance(0.2)) tenant.preempt_after = Duration::seconds(rng.between(0, 30));
  }
  for (core::Tenant& tenant : tree.tenants) {
    if (rng.chance(0.3)) tenant.notice_refusal = Duration::seconds(rng.between(0, 60));
  }
  core::ChurnLimit churn{.window = Duration::seconds(rng.between(20, 90))};
  if (rng.chance(0.7)) churn.per_job = static_cast<int>(rng.between(1, 2));
  if (!churn.per_job || rng.chance(0.6)) churn.pool = static_cast<int>(rng.between(1, 4));
  if (rng.chance(0.8)) tree.churn = churn;
  return tree;
}

// Programs that are asked refuse, yield or keep silent.
void answer_some(SimulatedWorld& world, Rng& rng) {
  std::vector<core::NoticeAnswered> answers;
  for (const auto& [id, job] : world.state().jobs) {
    const auto& asked = job->preemption.asked;
    if (!asked || job->membership.members.empty() || !rng.chance(0.3)) continue;
    const core::Worker* worker = world.state().find_worker(job->membership.members.front());
    if (worker == nullptr || !worker->notice) continue;  // one that has died is a member until the next generation
    answers.push_back({.worker = worker->id,
                       .decision = asked->decision,
                       .number = worker->notice->answers + 1,
                       .answer = rng.chance(0.6) ? core::NoticeAnswer::kRefuse : core::NoticeAnswer::kSaving});
  }
  for (const core::NoticeAnswered& answer : answers) (void)world.learn(answer);
}

// What the test itself remembers: preemptions, and since when at the earliest each job waits or does not.
class Witness {
 public:
  struct Counts {
    int preemptions = 0;
    int beyond = 0;  // that only a guarantee allowed
    std::set<std::string_view> told;
  };

  void see(const core::ClusterState& state, Instant before) {
    for (const auto& [id, job] : state.jobs) {
      const bool waits = job->state() == core::JobState::kPending;
      const auto [known, is_new] = seen_.try_emplace(id, Seen{waits, before, before, job->last_start_at});
      Seen& seen = known->second;
      if (is_new || seen.waits == waits) continue;
      // One whose lost node comes back with its workers goes on, and has not started again.
      const bool goes_on = !waits && job->last_start_at == seen.start;
      const Instant ran_since = waits || goes_on ? seen.ran_since : before;
      seen = {waits, goes_on ? ran_since : before, ran_since, job->last_start_at};
    }
  }

  void check(const core::ClusterState& state, const core::Decision& decision, Counts& counts) {
    leaving_workers_ = leaving_workers_of(state, decision);
    for (const auto& planned : decision.plan) {
      const auto* intent = std::get_if<core::PreemptIntent>(&planned.intent);
      if (intent == nullptr || !intent->for_job) continue;
      INFO(intent->job.text() << " for " << intent->for_job.text());
      ++counts.preemptions;
      note(state, *intent, decision.at, counts);
    }
    for (const core::Verdict& verdict : decision.verdicts) counts.told.insert(core::name_of(verdict.reason));
  }
  void forget_preemptions() { times_.clear(), all_.clear(); }

 private:
  struct Seen {
    bool waits = false;
    Instant since;
    Instant ran_since;  // its newest start
    std::optional<Instant> start;
  };

  void note(const core::ClusterState& state, const core::PreemptIntent& intent, Instant now, Counts& counts) {
    const core::Job& claimant = *state.find_job(intent.for_job);
    const bool had_waited = now - seen_.at(claimant.id).since >= state.tenants->preempt_after_of(claimant.spec.tenant);
    const auto& churn = state.tenants->churn;
    const auto within = [&](const std::vector<Instant>& times) {
      return std::count_if(times.begin(), times.end(), [&](Instant time) { return time + churn->window > now; });
    };
    const bool often = churn && ((churn->per_job && within(times_[intent.job]) >= *churn->per_job) ||
                                 (churn->pool && within(all_) >= *churn->pool));
    times_[intent.job].push_back(now);
    all_.push_back(now);
    const core::Job& victim = *state.find_job(intent.job);
    const bool refuses = victim.preemption.refused_until.value_or(now) > now &&
                         state.tenants->notice_refusal_of(victim.spec.tenant) > Duration();
    if (had_waited && !often && !refuses) return;
    ++counts.beyond;
    INFO("it had waited: " << had_waited << ", others were preempted often: " << often << ", it refused: " << refuses
                           << ", it has " << claimant.size() << " workers and is " << core::to_text(claimant.state()));
    REQUIRE(has_claim(state, claimant, victim));
  }

  // Workers that the decision sends away.
  static std::set<WorkerId> leaving_workers_of(const core::ClusterState& state, const core::Decision& decision) {
    std::set<WorkerId> leaving_workers;
    for (const auto& planned : decision.plan) {
      if (const auto* stop = std::get_if<core::StopWorkerIntent>(&planned.intent)) leaving_workers.insert(stop->worker);
      if (const auto* shrink = std::get_if<core::ShrinkIntent>(&planned.intent)) {
        leaving_workers.insert(shrink->leaving_workers.begin(), shrink->leaving_workers.end());
      }
      if (const auto* preempt = std::get_if<core::PreemptIntent>(&planned.intent)) {
        const auto& workers = state.find_job(preempt->job)->membership.workers;
        leaving_workers.insert(workers.begin(), workers.end());
      }
    }
    return leaving_workers;
  }

  // Some tenant of the claimant's that is none of the victim's has less than it is guaranteed.
  [[nodiscard]] bool has_claim(const core::ClusterState& state, const core::Job& claimant,
                               const core::Job& victim) const {
    std::map<std::string, int> held;
    for (const auto& [id, job] : state.jobs) {
      for (const WorkerId worker : job->membership.workers) {
        const core::Worker& one = *state.find_worker(worker);
        if (one.phase == core::WorkerPhase::kLeaving || one.kill_at || leaving_workers_.contains(worker)) continue;
        for (const core::Tenant* tenant : state.tenants->path_to(job->spec.tenant)) {
          held[tenant->name] += job->spec.gpus_per_worker;
        }
      }
    }
    const auto above_victim = state.tenants->path_to(victim.spec.tenant);
    const auto path = state.tenants->path_to(claimant.spec.tenant);
    return std::any_of(path.begin(), path.end(), [&](const core::Tenant* tenant) {
      const bool is_shared = std::find(above_victim.begin(), above_victim.end(), tenant) != above_victim.end();
      return !is_shared && held[tenant->name] < tenant->guarantee;
    });
  }

  std::map<JobId, Seen> seen_;
  std::set<WorkerId> leaving_workers_;  // of the newest decision
  std::map<JobId, std::vector<Instant>> times_;
  std::vector<Instant> all_;
};

void live(SimulatedWorld& world, Rng& rng, Witness::Counts& counts) {
  Witness witness;
  for (int i = 0; i < 160; ++i) {
    const Instant before = world.now();
    world.tick();
    answer_some(world, rng);
    witness.see(world.state(), before);
    if (const auto due = world.engine().clock_due(); due && *due <= world.now()) world.learn(core::ClockAdvanced{});
    // Where limits were not set, nothing was counted.
    if (rng.chance(0.01) && world.share_among(random_limits(rng))) witness.forget_preemptions();
    witness.check(world.state(), world.engine().decide(world.now()), counts);
    decide_and_check(world);
    witness.see(world.state(), world.now());
    const auto& churn = world.state().tenants->churn;
    if (churn && churn->pool) REQUIRE(world.state().preempted_at.size() <= 4);
  }
}

}  // namespace

TEST_CASE("no job and no pool is preempted more often than is allowed, nor too early, but for a guarantee") {
  Witness::Counts counts;
  for_each_seed("preemption limits", 165, [&](std::uint64_t seed, Rng& rng) {
    const std::string policy = seed % 2 == 0 ? "tidal" : random_planner(rng);
    INFO(policy);
    SimulatedWorld world(seed, rng.chance(0.5), parts_of(policy));
    if (seed % 3 != 0 && rng.chance(0.5)) world.strain();
    REQUIRE(world.share_among(random_limits(rng)));
    live(world, rng, counts);
    check_recovery(world, parts_of(policy));
  });
  if (!all_seeds_run()) return;
  CHECK(counts.preemptions > 150);
  CHECK(counts.beyond > 20);
  for (const char* name :
       {"PreemptsLater", "PreemptionLimit", "PreemptedOften", "AskedToLeave", "RefusesToLeave", "PreemptionRefused"}) {
    INFO(name);
    CHECK(counts.told.contains(name));
  }
}

namespace {

struct Orders {
  int left_out = 0;
  int moved = 0;
};

core::SlotsByTenant random_plan(const core::TenantTree& tree, Rng& rng) {
  core::SlotsByTenant planned;
  for (const core::Tenant& tenant : tree.tenants) {
    const auto slots = rng.between(0, 2);
    for (const core::Tenant* each : tree.path_to(tenant.name)) planned[each->name] += slots;
  }
  return planned;
}

std::int64_t slots_of(const core::Job& job) {
  return std::int64_t{job.size()} * job.spec.gpus_per_worker;
}

void check_order(const core::ClusterState& state, Rng& rng, Orders& orders) {
  const core::TenantsByName& tree = *state.tenants;
  std::vector<const core::Job*> victims;
  for (const auto& [id, job] : state.jobs) {
    if (job->size() > 0 && rng.chance(0.7)) victims.push_back(job.get());
  }
  if (victims.empty()) return;
  const core::Job& claimant = *victims[rng.below(victims.size())];
  std::erase(victims, &claimant);
  const core::SlotsFor claim{claimant, static_cast<int>(rng.between(1, 4))};
  core::SlotsByTenant planned = random_plan(tree, rng);
  core::PreemptionLimits limits(state, state.now);
  const std::vector<std::size_t> order = core::VictimOrder(tree, planned, limits).of(victims, claim);
  REQUIRE(std::set<std::size_t>(order.begin(), order.end()).size() == order.size());
  orders.left_out += static_cast<int>(victims.size() - order.size());
  orders.moved += std::is_sorted(order.begin(), order.end()) ? 0 : 1;
  const std::string& own = claimant.spec.tenant;
  core::SlotsByTenant taken;
  for (const std::size_t at : order) {
    if (victims[at]->spec.tenant == own) continue;
    for (const core::Tenant* each : tree.path_to(victims[at]->spec.tenant)) taken[each->name] += slots_of(*victims[at]);
  }
  const bool has_its_part = limits.held(own) + claim.slots > planned[own];
  const auto above_claimant = tree.path_to(own);
  for (const std::size_t at : order) {
    const std::string& tenant = victims[at]->spec.tenant;
    if (tenant == own || limits.covers(claim, *victims[at])) continue;
    if (has_its_part) REQUIRE(limits.held(tenant) - taken[tenant] >= planned[tenant]);
    for (const core::Tenant* each : tree.path_to(tenant)) {
      if (std::find(above_claimant.begin(), above_claimant.end(), each) != above_claimant.end()) continue;
      REQUIRE(limits.held(each->name) - taken[each->name] >=
              std::min<std::int64_t>(each->guarantee, planned[each->name]));
    }
  }
}

}  // namespace

TEST_CASE("of the jobs that may give way under the pool's limit none costs a tenant its guarantee or its share") {
  Orders orders;
  for_each_seed("victim order", 150, [&](std::uint64_t seed, Rng& rng) {
    SimulatedWorld world(seed, rng.chance(0.5), parts_of("tidal"));
    REQUIRE(world.share_among(random_limits(rng)));
    for (int i = 0; i < 60; ++i) {
      world.tick();
      decide_and_check(world);
      check_order(world.state(), rng, orders);
    }
  });
  if (!all_seeds_run()) return;
  CHECK(orders.left_out > 100);
  CHECK(orders.moved > 20);
}

}  // namespace tidepool::test
