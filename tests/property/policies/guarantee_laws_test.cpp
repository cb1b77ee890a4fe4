// A guarantee is had back whatever jobs of other tenants do: in random pools whose other tenants use all that operators
// and the API allow to keep slots (selfish_pool.hpp). What may hold slots of a claim, and for how long, is
// had_back_by(). Each law sees a bug that breaks it.
#include <catch2/catch.hpp>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/tenants/tenant_nodes.hpp"
#include "tests/support/planted_policy.hpp"
#include "tests/support/reasons.hpp"
#include "tests/support/seeds.hpp"
#include "tests/support/selfish_pool.hpp"

namespace tidepool::test {
namespace {

// For looks in between, and the steps after which workers leave.
constexpr Duration kSlack = Duration::seconds(12);

enum class Law { kHadBackInTime, kStaysHad, kNotTakenBack, kNoTurns };
using Laws = std::set<Law>;

// Jobs of other tenants may keep their slots after a start or a change of size for as long as their files say, and
// their programs for their grace and what their tenants grant them. `users_act`: they may change these.
Instant had_back_by(const SelfishPool& pool, bool users_act) {
  Instant by = pool.now();
  for (const auto& [id, job] : pool.state().jobs) {
    if (core::is_final(job->state())) continue;
    const core::ElasticSpec& elastic = job->spec.elastic;
    const bool changes = job->state() != core::JobState::kRunning || job->phase.transition();
    const Instant changed = changes || users_act ? pool.now() + SelfishPool::kBootMost : job->submitted_at;
    const Instant started = std::max(changed, job->last_start_at.value_or(changed));
    const Instant resized = std::max(changed, job->last_resize_at.value_or(changed));
    Instant held = std::max({pool.now(), started + elastic.min_runtime, resized + elastic.cooldown});
    if (users_act) held = std::max(held, changed + SelfishPool::kHoldMost);
    const Duration grace = users_act ? SelfishPool::kGraceMost : elastic.grace;
    by = std::max(by, held + grace + pool.state().tenants->notice_extension_of(job->spec.tenant));
  }
  if (users_act) by = by + SelfishPool::kExtensionMost;
  return by + kSlack;
}

// What the quiet tenant is guaranteed and the leaf below it has by the rule, however much all other tenants want: those
// beside it may keep what they do not lend, and it may be bounded by what it may borrow.
int most_for(const SelfishPool& pool, const std::string& leaf) {
  const core::TenantPlaces places = core::places_of(pool.tree());
  std::vector<core::TenantNode> nodes = core::nodes_of(pool.tree(), places);
  for (const std::string& other : leaves_of(pool.tree())) {
    if (!pool.is_below_quiet(other)) nodes[places.at(other)].wanted = 1'000;
  }
  int most = pool.tree().find(pool.quiet())->guarantee;
  for (int& wanted = nodes[places.at(leaf)].wanted; most > 0; --most) {
    wanted = most;
    if (core::entitlements(nodes, pool.promised())[places.at(leaf)] >= most) break;
  }
  return most;
}

// By one leaf below the quiet tenant, in one job or several.
std::vector<core::JobSpec> random_claim(const SelfishPool& pool, Rng& rng) {
  std::vector<std::string> leaves = leaves_of(pool.tree());
  std::erase_if(leaves, [&](const std::string& leaf) { return !pool.is_below_quiet(leaf); });
  const std::string leaf = leaves[rng.below(leaves.size())];
  const int most = most_for(pool, leaf);
  std::vector<core::JobSpec> claim;
  for (int left = most > 0 ? static_cast<int>(rng.between(1, most)) : 0; left > 0;) {
    const int size = rng.chance(0.5) ? left : static_cast<int>(rng.between(1, left));
    core::JobSpec spec = job_spec(
        {.min = size, .max = size, .priority = static_cast<int>(rng.between(-1, 1)), .cooldown = {}, .grace = {}});
    spec.tenant = leaf;
    spec.mixed_types = true;  // a guarantee of slots, of whatever type
    claim.push_back(std::move(spec));
    left -= size;
  }
  return claim;
}

// Preemptions of one job for another, since users have done something last.
class Turns {
 public:
  // False: a job has been preempted for the same one more often than what programs report explains.
  bool note(const core::Plan& plan) {
    bool are_few = true;
    for (const auto& planned : plan) {
      const auto* preempt = std::get_if<core::PreemptIntent>(&planned.intent);
      if (preempt != nullptr && preempt->for_job) are_few = ++times_[{preempt->job, preempt->for_job}] <= 2 && are_few;
    }
    return are_few;
  }

 private:
  std::map<std::pair<JobId, JobId>, int> times_;
};

// What a claim has had is taken back for a job of another tenant.
bool takes_back(const SelfishPool& pool) {
  return std::any_of(pool.ordered().begin(), pool.ordered().end(), [&](const core::PlannedIntent& planned) {
    const auto* preempt = std::get_if<core::PreemptIntent>(&planned.intent);
    const core::Job* job = preempt == nullptr ? nullptr : pool.state().find_job(preempt->job);
    // One that starts again at once leaves nodes to a gang, and no slots.
    const bool starts_again = number_in(planned.reason, "restarts") > 0;
    if (job == nullptr || starts_again || !preempt->for_job || !pool.is_below_quiet(job->spec.tenant)) return false;
    const core::Job* claims = pool.state().find_job(preempt->for_job);
    return claims != nullptr && !pool.is_below_quiet(claims->spec.tenant);
  });
}

struct Claimed {
  bool counts = false;
  Laws broken;
  std::string told;
};

std::string told_of(const SelfishPool& pool) {
  std::string told = "tricks:" + names_of(pool.tricks()) + "; quiet " + pool.quiet() + "\n";
  for (const core::Tenant& tenant : pool.tree().tenants) {
    told += tenant.name + " below " + tenant.parent + " guaranteed " + std::to_string(tenant.guarantee) + "\n";
  }
  for (const auto& [name, plan] : pool.state().plan.tenants) {
    told += name + " entitled to " + std::to_string(plan.entitled) + " wants " + std::to_string(plan.wanted) +
            (plan.satisfied ? " satisfied" : "") + "\n";
  }
  for (const auto& [id, node] : pool.state().nodes) {
    told += id.text() + (node.is_closed() ? " closed" : "");
    for (const WorkerId owner : node.owners) {
      told += " " + (owner ? pool.state().find_worker(owner)->job.text() : "-");
    }
    told += "\n";
  }
  for (const auto& [id, job] : pool.state().jobs) {
    const bool is_firm = !job->spec.preemptible || job->spec.scaling.names_policy();
    told += std::string(is_firm ? "firm " : "") + (job->requests.pinned_size > 0 ? "pinned " : "");
    told += id.text() + " of " + job->spec.tenant + " " + core::to_text(job->state()) + " keeps " +
            std::to_string(core::slots_kept(pool.state(), *job)) + " of " + std::to_string(job->spec.elastic.max) +
            " x " + std::to_string(job->spec.gpus_per_worker) + ", planned " +
            std::to_string(job->planned ? job->planned->target.size : -1) + " " +
            core::to_json(job->verdict.reason).dump() + "\n";
  }
  return told;
}

Claimed claim(SelfishPool& pool, Rng& rng, bool users_act) {
  Claimed out;
  Turns turns;
  pool.live(static_cast<int>(rng.between(20, 50)));
  const std::vector<core::JobSpec> specs = random_claim(pool, rng);
  if (specs.empty()) return out;
  int slots = 0;
  for (const core::JobSpec& spec : specs) {
    slots += spec.elastic.max;
    REQUIRE(pool.submit(spec));
  }
  const auto require = [&](bool kept, Law law) {
    if (!kept && out.broken.insert(law).second) out.told += told_of(pool);
  };
  const Instant by = had_back_by(pool, users_act);
  const auto go_on = [&](Duration length) {
    if (users_act) pool.annoy();
    pool.round(length);
    require(!takes_back(pool), Law::kNotTakenBack);
    if (!users_act) require(turns.note(pool.ordered()), Law::kNoTurns);
  };
  go_on(Duration());
  while (pool.now() < by) go_on(Duration::seconds(2));
  const auto can_be_had = [&] { return pool.promised() <= pool.open_slots(); };
  out.counts = can_be_had();
  require(!can_be_had() || pool.kept_by(pool.quiet()) >= slots, Law::kHadBackInTime);
  for (int i = 0; i < 12; ++i) {
    go_on(Duration::seconds(users_act ? 7 : 61));
    require(!can_be_had() || pool.kept_by(pool.quiet()) >= slots, Law::kStaysHad);
  }
  return out;
}

// A bug is planted in random pools until a law sees it; returns how often each was broken.
std::map<Law, int> broken_with(const char* name, const core::Engine::Parts& parts, const SelfishPool::Spoil& spoil) {
  std::map<Law, int> broken;
  for_each_seed(name, 60, [&](std::uint64_t, Rng& rng) {
    SelfishPool pool(rng, parts);
    if (pool.quiet().empty()) return;
    pool.spoil(spoil);
    for (const Law law : claim(pool, rng, false).broken) ++broken[law];
  });
  return broken;
}

// No job of one of these gives way any more.
void preempt_none(const SelfishPool&, core::Decision& decision) {
  std::erase_if(decision.plan, [](const core::PlannedIntent& planned) {
    return std::holds_alternative<core::PreemptIntent>(planned.intent) ||
           std::holds_alternative<core::ShrinkIntent>(planned.intent) ||
           std::holds_alternative<core::SwitchIntent>(planned.intent);
  });
}

// A job that runs within the quiet tenant's guarantee gives way to one that waits.
void take_back(const SelfishPool& pool, core::Decision& decision) {
  const core::Job* runs = nullptr;
  const core::Job* waits = nullptr;
  for (const auto& [id, job] : pool.state().jobs) {
    const bool is_quiet = pool.is_below_quiet(job->spec.tenant);
    if (is_quiet && job->state() == core::JobState::kRunning && job->membership.switched) runs = job.get();
    if (!is_quiet && job->state() == core::JobState::kPending) waits = job.get();
  }
  if (runs == nullptr || waits == nullptr) return;
  const core::PreemptIntent intent{.job = runs->id, .number = runs->membership.generation + 1, .for_job = waits->id};
  decision.plan.push_back({.intent = intent, .reason = core::reason::Preempted{.for_job = waits->id}});
}

}  // namespace

TEST_CASE("whatever jobs of others do, a guarantee is had back in time, and stays") {
  int claims = 0;
  for_each_seed("selfish tenants", 200, [&](std::uint64_t seed, Rng& rng) {
    SelfishPool pool(rng, parts_of("tidal"));
    if (pool.quiet().empty()) return;
    const Claimed claimed = claim(pool, rng, seed % 2 == 0);
    INFO(claimed.told);
    CHECK(claimed.broken == Laws());
    claims += claimed.counts ? 1 : 0;
  });
  if (all_seeds_run()) CHECK(claims > 50);
}

TEST_CASE("planted: jobs that never give way are seen by a guarantee that is not had back") {
  auto broken = broken_with("none gives way", parts_of("tidal"), preempt_none);
  if (all_seeds_run()) CHECK(broken[Law::kHadBackInTime] > 0);
}

TEST_CASE("planted: a job within a guarantee that gives way is seen as slots taken back") {
  auto broken = broken_with("taken back", parts_of("tidal"), take_back);
  if (!all_seeds_run()) return;
  CHECK(broken[Law::kNotTakenBack] > 0);
  CHECK(broken[Law::kStaysHad] > 0);
}

TEST_CASE("planted: jobs that take turns are seen where no user does anything") {
  auto broken = broken_with("turns", planted_parts(PolicyBug::kTakesTurns), nullptr);
  if (all_seeds_run()) CHECK(broken[Law::kNoTurns] > 0);
}

}  // namespace tidepool::test
