// A tenant that claims its guarantee from a pool that others fill, in random pools at rest: it has it back in one
// decision, no job is taken from without need, none comes back for what took its slots, and then nothing moves. What
// was preempted and is submitted once more preempts nothing. Each law sees a bug that breaks it.
#include <catch2/catch.hpp>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/state/job_state.hpp"
#include "tests/support/planted_policy.hpp"
#include "tests/support/random_tenants.hpp"
#include "tests/support/seeds.hpp"
#include "tests/support/shared_pool.hpp"

namespace tidepool::test {
namespace {

constexpr int kMostSlots = 16;

// Jobs without a pause between changes of size, so that each can give up slots at any time.
core::JobSpec random_spec(Rng& rng, const std::string& tenant, int most) {
  JobSketch sketch{.min = static_cast<int>(rng.between(1, std::min(3, most))), .cooldown = {}};
  sketch.max = rng.chance(0.5) ? sketch.min : sketch.min + static_cast<int>(rng.between(0, 4));
  sketch.preferred = sketch.max;
  sketch.priority = static_cast<int>(rng.between(-1, 1));
  core::JobSpec spec = job_spec(sketch);
  spec.tenant = tenant;
  return spec;
}

// What the others hold is counted so seldom that time alone moves no share.
core::TenantTree still_tree(Rng& rng, int slots) {
  core::TenantTree tree = random_tenants(rng, slots);
  tree.rebalance_every = Duration::seconds(std::int64_t{365} * 86'400);
  return tree;
}

using Sizes = std::map<JobId, int>;

Sizes sizes_of(const core::ClusterState& state) {
  Sizes sizes;
  for (const auto& [id, job] : state.jobs) sizes[id] = job->size();
  return sizes;
}

struct ClaimWorld {
  SharedPool pool;
  Story& story = pool.story;
  core::TenantTree tree;
  std::vector<std::string> leaves;
  bool rests = false;
  bool took_turns = false;  // without an outside event a job was preempted for one that had been preempted for it

  ClaimWorld(Rng& rng, core::Engine::Parts parts, int slots)
      : pool({}, slots, std::move(parts)), tree(still_tree(rng, slots)), leaves(leaves_of(tree)) {
    story.learn(core::TenantsConfigured{tree});
    for (std::int64_t jobs = rng.between(3, 14); jobs > 0; --jobs) {
      submit(random_spec(rng, leaves[rng.below(leaves.size())], slots));
    }
    rests = comes_to_rest();
  }

  JobId submit(core::JobSpec spec) {
    gave_way_.clear();
    return pool.submit(std::move(spec));
  }
  // Jobs run on, are measured and grow, until what they hold does not change any more. False: it does not come to that.
  bool comes_to_rest() {
    for (int round = 0; round < 24; ++round) {
      const Sizes before = sizes_of(story.state());
      (void)settle();
      run_on();
      (void)settle();
      if (round >= 4 && sizes_of(story.state()) == before) return true;
    }
    return false;
  }
  void run_on() {
    gave_way_.clear();  // what programs report may change what their jobs want
    for (const auto& [id, job] : IdTable(story.state().jobs)) {
      if (job->membership.switched && !job->membership.members.empty()) story.steps(id, 30);
    }
    story.pass(Duration::seconds(61));
  }
  // The jobs that one decision preempts. `spoil` changes it before it is accepted, if it is lawful then.
  std::set<JobId> decide(const std::function<void(core::Decision&)>& spoil = nullptr) {
    if (!spoil) return note_preempted(story.decide());
    const core::Decision right = story.engine().decide(story.now());
    core::Decision decision = right;
    spoil(decision);
    if (!story.engine().validate(decision).ok()) decision = right;
    story.log(story.engine().accept(decision));
    return note_preempted(decision);
  }
  // Decides until nothing follows, with workers that do at once what they are told; the jobs that were preempted.
  std::set<JobId> settle() {
    std::set<JobId> preempted;
    for (int round = 0; round < 40; ++round) {
      preempted.merge(decide());
      if (!workers_act()) return preempted;
    }
    FAIL("the pool does not settle");
    return preempted;
  }

  [[nodiscard]] int free() const {
    int held = 0;
    for (const auto& [id, size] : sizes_of(story.state())) held += size;
    return story.state().slots_total() - held;
  }
  // It may borrow, and none keeps slots that it does not use.
  [[nodiscard]] bool may_use_all(const std::string& tenant) const {
    const bool is_kept =
        std::any_of(tree.tenants.begin(), tree.tenants.end(), [](const auto& any) { return any.lend; });
    const auto path = tree.path_to(tenant);
    return !is_kept && std::none_of(path.begin(), path.end(), [](const auto* any) { return any->borrow; });
  }
  // It waits, and free slots would hold it.
  [[nodiscard]] bool is_left_out(const core::Job& job) const {
    const bool waits = job.state() == core::JobState::kPending && may_use_all(job.spec.tenant);
    return waits && free() >= job.spec.elastic.sizes.front();
  }
  [[nodiscard]] bool leaves_some_out() const {
    const auto& jobs = story.state().jobs;
    return std::any_of(jobs.begin(), jobs.end(), [&](const auto& any) { return is_left_out(*any.second); });
  }
  [[nodiscard]] bool waits(const std::string& tenant) const {
    const auto& jobs = story.state().jobs;
    return std::any_of(jobs.begin(), jobs.end(), [&](const auto& any) {
      return any.second->spec.tenant == tenant && any.second->state() == core::JobState::kPending;
    });
  }

 private:
  std::set<JobId> note_preempted(const core::Decision& decision) {
    std::set<JobId> jobs;
    for (const auto& planned : decision.plan) {
      const auto* preempt = std::get_if<core::PreemptIntent>(&planned.intent);
      if (preempt == nullptr) continue;
      jobs.insert(preempt->job);
      gave_way_.emplace(preempt->job, preempt->for_job);
      took_turns = took_turns || gave_way_.contains({preempt->for_job, preempt->job});
    }
    return jobs;
  }
  bool workers_act() {
    bool acted = false;
    for (const auto& [id, worker] : IdTable(story.state().workers)) {
      if (worker.phase == core::WorkerPhase::kStarting) {
        story.ready(id);
      } else if (worker.phase == core::WorkerPhase::kLeaving && (worker.stop_due || worker.kill_at)) {
        story.exit(id);
      } else {
        continue;
      }
      acted = true;
    }
    for (const auto& [id, job] : IdTable(story.state().jobs)) {
      if (job->membership.members.empty() || job->membership.switched) continue;
      story.switched(id);
      story.steps(id, 2);
      acted = true;
    }
    return acted;
  }

  std::set<std::pair<JobId, JobId>> gave_way_;  // since the newest outside event: with the job that it was for
};

// A job of a tenant that has part of its guarantee unused, as large as that at most. Null: no tenant has.
std::optional<core::JobSpec> random_claim(Rng& rng, const ClaimWorld& world) {
  std::vector<std::pair<std::string, int>> unused;
  for (const std::string& leaf : world.leaves) {
    const int left = world.tree.find(leaf)->guarantee - world.pool.held_by(leaf);
    if (left > 0 && !world.waits(leaf)) unused.emplace_back(leaf, left);
  }
  if (unused.empty()) return std::nullopt;
  const auto& [tenant, left] = unused[rng.below(unused.size())];
  return SharedPool::spec(tenant, static_cast<int>(rng.between(1, left)));
}

enum class Law { kGuaranteeInOneDecision, kNoneRemovable, kNoTurns, kComesToRest, kNothingLeftOut, kResubmittedWaits };
using Laws = std::set<Law>;

// What of a claim has come about.
struct Claimed {
  int victims = 0;
  Laws broken;
};

// The jobs of `victims` are submitted once more, as they were, each in the place of the one that waits.
bool resubmitted_preempt(ClaimWorld& world, const std::set<JobId>& victims) {
  for (const JobId victim : victims) {
    if (world.story.job(victim).state() != core::JobState::kPending) continue;
    core::JobSpec spec = world.story.job(victim).spec;
    world.story.learn(core::JobCancelRequested{victim});
    world.submit(std::move(spec));
  }
  return !world.settle().empty();
}

Claimed claim(ClaimWorld& world, const core::JobSpec& spec,
              const std::function<void(core::Decision&)>& spoil = nullptr) {
  Story& story = world.story;
  Claimed out;
  const auto require = [&](bool kept, Law law) {
    if (!kept) out.broken.insert(law);
  };
  require(world.rests, Law::kComesToRest);
  require(!world.leaves_some_out(), Law::kNothingLeftOut);
  const JobId claims = world.submit(spec);
  const std::set<JobId> victims = world.decide(spoil);
  out.victims = static_cast<int>(victims.size());
  require(world.settle().empty() && story.job(claims).size() == spec.elastic.max, Law::kGuaranteeInOneDecision);
  for (const JobId victim : victims) {
    const core::Job& job = story.job(victim);
    require(job.state() == core::JobState::kPending && !world.is_left_out(job), Law::kNoneRemovable);
  }
  require(world.comes_to_rest(), Law::kComesToRest);
  const Sizes before = sizes_of(story.state());
  for (int i = 0; i < 5; ++i) {
    story.pass(Duration::seconds(61));
    require(story.engine().decide(story.now()).plan.empty(), Law::kComesToRest);
    (void)world.settle();
  }
  require(sizes_of(story.state()) == before, Law::kComesToRest);
  require(world.pool.held_by(spec.tenant) >= spec.elastic.max, Law::kGuaranteeInOneDecision);
  require(!world.leaves_some_out(), Law::kNothingLeftOut);
  require(!resubmitted_preempt(world, victims), Law::kResubmittedWaits);
  require(!world.took_turns, Law::kNoTurns);
  return out;
}

// A bug is planted in random pools until the law sees it; returns how often the laws named were broken.
std::map<Law, int> broken_with(PolicyBug bug, const char* name) {
  std::map<Law, int> broken;
  for_each_seed(name, 200, [&](std::uint64_t, Rng& rng) {
    ClaimWorld world(rng, planted_parts(bug), static_cast<int>(rng.between(4, kMostSlots)));
    const auto spec = random_claim(rng, world);
    if (!spec) return;
    for (const Law law : claim(world, *spec).broken) ++broken[law];
  });
  return broken;
}

// One more job is preempted for the claim than it needs.
void take_one_more(const core::ClusterState& state, core::Decision& decision) {
  const auto first = std::find_if(decision.plan.begin(), decision.plan.end(), [](const auto& planned) {
    return std::holds_alternative<core::PreemptIntent>(planned.intent);
  });
  if (first == decision.plan.end()) return;
  core::PlannedIntent more = *first;
  auto& preempt = std::get<core::PreemptIntent>(more.intent);
  for (const auto& [id, job] : state.jobs) {
    const bool is_changed = std::any_of(decision.plan.begin(), decision.plan.end(),
                                        [&](const auto& planned) { return core::job_of(planned.intent) == id; });
    if (is_changed || job->state() != core::JobState::kRunning) continue;
    preempt.job = id;
    decision.plan.push_back(std::move(more));
    return;
  }
}

}  // namespace

TEST_CASE("a guarantee is had back in one decision, from no job that could have kept its slots, and stays") {
  int claims = 0;
  int taken = 0;
  for_each_seed("tenants claim", 400, [&](std::uint64_t, Rng& rng) {
    ClaimWorld world(rng, parts_of("tidal"), static_cast<int>(rng.between(4, kMostSlots)));
    const auto spec = random_claim(rng, world);
    if (!spec) return;
    ++claims;
    INFO("claim of " << spec->tenant << " for " << spec->elastic.max << " slots");
    const Claimed claimed = claim(world, *spec);
    CHECK(claimed.broken == Laws());
    taken += claimed.victims;
  });
  if (all_seeds_run()) {
    CHECK(claims > 100);
    CHECK(taken > 50);
  }
}

TEST_CASE("a policy without a bug, for bugs to be planted in, keeps the laws of claims") {
  CHECK(broken_with(PolicyBug::kNone, "no bug").empty());
}

TEST_CASE("planted: a planner that does not keep to its tenant's part is seen by the claim of a guarantee") {
  CHECK(broken_with(PolicyBug::kIgnoresItsPart, "beyond its part")[Law::kGuaranteeInOneDecision] > 0);
}

TEST_CASE("planted: jobs that take turns are seen as jobs preempted in turn, and as a pool without rest") {
  auto broken = broken_with(PolicyBug::kTakesTurns, "turns");
  CHECK(broken[Law::kNoTurns] > 0);
  CHECK(broken[Law::kComesToRest] > 0);
}

TEST_CASE("planted: jobs that preempt by coming late are seen when those that gave way are submitted once more") {
  CHECK(broken_with(PolicyBug::kNewestFirst, "newest first")[Law::kResubmittedWaits] > 0);
}

TEST_CASE("planted: a job that is preempted without need is seen") {
  int spoilt = 0;
  int seen = 0;
  for_each_seed("one more victim", 200, [&](std::uint64_t, Rng& rng) {
    ClaimWorld world(rng, parts_of("tidal"), static_cast<int>(rng.between(4, kMostSlots)));
    const auto spec = random_claim(rng, world);
    if (!spec) return;
    const auto spoil = [&](core::Decision& decision) {
      const std::size_t before = decision.plan.size();
      take_one_more(world.story.state(), decision);
      spoilt += decision.plan.size() > before ? 1 : 0;
    };
    seen += claim(world, *spec, spoil).broken.contains(Law::kNoneRemovable) ? 1 : 0;
  });
  CHECK(spoilt > 0);
  CHECK(seen > 0);
}

}  // namespace tidepool::test
