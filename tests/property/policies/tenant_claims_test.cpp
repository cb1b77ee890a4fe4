// A tenant that claims its guarantee from a pool that others fill, in random pools at rest: it has it back in one
// decision, no job is taken from without need, none comes back for what took its slots, and then nothing moves.
#include <catch2/catch.hpp>

#include <map>
#include <optional>
#include <set>

#include "core/state/job_state.hpp"
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

void note_preempted(const core::Decision& decision, std::set<JobId>& jobs) {
  for (const auto& planned : decision.plan) {
    if (const auto* preempt = std::get_if<core::PreemptIntent>(&planned.intent)) jobs.insert(preempt->job);
  }
}

struct ClaimWorld {
  SharedPool pool;
  Story& story = pool.story;
  core::TenantTree tree;
  std::vector<std::string> leaves;

  ClaimWorld(Rng& rng, int slots) : pool({}, slots), tree(still_tree(rng, slots)), leaves(leaves_of(tree)) {
    story.learn(core::TenantsConfigured{tree});
    for (std::int64_t jobs = rng.between(3, 14); jobs > 0; --jobs) {
      pool.submit(random_spec(rng, leaves[rng.below(leaves.size())], slots));
    }
    come_to_rest();
  }

  // Jobs run on, are measured and grow, until what they hold does not change any more.
  void come_to_rest() {
    for (int round = 0; round < 24; ++round) {
      const Sizes before = sizes_of(story.state());
      (void)settle();
      run_on();
      (void)settle();
      if (round >= 4 && sizes_of(story.state()) == before) return;
    }
    FAIL("the pool does not come to rest");
  }
  void run_on() {
    for (const auto& [id, job] : IdTable(story.state().jobs)) {
      if (job->membership.switched && !job->membership.members.empty()) story.steps(id, 30);
    }
    story.pass(Duration::seconds(61));
  }
  // Decides until nothing follows, with workers that do at once what they are told; the jobs that were preempted.
  std::set<JobId> settle() {
    std::set<JobId> preempted;
    for (int round = 0; round < 40; ++round) {
      note_preempted(story.decide(), preempted);
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
  // No job waits that free slots would hold.
  void check_no_waste() const {
    for (const auto& [id, job] : story.state().jobs) {
      if (job->state() != core::JobState::kPending || !may_use_all(job->spec.tenant)) continue;
      INFO(id.text() << " of " << job->spec.tenant);
      CHECK(free() < job->spec.elastic.sizes.front());
    }
  }
  [[nodiscard]] bool waits(const std::string& tenant) const {
    const auto& jobs = story.state().jobs;
    return std::any_of(jobs.begin(), jobs.end(), [&](const auto& any) {
      return any.second->spec.tenant == tenant && any.second->state() == core::JobState::kPending;
    });
  }

 private:
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

}  // namespace

TEST_CASE("a guarantee is had back in one decision, from no job that could have kept its slots, and stays") {
  int claims = 0;
  int taken = 0;
  for_each_seed("tenants claim", 400, [&](std::uint64_t, Rng& rng) {
    ClaimWorld world(rng, static_cast<int>(rng.between(4, kMostSlots)));
    world.check_no_waste();
    const auto spec = random_claim(rng, world);
    if (!spec) return;
    ++claims;
    Story& story = world.story;
    const JobId claim = world.pool.submit(*spec);
    std::set<JobId> victims;
    note_preempted(story.decide(), victims);
    taken += static_cast<int>(victims.size());
    INFO("claim " << claim.text() << " of " << spec->tenant << " for " << spec->elastic.max << " slots");
    CHECK(world.settle() == std::set<JobId>());
    CHECK(story.job(claim).size() == spec->elastic.max);
    for (const JobId victim : victims) {
      INFO("victim " << victim.text());
      CHECK(story.job(victim).state() == core::JobState::kPending);
      const core::JobSpec& of = story.job(victim).spec;
      if (world.may_use_all(of.tenant)) CHECK(world.free() < of.elastic.sizes.front());
    }
    world.come_to_rest();
    const Sizes before = sizes_of(story.state());
    for (int i = 0; i < 5; ++i) {
      story.pass(Duration::seconds(61));
      CHECK(story.decide().plan.empty());
    }
    CHECK(sizes_of(story.state()) == before);
    CHECK(world.pool.held_by(spec->tenant) >= spec->elastic.max);
    world.check_no_waste();
  });
  if (all_seeds_run()) {
    CHECK(claims > 100);
    CHECK(taken > 50);
  }
}

}  // namespace tidepool::test
