// Small worlds for properties of whole runs: a few nodes, a few short jobs, everything drawn from a seed.
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "base/rng.hpp"
#include "core/facts/detector_of.hpp"
#include "policies/registry.hpp"
#include "sim/simulator.hpp"
#include "straggler/change_point_detector.hpp"

namespace tidepool::test {

inline core::Engine::Parts engine_parts(std::string_view policy = "autoscaling_engine") {
  return {.policies = policies::make_policies(policy).value(),
          .stragglers = {std::make_shared<core::DetectorOf<straggler::ChangePointDetector>>()}};
}

// The default policy in half of the worlds; in the others one of each kind: one that sizes single jobs, queues by
// attained service and by arrival.
inline std::string small_policy(Rng& rng) {
  static constexpr const char* kOthers[] = {"autoscaling_engine", "fifo", "las", "tiresias"};
  return rng.chance(0.5) ? std::string(policies::kDefaultPreset) : kOthers[rng.below(std::size(kOthers))];
}

// A third of the clusters have slots of two types, the first node's and the others'.
inline void draw_cluster(sim::SimSetup& setup, Rng& rng) {
  setup.cluster = {.nodes = static_cast<int>(rng.between(1, 3)), .slots_per_node = static_cast<int>(rng.between(1, 3))};
  if (setup.cluster.nodes == 1 || !rng.chance(0.4)) return;
  for (int node = 0; node < setup.cluster.nodes; ++node) {
    setup.kinds.push_back({.slots = setup.cluster.slots_per_node,
                           .slot_type = node == 0 ? "scarce" : "common",
                           .speed = node == 0 ? 1.5 : 1});
  }
}

// What a user may say beside the sizes: all that policies see and jobs declare. Whatever is drawn, the job can run.
inline void declare(sim::SimJob& job, const sim::SimSetup& setup, Rng& rng) {
  core::JobSpec& spec = job.spec;
  if (rng.chance(0.7)) spec.work_samples = job.truth.work_samples;
  job.truth.tells_length = !spec.work_samples;
  if (rng.chance(0.2)) spec.deadline = Duration::seconds(rng.between(5, 120));
  if (!setup.kinds.empty() && rng.chance(0.4)) spec.slot_types = {setup.kinds[rng.below(2)].slot_type};
  if (setup.cluster.slots_per_node > 1 && rng.chance(0.15)) spec.gpus_per_worker = 2;
  if (rng.chance(0.3)) spec.priority = static_cast<int>(rng.between(-1, 2));
  if (rng.chance(0.15)) spec.preemptible = false;
  if (rng.chance(0.2)) spec.elastic.min_runtime = Duration::seconds(rng.between(1, 4));
  spec.pack_node = rng.chance(0.3);
  if (spec.elastic.max > 1) spec.run = core::RunSpec{.command = {spec.elastic.max == 2 ? "one" : "other"}};
  // A slot costs a unit an hour.
  const std::int64_t least = spec.elastic.min * spec.gpus_per_worker;
  if (rng.chance(0.15)) spec.scaling.price_cap = Money::micros(rng.between(least, 2 * least) * 1'000'000);
  if (rng.chance(0.2)) {
    spec.scaling.linear_utility = core::LinearUtility{.value = 1 + rng.uniform(), .zero_at = Duration::seconds(60)};
  } else if (rng.chance(0.1)) {
    spec.scaling.piecewise_utility = core::PiecewiseUtility{{{Duration::seconds(5), 2}, {Duration::seconds(90), -1}}};
  }
}

// Some twelve seconds of work, and nothing said of it; many scale badly, so that sizes are tried and given back.
inline sim::SimJob plain_job(const std::string& name, const sim::SimSetup& setup, Rng& rng) {
  sim::SimJob job{.arrives = Duration::millis(rng.between(0, 10'000))};
  const int max = static_cast<int>(rng.between(1, std::min(4, setup.cluster.slots())));
  const double sigma = rng.chance(0.5) ? 0.9 : 0.4 * rng.uniform();
  job.truth.curve = {.lambda = 100, .sigma = sigma, .kappa = 0.1 * rng.uniform()};
  job.truth.global_batch = 100;
  job.truth.work_samples = rng.between(600, 1'800);
  job.truth.boot = Duration::millis(rng.between(100, 3'000));
  job.truth.switch_stall = Duration::millis(rng.between(10, 500));
  job.spec.name = name;
  job.spec.elastic = {.min = 1, .max = max, .preferred = static_cast<int>(rng.between(1, max))};
  job.spec.elastic.sizes = sim::sizes_between(1, max);
  job.spec.elastic.cooldown = Duration::seconds(2);
  job.spec.elastic.grace = Duration::seconds(3);
  job.spec.batch = {.global = 100, .per_worker_max = 100};
  job.spec.scaling.every_steps = 4;
  job.spec.max_restarts = 1'000;
  return job;
}

inline sim::SimJob small_job(const std::string& name, const sim::SimSetup& setup, Rng& rng) {
  sim::SimJob job = plain_job(name, setup, rng);
  declare(job, setup, rng);
  return job;
}

// How soon messages, reports and a new daemon come, and when the run has taken too long.
inline void draw_pace(sim::SimSetup& setup, Rng& rng) {
  setup.report_every = Duration::seconds(5);
  setup.latency_jitter = Duration::millis(5);
  setup.patience = Duration::seconds(4);
  setup.daemon_restart = Duration::millis(rng.between(10, 3'000));
  setup.limit = Duration::seconds(3'600);
  setup.records_per_snapshot = 8 + rng.below(40);
}

// One plain job on two nodes of four slots, under a policy that sizes single jobs.
inline sim::SimSetup one_job_world() {
  Rng rng(1);
  sim::SimSetup setup{.seed = 1};
  setup.parts = [] { return engine_parts(); };
  setup.cluster = {.nodes = 2, .slots_per_node = 4};
  setup.workload = {.name = "one", .jobs = {plain_job("j1", setup, rng)}};
  draw_pace(setup, rng);
  return setup;
}

// One to three small jobs in the order in which they arrive, and the pace of the world. The cluster is drawn before.
inline void draw_small_jobs(sim::SimSetup& setup, Rng& rng) {
  setup.workload.name = "small";
  const auto jobs = rng.between(1, 3);
  for (std::int64_t i = 1; i <= jobs; ++i) {
    setup.workload.jobs.push_back(small_job("j" + std::to_string(i), setup, rng));
  }
  std::sort(setup.workload.jobs.begin(), setup.workload.jobs.end(),
            [](const auto& a, const auto& b) { return a.arrives < b.arrives; });
  draw_pace(setup, rng);
}

// One to three nodes, one to three jobs, everything drawn from the seed.
inline sim::SimSetup small_world(std::uint64_t seed) {
  Rng rng(seed);
  sim::SimSetup setup{.seed = seed};
  setup.parts = [policy = small_policy(rng)] { return engine_parts(policy); };
  draw_cluster(setup, rng);
  draw_small_jobs(setup, rng);
  return setup;
}

}  // namespace tidepool::test
