// One world, two daemons: the simulator's model of the daemon and the real loop with its journal, executor and recovery
// are given the same agents, jobs, users and faults at the same moments. Both must write the same decision log, byte
// for byte. Whatever one of them learns, does, or says in another order shows as a first line that differs.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "tests/sim/small_world.hpp"
#include "tests/support/live_daemon.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool {
namespace {

using sim::FaultKind;
using sim::UserAct;
using Kind = sim::UserAct::Kind;

constexpr std::uint64_t kSeeds = 3;

// Work of some minutes at a size that pays.
sim::SimJob job(const std::string& name, int max, Rng& rng) {
  sim::SimJob job{.arrives = Duration::millis(rng.between(0, 90'000))};
  job.truth.curve = {.lambda = 100, .sigma = rng.chance(0.3) ? 0.8 : 0.1 * rng.uniform(), .kappa = 0.01};
  job.truth.global_batch = 100;
  job.truth.work_samples = rng.between(8'000, 40'000);
  job.truth.boot = Duration::millis(rng.between(500, 5'000));
  job.truth.switch_stall = Duration::millis(rng.between(10, 800));
  job.spec.name = name;
  job.spec.elastic = {.min = max > 2 ? 2 : 1, .max = max, .preferred = 2, .sizes = {}};
  job.spec.elastic.sizes = sim::sizes_between(job.spec.elastic.min, max);
  job.spec.elastic.cooldown = Duration::seconds(10);
  job.spec.elastic.grace = Duration::seconds(3);
  job.spec.batch = {.global = 100, .per_worker_max = 100};
  job.spec.scaling.every_steps = 4;
  job.spec.max_restarts = 100;
  job.spec.run = core::RunSpec{.trainer = "charlm"};
  if (rng.chance(0.5)) job.spec.work_samples = job.truth.work_samples;
  job.truth.tells_length = !job.spec.work_samples;
  return job;
}

// Three nodes of four slots; small and large jobs, one of them of two slots a worker, one whose program is restarted at
// each change. Workers die, hang and turn slow, a node is lost with all that runs on it, another is out of reach, a
// third is cordoned; users resize, suspend and resume.
sim::SimSetup mixed_world(std::uint64_t seed, std::string_view policy) {
  Rng rng(seed);
  sim::SimSetup setup{.parts = [policy = std::string(policy)] { return test::engine_parts(policy); }, .seed = seed};
  setup.cluster = {.nodes = 3, .slots_per_node = 4};
  setup.workload.name = "mixed";
  for (int i = 1; i <= 7; ++i) setup.workload.jobs.push_back(job("j" + std::to_string(i), i % 2 == 0 ? 2 : 8, rng));
  setup.workload.jobs[1].spec.gpus_per_worker = 2;
  setup.workload.jobs[2].truth.restarts = true;
  setup.workload.jobs[2].spec.resize = core::ResizeMode::kRestart;
  std::sort(setup.workload.jobs.begin(), setup.workload.jobs.end(),
            [](const auto& a, const auto& b) { return a.arrives < b.arrives; });
  const auto at = [&](int from, int to) { return Duration::millis(rng.between(from * 1'000, to * 1'000)); };
  const auto fault = [&](Duration when, FaultKind kind) {
    setup.more_faults.push_back(
        {.at = when, .kind = kind, .which = rng.below(1'000), .lasts = at(20, 60), .slowdown = 3});
  };
  fault(at(60, 120), FaultKind::kWorkerDeath);
  fault(at(60, 240), FaultKind::kWorkerSlow);
  fault(at(60, 240), FaultKind::kWorkerStuck);
  fault(at(90, 160), FaultKind::kNodeCrash);
  fault(at(160, 240), FaultKind::kNodeCutOff);
  fault(at(160, 300), FaultKind::kTwoDeaths);
  const Duration cordon = at(40, 150);
  setup.acts = {{.at = cordon, .kind = Kind::kCordon, .node = 1},
                {.at = cordon + at(10, 100), .kind = Kind::kUncordon, .node = 1},
                {.at = at(95, 130), .kind = Kind::kResize, .job = 0, .size = setup.workload.jobs[0].spec.elastic.max},
                {.at = at(140, 180), .kind = Kind::kResize, .job = 0, .size = 0},
                {.at = at(95, 120), .kind = Kind::kSuspend, .job = 3},
                {.at = at(130, 200), .kind = Kind::kResume, .job = 3},
                {.at = at(100, 300), .kind = Kind::kCancel, .job = 6}};
  setup.compute_times = rng.chance(0.5);
  setup.report_every = Duration::seconds(5);
  setup.latency_jitter = Duration::millis(5);
  setup.patience = Duration::seconds(4);
  setup.limit = Duration::seconds(3'600);
  setup.keep_decisions = true;
  return setup;
}

sim::SimResult in_live_loop(sim::SimSetup setup, test::LiveDaemon::Options options) {
  setup.daemon = [options](const sim::DaemonParts& ground) {
    return std::make_unique<test::LiveDaemon>(ground, options);
  };
  return sim::Simulator(std::move(setup)).run();
}

struct Difference {
  std::size_t line = 0;  // of the log, from 1; 0 = there is none
  std::string modelled;
  std::string live;
};

Difference first_difference(const sim::SimResult& modelled, const sim::SimResult& live) {
  const std::vector<std::string>& a = modelled.decision_lines;
  const std::vector<std::string>& b = live.decision_lines;
  const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (at == a.end() && other == b.end()) return {};
  return {static_cast<std::size_t>(at - a.begin()) + 1, at == a.end() ? "nothing more" : *at,
          other == b.end() ? "nothing more" : *other};
}

// A recovered engine looks at everything once, which costs counted steps and changes nothing else.
void leave_out_steps_counted(sim::SimResult& result) {
  for (std::string& line : result.decision_lines) {
    auto decision = nlohmann::json::parse(line);
    decision.erase("steps_counted");
    line = canonical_json(decision);
  }
  result.digest = 0;
}

void expect_equal(const sim::SimSetup& setup, test::LiveDaemon::Options options) {
  sim::SimResult modelled = sim::Simulator(setup).run();
  REQUIRE(modelled.violations.empty());
  REQUIRE(modelled.decision_lines.size() > 50);
  sim::SimResult live = in_live_loop(setup, options);
  if (options.recover_every > 0) {
    leave_out_steps_counted(modelled);
    leave_out_steps_counted(live);
  }
  const Difference difference = first_difference(modelled, live);
  for (const auto& text : modelled.refused) UNSCOPED_INFO("the model's engine refused: " + text);
  for (const auto& text : live.refused) UNSCOPED_INFO("the loop's engine refused: " + text);
  INFO("line " << difference.line << "\nmodel: " << difference.modelled << "\nlive:  " << difference.live);
  CHECK(difference.line == 0);
  CHECK(live.violations.empty());
  CHECK(live.digest == modelled.digest);
  CHECK(live.end == modelled.end);
}

TEST_CASE("the live loop and the simulator decide the same under a policy for single jobs") {
  test::for_each_seed("live loop, autoscaling_engine", kSeeds,
                      [](std::uint64_t seed, Rng&) { expect_equal(mixed_world(seed, "autoscaling_engine"), {}); });
}

TEST_CASE("the live loop and the simulator decide the same under tidal") {
  test::for_each_seed("live loop, tidal", kSeeds,
                      [](std::uint64_t seed, Rng&) { expect_equal(mixed_world(seed, "tidal"), {}); });
}

TEST_CASE("the live loop and the simulator decide the same under a queue") {
  test::for_each_seed("live loop, las", kSeeds,
                      [](std::uint64_t seed, Rng&) { expect_equal(mixed_world(seed, "las"), {}); });
}

TEST_CASE("A daemon that is killed and recovered between two turns decides the same") {
  test::for_each_seed("recovered loop", kSeeds, [](std::uint64_t seed, Rng& rng) {
    // Where its workers listen is told again by agents that come back; here no agent notices that the daemon was away.
    sim::SimSetup setup = mixed_world(seed, rng.chance(0.5) ? "tidal" : "autoscaling_engine");
    for (auto& each : setup.workload.jobs) {
      each.truth.restarts = false;
      each.spec.resize = core::ResizeMode::kLive;
    }
    expect_equal(setup, {.recover_every = 20 + rng.below(20)});
  });
}

bool takes(const sim::SimResult& result, const std::string& text) {
  return std::any_of(result.decision_lines.begin(), result.decision_lines.end(),
                     [&](const std::string& line) { return line.find("\"" + text + "\"") != std::string::npos; });
}

TEST_CASE("The compared logs hold what the scenario is made for") {
  std::set<std::string> missing = {
      "start",   "grow",       "shrink",        "switch",          "preempt",         "launch",      "stop_worker",
      "end_job", "WorkerLost", "ResizedByUser", "SuspendedByUser", "CancelledByUser", "WorkerStuck", "BelowMinimum"};
  for (std::uint64_t seed = 1; seed <= kSeeds && !missing.empty(); ++seed) {
    for (const char* policy : {"autoscaling_engine", "tidal"}) {
      const sim::SimResult result = sim::Simulator(mixed_world(seed, policy)).run();
      std::erase_if(missing, [&](const std::string& text) { return takes(result, text); });
    }
  }
  INFO((missing.empty() ? std::string() : "no log holds " + *missing.begin()));
  CHECK(missing.empty());
}

TEST_CASE("A loop that learns what came together in another order is caught") {
  int caught = 0;
  test::for_each_seed("planted: batches turned round", kSeeds, [&](std::uint64_t seed, Rng&) {
    const sim::SimSetup setup = mixed_world(seed, "tidal");
    const sim::SimResult modelled = sim::Simulator(setup).run();
    const sim::SimResult live = in_live_loop(setup, {.turns_batches_round = true});
    caught += first_difference(modelled, live).line > 0 ? 1 : 0;
  });
  CHECK(caught > 0);
}

}  // namespace
}  // namespace tidepool
