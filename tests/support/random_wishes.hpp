// What users and operators of a random world ask for.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "base/rng.hpp"
#include "core/state/cluster_state.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::test {

inline core::Selector random_selector(Rng& rng) {
  core::Selector selector;
  if (rng.chance(0.8)) selector["rack"] = {rng.chance(0.5) ? "r1" : "r2"};
  if (rng.chance(0.3)) selector["disk"] = {"ssd"};
  if (rng.chance(0.2)) selector["rack"] = {"r2", "r1"};
  if (rng.chance(0.1)) selector["node"] = {"n1", "n2"};
  if (rng.chance(0.1)) selector["slot_type"] = {"fast"};
  return selector;
}

inline core::LabelChanges random_labels(Rng& rng) {
  const auto draw = [&](std::initializer_list<const char*> values) -> std::optional<std::string> {
    if (rng.chance(0.2)) return std::nullopt;
    return std::string(*(values.begin() + rng.below(values.size())));
  };
  return {{"rack", draw({"r1", "r2"})}, {"disk", draw({"hdd", "ssd"})}};
}

// Bytes that a slot's share of a node is; some agents tell none, and some bound none.
inline std::optional<std::int64_t> random_share(Rng& rng) {
  if (rng.chance(0.1)) return std::nullopt;
  return rng.chance(0.1) ? 0 : rng.between(1, 4) * 1'000;
}

// How workers lie among domains, and whether they share nodes.
inline void draw_rules(core::PlacementSpec& placement, Rng& rng) {
  using enum core::TopologyStrategy;
  placement.strategy = std::array{kPack, kSpread, kStrictPack, kStrictSpread}[rng.below(4)];
  placement.key = std::array{"node", "rack", "disk"}[rng.below(3)];
  placement.exclusive = rng.chance(0.3);
}

// Its sizes become so many groups, whose workers lie together.
inline void draw_groups(core::JobSpec& spec, Rng& rng) {
  core::ElasticSpec& elastic = spec.elastic;
  elastic.group = static_cast<int>(rng.between(2, 3));
  elastic.min *= elastic.group;
  elastic.max *= elastic.group;
  elastic.preferred *= elastic.group;
  for (int& size : elastic.sizes) size *= elastic.group;
  using enum core::TopologyStrategy;
  core::PlacementSpec& placement = spec.placement;
  if (placement.strategy == kSpread || placement.strategy == kStrictSpread) placement.strategy = kPack;
}

// Sizes, times and bounds of a job. `plain`: each worker holds one slot.
inline JobSketch random_sketch(bool plain, Rng& rng) {
  JobSketch sketch;
  sketch.gpus = !plain && rng.chance(0.2) ? 2 : 1;
  sketch.min = static_cast<int>(rng.between(1, 3));
  sketch.max = sketch.min + static_cast<int>(rng.between(0, 4));
  sketch.preferred = static_cast<int>(rng.between(sketch.min, sketch.max));
  for (int size = sketch.min; size <= sketch.max; ++size) {
    if (size == sketch.min || rng.chance(0.7)) sketch.sizes.push_back(size);
  }
  sketch.pack = rng.chance(0.5);
  sketch.priority = static_cast<int>(rng.between(-1, 1));
  sketch.max_restarts = static_cast<int>(rng.between(0, 5));
  sketch.cooldown = Duration::millis(rng.between(0, 6000));
  sketch.min_runtime = Duration::millis(rng.between(0, 3000));
  sketch.grace = Duration::millis(rng.between(0, 5000));
  if (rng.chance(0.1)) sketch.price_cap = Money::micros(rng.between(1, 9'000'000));
  if (rng.chance(0.1)) sketch.max_duration = Duration::seconds(rng.between(1, 60));
  if (rng.chance(0.1)) sketch.batch = 2;
  return sketch;
}

// What a user may say of a job beside its sizes. `plain`: no deadline.
inline void declare(core::JobSpec& spec, bool plain, Rng& rng) {
  if (spec.elastic.max > 1) spec.run = core::RunSpec{.command = {spec.elastic.max == 2 ? "one" : "other"}};
  if (rng.chance(0.3)) spec.work_samples = rng.between(1, 100) * spec.batch.global;
  if (!plain && rng.chance(0.2)) spec.deadline = Duration::seconds(rng.between(1, 600));
  if (rng.chance(0.2)) spec.scaling.efficiency_threshold = rng.uniform();
  if (rng.chance(0.2)) {
    spec.scaling.linear_utility =
        core::LinearUtility{.value = 10 * rng.uniform(), .zero_at = Duration::seconds(rng.between(1, 600))};
  } else if (rng.chance(0.1)) {
    spec.scaling.piecewise_utility =
        core::PiecewiseUtility{{{Duration::seconds(rng.between(0, 60)), 2}, {Duration::seconds(100), -1}}};
  }
}

// Of these nodes: begun, due or to come within seconds; some come again.
inline core::MaintenanceWindow random_window(const core::ClusterState& state, Instant now, core::Selector selector,
                                             Rng& rng) {
  core::MaintenanceWindow window{.number = state.maintenance.next,
                                 .selector = std::move(selector),
                                 .lead = Duration::millis(rng.between(0, 10'000)),
                                 .every = {},
                                 .reason = "firmware"};
  const Duration length = Duration::millis(rng.between(1, 20'000));
  window.from_us = (now + Duration::millis(rng.between(-5'000, 20'000))).count_us() + state.utc_us_at_zero;
  window.to_us = window.from_us + length.count_us();
  if (rng.chance(0.3)) window.every = length + Duration::millis(rng.between(0, 20'000));
  return window;
}

// Half of the programs know how long they are, some of them wrongly.
inline core::WorkerReady random_ready(WorkerId id, Rng& rng) {
  core::WorkerReady fact{.worker = id};
  if (rng.chance(0.3)) fact.work_steps = rng.between(1, 200);
  if (!fact.work_steps && rng.chance(0.3)) fact.work_samples = rng.between(1, 20'000);
  return fact;
}

}  // namespace tidepool::test
