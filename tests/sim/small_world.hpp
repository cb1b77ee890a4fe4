// Small worlds for properties of whole runs: a few nodes, a few short jobs, everything drawn from a seed.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/rng.hpp"
#include "policies/registry.hpp"
#include "schedulerd/core/detector_of.hpp"
#include "schedulerd/sim/simulator.hpp"
#include "straggler/change_point_detector.hpp"

namespace tidepool::test {

inline core::Engine::Parts engine_parts(std::string_view policy = "autoscaling_engine") {
  return {.policies = policies::make_policies(policy).value(),
          .detector = std::make_shared<core::DetectorOf<straggler::ChangePointDetector>>()};
}

// One to three nodes, one to three jobs of some twelve seconds of work, all allowed sizes small.
inline sim::SimSetup small_world(std::uint64_t seed) {
  Rng rng(seed);
  sim::SimSetup setup{.parts = [] { return engine_parts(); }, .seed = seed};
  setup.cluster = {.nodes = static_cast<int>(rng.between(1, 3)), .slots_per_node = static_cast<int>(rng.between(1, 3))};
  setup.workload.name = "small";
  const auto jobs = rng.between(1, 3);
  for (std::int64_t i = 1; i <= jobs; ++i) {
    sim::SimJob job{.arrives = Duration::millis(rng.between(0, 10'000))};
    const int max = static_cast<int>(rng.between(1, std::min(4, setup.cluster.slots())));
    // Many scale badly, so that sizes are tried and given back.
    const double sigma = rng.chance(0.5) ? 0.9 : 0.4 * rng.uniform();
    job.truth.curve = {.lambda = 100, .sigma = sigma, .kappa = 0.1 * rng.uniform()};
    job.truth.global_batch = 100;
    job.truth.work_samples = rng.between(600, 1'800);
    job.truth.boot = Duration::millis(rng.between(100, 3'000));
    job.truth.switch_stall = Duration::millis(rng.between(10, 500));
    job.spec.name = "j" + std::to_string(i);
    job.spec.elastic = {.min = 1, .max = max, .preferred = static_cast<int>(rng.between(1, max))};
    job.spec.elastic.sizes = sim::sizes_between(1, max);
    job.spec.elastic.cooldown = Duration::seconds(2);
    job.spec.elastic.grace = Duration::seconds(3);
    job.spec.batch = {.global = 100, .per_worker_max = 100};
    job.spec.scaling.every_steps = 4;
    job.spec.work_samples = job.truth.work_samples;
    job.spec.max_restarts = 1'000;
    job.spec.document = "{}";
    setup.workload.jobs.push_back(std::move(job));
  }
  std::sort(setup.workload.jobs.begin(), setup.workload.jobs.end(),
            [](const auto& a, const auto& b) { return a.arrives < b.arrives; });
  setup.report_every = Duration::seconds(5);
  setup.latency_jitter = Duration::millis(5);
  setup.patience = Duration::seconds(4);
  setup.daemon_restart = Duration::millis(rng.between(10, 3'000));
  setup.limit = Duration::seconds(3'600);
  setup.records_per_snapshot = 8 + rng.below(40);
  return setup;
}

}  // namespace tidepool::test
