// What must hold at the end of every run, whatever broke on the way, and the ways in which the daemon dies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "core/explain/explain.hpp"
#include "tests/sim/small_world.hpp"

namespace tidepool::test {

// Seeds of each property.
inline constexpr std::uint64_t kSeeds = 200;

// The first law that the run broke, in words; nothing if it is sound.
inline std::optional<std::string> broken_law(const sim::SimResult& result) {
  if (!result.violations.empty()) return result.violations.front();
  for (const auto& row : result.rows) {
    if (row.state != core::JobState::kSucceeded) {
      const core::Job& job = *result.jobs.at(row.id);
      return row.name + " did not succeed: " + core::to_text(row.state) + ", " + core::sentence(job.verdict.reason);
    }
    if (row.steps != row.steps_wanted) return row.name + " committed another number of steps than its work has";
    const core::Job& job = *result.jobs.at(row.id);
    if (job.spec.resize == core::ResizeMode::kRestart) continue;  // its program tells nothing
    if (job.progress.step != row.steps_wanted) return row.name + " ended at another step";
    if (job.progress.samples != row.steps_wanted * job.spec.batch.global) return row.name + " counted other samples";
  }
  for (const auto& [id, node] : result.state.nodes) {
    for (const WorkerId owner : node.owners) {
      if (owner) return "a slot of " + node.name + " was never given back";
    }
  }
  if (!result.complete) return "the run did not come to rest";
  return std::nullopt;
}

inline sim::SimResult run(sim::SimSetup setup) {
  return sim::Simulator(std::move(setup)).run();
}

// Dies once, at this write and point.
inline sim::CrashPlan once(std::uint64_t at, sim::CrashPoint point) {
  return [=](std::uint64_t write) { return write == at ? std::optional(point) : std::nullopt; };
}

// Journals as if it could die, and never does.
inline sim::CrashPlan never() {
  return [](std::uint64_t) { return std::nullopt; };
}

// Dies at about a quarter of all writes, at points drawn from the seed.
inline sim::CrashPlan often(std::uint64_t seed) {
  return [seed](std::uint64_t write) -> std::optional<sim::CrashPoint> {
    Rng rng(seed * 1'000'003 + write);
    if (!rng.chance(0.25)) return std::nullopt;
    return static_cast<sim::CrashPoint>(rng.below(3));
  };
}

// Each kind of fault in half of the seeds.
inline sim::FaultMix faults(std::uint64_t seed) {
  Rng rng(seed ^ 0xfa01U);
  const auto every = [&](std::int64_t seconds) { return rng.chance(0.5) ? Duration::seconds(seconds) : Duration(); };
  return {.node_crash_every = every(60),
          .node_cut_off_every = every(40),
          .worker_death_every = every(30),
          .worker_slow_every = every(60),
          .worker_ignores_every = every(40),
          .worker_stuck_every = every(40),
          .two_deaths_every = every(60),
          .mean_node_outage = Duration::seconds(6),
          .until = Duration::seconds(90)};
}

// The broken law with what the engine refused on the way, to find out why.
inline std::string words(const sim::SimResult& result, const std::string& law) {
  std::string text = law;
  for (const auto& refused : result.refused) text += "\n  refused: " + refused;
  return text;
}

// Runs it, and every law must hold.
inline sim::SimResult run_soundly(const sim::SimSetup& setup) {
  sim::SimResult result = run(setup);
  const auto law = broken_law(result);
  INFO((law ? words(result, *law) : std::string()));
  REQUIRE_FALSE(law);
  return result;
}

// The same with a daemon that dies often, among failing nodes and workers.
inline sim::SimSetup troubled(sim::SimSetup setup, std::uint64_t seed) {
  setup.crash_plan = often(seed);
  setup.faults = faults(seed);
  return setup;
}

}  // namespace tidepool::test
