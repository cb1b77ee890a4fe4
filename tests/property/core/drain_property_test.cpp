// The laws of nodes that are being drained, over random lives of a cluster.
#include "core/state/membership.hpp"
#include "core/state/node_labels.hpp"
#include "core/state/utc_time.hpp"
#include "tests/support/decision_laws.hpp"
#include "tests/support/reasons.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

// Of the state after each decision.
void require_drain_laws(const SimulatedWorld& world) {
  for (const auto& [id, node] : world.state().nodes) {
    if (!node.drain) continue;
    for (const WorkerId owner : node.owners) {
      if (!owner) continue;
      const core::Worker& worker = *world.state().find_worker(owner);
      INFO(owner.text() << " on " << id.text() << ", " << core::to_text(worker.phase));
      REQUIRE(worker.started_at <= node.drain->since);
      // One that was told to stop before the drain was asked for has the time that it was given then.
      if (world.now() >= node.drain->deadline) REQUIRE((worker.kill_at || worker.is_gone()));
    }
  }
}

void drain_some(SimulatedWorld& world, Rng& rng, Duration at_most) {
  const NodeId node(1 + rng.below(world.state().next_node - 1));
  const Duration within = Duration::millis(rng.between(0, at_most.count_us() / 1'000));
  if (rng.chance(0.4)) {
    world.learn(core::NodeReclaimNoticed{node, within});
  } else {
    world.learn(core::NodeDrainRequested{node, within, "maintenance"});
  }
}

TEST_CASE("A drained node gets no new worker, and after its deadline none is left that has not been stopped") {
  for_each_seed("drains", 60, [](std::uint64_t seed, Rng& rng) {
    SimulatedWorld world(seed + 9000, true);
    for (int i = 0; i < 200; ++i) {
      world.tick();
      if (rng.chance(0.05)) drain_some(world, rng, Duration::seconds(20));
      decide_and_check(world);
      require_drain_laws(world);
    }
  });
}

// What a drain orders: a job keeps an allowed size, or gives up all with its state saved; and a worker that is stopped
// for it is on its way out, so that its end is no loss of the job's.
void require_drains_lose_nothing(const core::Decision& decision, const core::ClusterState& after) {
  for (const auto& [intent, reason] : decision.plan) {
    const core::Job* job = after.find_job(core::job_of(intent));
    if (const auto* shrink = std::get_if<core::ShrinkIntent>(&intent); shrink != nullptr && job != nullptr) {
      REQUIRE(job->size() >= job->spec.elastic.sizes.front());
    }
    const auto* stop = std::get_if<core::StopWorkerIntent>(&intent);
    if (stop == nullptr || !says<core::reason::DrainStop>(reason)) continue;
    REQUIRE(after.find_worker(stop->worker)->phase == core::WorkerPhase::kLeaving);
    REQUIRE_FALSE(core::contains(job->membership.members, stop->worker));
  }
}

TEST_CASE("No drain takes a job below its minimum or counts as a loss of its workers") {
  for_each_seed("drains without faults", 60, [](std::uint64_t seed, Rng& rng) {
    SimulatedWorld world(seed + 9500, false);
    for (int i = 0; i < 200; ++i) {
      world.tick();
      if (rng.chance(0.1)) drain_some(world, rng, Duration::seconds(60));
      const NodeId back(1 + rng.below(world.state().next_node - 1));
      if (rng.chance(0.1)) world.learn(core::NodeDrainCancelled{back});
      if (rng.chance(0.1)) world.learn(core::NodeReclaimNoticed{back, {}});
      const core::Decision decision = world.engine().decide(world.now());
      const core::ClusterState before = world.state();
      core::Engine after(restless_parts(true), before);
      (void)after.accept(decision);
      require_drains_lose_nothing(decision, after.view());
      decide_and_check(world);
      require_drain_laws(world);
    }
  });
}

// A node is in maintenance when, and only when, a window says so: from its lead before it begins until it ends.
std::size_t require_window_laws(const SimulatedWorld& world) {
  const core::ClusterState& state = world.state();
  std::size_t closed = 0;
  for (const auto& [id, node] : state.nodes) {
    std::optional<Instant> begins;
    std::optional<Instant> ends;
    for (const auto& [number, window] : state.maintenance.windows) {
      const Instant from = core::at_utc(state, window.from_us);
      const Instant to = core::at_utc(state, window.to_us);
      REQUIRE(to > state.now);
      if (from - window.lead > state.now || !core::matches(node, window.selector)) continue;
      begins = begins ? std::min(*begins, from) : from;
      ends = ends ? std::max(*ends, to) : to;
    }
    INFO(id.text());
    const auto maintenance = node.drain ? node.drain->maintenance : std::nullopt;
    REQUIRE(maintenance.has_value() == begins.has_value());
    if (!maintenance) continue;
    ++closed;
    REQUIRE(maintenance->begins == *begins);
    REQUIRE(maintenance->ends == *ends);
    REQUIRE(node.drain->deadline <= *begins);
    REQUIRE_FALSE(node.takes_workers());
  }
  return closed;
}

TEST_CASE("A node is drained for the windows that are due, by the laws of drains, and for no others") {
  std::size_t closed = 0;
  for_each_seed("maintenance windows", 60, [&](std::uint64_t seed, Rng& rng) {
    SimulatedWorld world(seed + 9800, true, restless_parts(true));
    world.close_nodes();
    if (rng.chance(0.5)) world.label_nodes();
    for (int i = 0; i < 200; ++i) {
      world.tick();
      if (rng.chance(0.1)) world.plan_maintenance();
      if (rng.chance(0.05)) drain_some(world, rng, Duration::seconds(20));
      if (rng.chance(0.01)) world.learn(core::UtcSet{rng.between(0, 10'000'000)});
      decide_and_check(world);
      require_drain_laws(world);
      closed += require_window_laws(world);
    }
    check_recovery(world, restless_parts(true));
  });
  if (all_seeds_run()) REQUIRE(closed > 0);
}

// Of the decision: no worker starts on a node that is unsteady then, and what is unsteady is so for its time only.
void require_steady_starts(const SimulatedWorld& world, const std::map<WorkerId, NodeId>& before) {
  for (const auto& [id, worker] : world.state().workers) {
    const core::Node& node = *world.state().find_node(worker.node);
    INFO(id.text() << " on " << worker.node.text());
    if (!before.contains(id)) REQUIRE_FALSE(node.is_unsteady());
  }
  for (const auto& [id, node] : world.state().nodes) {
    if (node.is_unsteady()) REQUIRE(*node.faults->until > world.now());
  }
}

TEST_CASE("An unsteady node gets no new worker, and is steady when its time has come") {
  std::size_t unsteady = 0;
  for_each_seed("unsteady nodes", 60, [&](std::uint64_t seed, Rng& rng) {
    SimulatedWorld world(seed + 9700, true, restless_parts(true));
    world.close_nodes();
    for (int i = 0; i < 200; ++i) {
      world.tick();
      if (rng.chance(0.15)) world.node_acts();
      std::map<WorkerId, NodeId> before;
      for (const auto& [id, worker] : world.state().workers) before.emplace(id, worker.node);
      decide_and_check(world);
      require_steady_starts(world, before);
      for (const auto& [id, node] : world.state().nodes) unsteady += node.is_unsteady() ? 1U : 0U;
    }
    check_recovery(world, restless_parts(true));
  });
  if (all_seeds_run()) REQUIRE(unsteady > 0);
}

}  // namespace
}  // namespace tidepool::test
