// Saved states that are brought to the node where their job starts, while the daemon and nodes die: every job is done
// in the end, none starts from an older state than one that was brought for it, and no job has two transfers at a time.
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "tests/sim/laws.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

using sim::SimResult;
using sim::SimSetup;

constexpr std::int64_t kMiB = std::int64_t{1} << 20U;

struct Told {
  int brought = 0;
  int left = 0;
  std::int64_t steps_lost = 0;
  std::set<std::string> whys;

  void on_event(const core::Event& event) {
    if (event.type == "job.state_brought") ++brought;
    if (event.type == "job.state_left") ++left;
    if (event.type == "job.state_left") whys.insert(event.data.at("why").get<std::string>());
    if (event.type == "job.restored") steps_lost += event.data.at("steps_lost").get<std::int64_t>();
  }
};

// The small world on two or three nodes that move states, whose users suspend jobs, close the nodes on which they ran,
// and let them go on.
SimSetup moving_world(std::uint64_t seed, Told& told) {
  SimSetup setup = small_world(seed);
  Rng rng(seed ^ 0x57a7eU);
  setup.kinds.clear();
  setup.cluster.nodes = static_cast<int>(rng.between(2, 3));
  for (auto& job : setup.workload.jobs) {
    job.spec.slot_types.clear();
    job.spec.gpus_per_worker = 1;
  }
  setup.state_rate = rng.between(2, 60) * kMiB;  // 64 MiB take 1 s to 32 s
  for (std::size_t job = 0; job < setup.workload.jobs.size(); ++job) {
    setup.workload.jobs[job].truth.work_samples *= 4;
    if (setup.workload.jobs[job].spec.work_samples) *setup.workload.jobs[job].spec.work_samples *= 4;
    Duration at = setup.workload.jobs[job].arrives + Duration::millis(rng.between(5'000, 9'000));
    for (int again = 0; again < 3; ++again, at = at + Duration::millis(rng.between(15'000, 30'000))) {
      setup.acts.push_back({.at = at, .kind = sim::UserAct::Kind::kSuspend, .job = job});
      setup.acts.push_back({.at = at + Duration::seconds(5), .kind = sim::UserAct::Kind::kResume, .job = job});
    }
    // A daemon that dies often hears one of them.
    for (std::int64_t later = 100; later < 600; later += 20) {
      setup.acts.push_back({.at = Duration::seconds(later), .kind = sim::UserAct::Kind::kResume, .job = job});
    }
  }
  // One after the other, so that a state often lies where its job may not start.
  for (int node = 0; node < setup.cluster.nodes; ++node) {
    const Duration at = Duration::seconds(8 + 20 * node);
    setup.acts.push_back({.at = at, .kind = sim::UserAct::Kind::kCordon, .node = node});
    for (std::int64_t later = 20; later < 600; later += 50) {
      setup.acts.push_back({.at = at + Duration::seconds(later), .kind = sim::UserAct::Kind::kUncordon, .node = node});
    }
  }
  setup.on_event = [&told](const core::Event& event) { told.on_event(event); };
  return setup;
}

// One job is suspended, its node is closed, and it goes on on the other one.
SimSetup closed_node(std::int64_t rate, Told& told) {
  SimSetup setup = one_job_world();
  setup.workload.jobs[0].truth.work_samples = 4'000;
  setup.state_rate = rate;
  setup.acts = {{.at = Duration::seconds(15), .kind = sim::UserAct::Kind::kSuspend},
                {.at = Duration::seconds(20), .kind = sim::UserAct::Kind::kCordon, .node = 0},
                {.at = Duration::seconds(21), .kind = sim::UserAct::Kind::kResume}};
  setup.on_event = [&told](const core::Event& event) { told.on_event(event); };
  return setup;
}

TEST_CASE("a job goes on on another node with the state that is brought there, and no step is done again") {
  Told told;
  (void)run_soundly(closed_node(8 * kMiB, told));
  CHECK(told.brought == 1);
  CHECK(told.left == 0);
  CHECK(told.steps_lost == 0);
}

TEST_CASE("a node that breaks during the transfer costs the state, and not the job") {
  Told told;
  SimSetup setup = closed_node(2 * kMiB, told);
  setup.more_faults = {
      {.at = Duration::seconds(30), .kind = sim::FaultKind::kNodeCrash, .which = 0, .lasts = Duration::seconds(600)}};
  (void)run_soundly(setup);
  CHECK(told.brought == 0);
  CHECK(told.left == 1);
  CHECK(told.steps_lost > 0);
}

TEST_CASE("a transfer that breaks goes on at the offset that it had reached") {
  Told told;
  SimSetup setup = closed_node(2 * kMiB, told);  // 32 s
  setup.patience = Duration::seconds(20);
  setup.more_faults = {
      {.at = Duration::seconds(40), .kind = sim::FaultKind::kNodeCutOff, .which = 0, .lasts = Duration::seconds(3)}};
  const SimResult result = run_soundly(setup);
  CHECK(told.brought == 1);
  CHECK(told.steps_lost == 0);
}

TEST_CASE("states are moved among failing nodes and workers, under a daemon that dies, and every promise is kept") {
  Told told;
  for_each_seed("state moves", kSeeds,
                [&](std::uint64_t seed, Rng&) { (void)run_soundly(troubled(moving_world(seed, told), seed)); });
  WARN(told.brought << " states brought, " << told.left << " left");
  if (!test::all_seeds_run()) return;
  CHECK(told.brought > 40);
  CHECK(told.left > 3);
}

TEST_CASE("without faults every state that is to be moved is brought, unless its job gives up the start") {
  Told told;
  for_each_seed("healthy moves", kSeeds / 4,
                [&](std::uint64_t seed, Rng&) { (void)run_soundly(moving_world(seed, told)); });
  CHECK(told.brought > told.left);
  told.whys.erase("the job gives up its workers");
  CHECK(told.whys.empty());
}

}  // namespace
}  // namespace tidepool::test
