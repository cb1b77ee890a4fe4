// Gangs with workers of several slots that have their guarantee back from nodes on which jobs of other tenants lie
// scattered, in random pools: all of it in one decision, every other job goes on, and then nothing moves.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <vector>

#include "tests/support/seeds.hpp"
#include "tests/support/shared_pool.hpp"

namespace tidepool::test {
namespace {

constexpr int kSlotsOfNode = 4;

// Nodes of four slots, each with as many jobs of one slot as chance leaves there, all of speech. Vision is guaranteed
// the rest.
struct ScatteredPool {
  SharedPool pool{{}, kSlotsOfNode};
  Story& story = pool.story;
  std::vector<JobId> singles;
  int nodes;

  explicit ScatteredPool(Rng& rng) : nodes(static_cast<int>(rng.between(2, 5))) {
    for (int i = 1; i < nodes; ++i) story.node(kSlotsOfNode);
    const int slots = nodes * kSlotsOfNode;
    story.learn(core::TenantsConfigured{{.tenants = {{.name = "speech", .guarantee = slots}}}});
    const bool can_move = rng.chance(0.5);
    std::vector<JobId> all;
    for (int i = 0; i < slots; ++i) all.push_back(pool.submit(single(can_move)));
    act_until_nothing_follows();
    for (const JobId id : all) {
      if (rng.chance(0.6)) {
        story.learn(core::JobCancelRequested{id});
      } else {
        singles.push_back(id);
      }
    }
    act_until_nothing_follows();
    const int held = static_cast<int>(singles.size());
    story.learn(core::TenantsConfigured{
        {.tenants = {{.name = "vision", .guarantee = slots - held}, {.name = "speech", .guarantee = held}}}});
    run_on();
    act_until_nothing_follows();
  }

  // It never grows, and may have a second worker for as long as it moves.
  static core::JobSpec single(bool can_move) {
    core::JobSpec spec = job_spec({.min = 1, .max = can_move ? 2 : 1, .sizes = {1}, .batch = 64, .cooldown = {}});
    spec.tenant = "speech";
    return spec;
  }
  [[nodiscard]] int free() const { return nodes * kSlotsOfNode - static_cast<int>(singles.size()); }

  void run_on() {
    for (const auto& [id, job] : IdTable(story.state().jobs)) {
      if (job->membership.switched && !job->membership.members.empty()) story.steps(id, 10);
    }
    story.pass(Duration::seconds(61));
  }
  void act_until_nothing_follows() {
    for (int round = 0; round < 60; ++round) {
      story.decide();
      if (!workers_act()) return;
    }
    FAIL("the pool does not settle");
  }
  // Returns how many decisions have told jobs to leave their nodes before it started.
  int start(JobId gang) {
    int clearing = 0;
    for (int round = 0; round < 20 && story.job(gang).membership.workers.empty(); ++round) {
      const std::string names = names_of(story.decide());
      clearing += names.find("move") != std::string::npos || names.find("preempt") != std::string::npos ? 1 : 0;
      workers_act();
    }
    act_until_nothing_follows();
    return clearing;
  }

 private:
  bool workers_act() {
    bool acted = false;
    for (const auto& [id, worker] : IdTable(story.state().workers)) {
      const bool leaves = worker.phase == core::WorkerPhase::kLeaving && (worker.stop_due || worker.kill_at);
      if (worker.phase == core::WorkerPhase::kStarting) story.ready(id);
      if (leaves) story.exit(id);
      acted = acted || leaves || worker.phase == core::WorkerPhase::kStarting;
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

}  // namespace

TEST_CASE("a gang starts where slots enough are free on whatever nodes, and every other job goes on") {
  int cleared = 0;
  for_each_seed("gangs claim", 200, [&](std::uint64_t, Rng& rng) {
    ScatteredPool world(rng);
    const int each = static_cast<int>(rng.between(2, kSlotsOfNode));
    const int workers = static_cast<int>(rng.between(1, 2));
    if (world.free() < workers * each || world.nodes * (kSlotsOfNode / each) < workers) return;
    core::JobSpec spec = SharedPool::spec("vision", workers);
    spec.gpus_per_worker = each;
    const JobId gang = world.pool.submit(std::move(spec));
    const int clearing = world.start(gang);
    INFO("a gang of " << workers << " workers of " << each << " slots beside " << world.singles.size() << " jobs on "
                      << world.nodes << " nodes");
    CHECK(clearing <= 1);
    cleared += clearing;
    CHECK(world.story.job(gang).size() == workers);
    for (const JobId id : world.singles) CHECK(world.story.job(id).size() == 1);
    for (int i = 0; i < 5; ++i) {
      world.run_on();
      CHECK(names_of(world.story.decide()).empty());
    }
  });
  if (all_seeds_run()) CHECK(cleared > 30);
}

}  // namespace tidepool::test
