// Bugs planted on purpose, to show that the laws would catch them: a planner that gives a slot twice, one
// that forgets a worker's release, one that loses a member, one that repeats a worker's id, and one that goes on with a
// part of a group.
#include "core/validate/plan_validator.hpp"
#include "tests/support/seeds.hpp"
#include "tests/support/simulated_world.hpp"

namespace tidepool::test {
namespace {

std::vector<core::WorkerPlacement>* joining_workers_of(core::Intent& intent) {
  if (auto* start = std::get_if<core::StartIntent>(&intent)) return &start->joining_workers;
  if (auto* grow = std::get_if<core::GrowIntent>(&intent)) return &grow->joining_workers;
  return nullptr;
}

// Some slot of the cluster that a worker owns.
std::optional<std::pair<NodeId, int>> owned_slot(const core::ClusterState& state) {
  for (const auto& [id, worker] : state.workers) {
    if (!worker.is_gone()) return std::pair(worker.node, worker.slots.front());
  }
  return std::nullopt;
}

// Gives the first joining worker's slot a second owner. False if the decision places no worker.
bool give_a_slot_twice(core::Decision& decision, const core::ClusterState& state) {
  const auto taken = owned_slot(state);
  for (auto& planned : decision.plan) {
    auto* joining_workers = joining_workers_of(planned.intent);
    if (joining_workers == nullptr) continue;
    if (joining_workers->size() > 1) {
      (*joining_workers)[1].node = (*joining_workers)[0].node;
      (*joining_workers)[1].slots = (*joining_workers)[0].slots;
      return true;
    }
    if (!taken || (*joining_workers)[0].slots.size() != 1) continue;
    (*joining_workers)[0].node = taken->first;
    (*joining_workers)[0].slots = {taken->second};
    return true;
  }
  return false;
}

TEST_CASE("A slot given twice is caught by the validator, in every life") {
  int caught = 0;
  for_each_seed("slot given twice", 20, [&](std::uint64_t seed, Rng&) {
    SimulatedWorld world(seed + 4000, true);
    for (int i = 0; i < 120; ++i) {
      world.tick();
      const auto decision = world.engine().decide(world.now());
      auto spoilt = decision;
      if (give_a_slot_twice(spoilt, world.state())) {
        const auto refused = world.engine().validate(spoilt);
        REQUIRE_FALSE(refused.ok());
        REQUIRE((refused.error().message.starts_with("SlotHasOneOwner") ||
                 refused.error().message.starts_with("SlotsAreOfTheTypeAskedFor") ||
                 refused.error().message.starts_with("NodeIsUsable")));
        ++caught;
      }
      for (const auto& event : world.engine().accept(decision)) world.see(event);
      world.carry_out(decision);
    }
  });
  CHECK(caught > 0);
}

TEST_CASE("A release that is forgotten is caught by the invariants, in every life") {
  int caught = 0;
  for_each_seed("lost release", 20, [&](std::uint64_t seed, Rng&) {
    SimulatedWorld world(seed + 5000, true);
    for (int i = 0; i < 120; ++i) {
      const core::ClusterState before = world.state();
      world.tick();
      // The mutant drops a worker from its job and from the list, but its slots keep the owner.
      for (const auto& [id, worker] : before.workers) {
        if (world.state().find_worker(id) != nullptr) continue;
        core::ClusterState mutant = world.state();
        auto& owners = mutant.nodes.edit(worker.node).owners;
        const auto slot = static_cast<std::size_t>(worker.slots.front());
        if (slot >= owners.size() || owners[slot]) continue;
        owners[slot] = id;
        const auto broken = core::broken_invariant(mutant);
        REQUIRE(broken);
        REQUIRE(broken->starts_with("NoLostRelease"));
        ++caught;
      }
      const auto decision = world.engine().decide(world.now());
      for (const auto& event : world.engine().accept(decision)) world.see(event);
      world.carry_out(decision);
    }
  });
  CHECK(caught > 0);
}

TEST_CASE("A switch that forgets a member or counts one twice is caught") {
  int caught = 0;
  for_each_seed("bad switch", 20, [&](std::uint64_t seed, Rng&) {
    SimulatedWorld world(seed + 6000, true);
    for (int i = 0; i < 120; ++i) {
      world.tick();
      const auto decision = world.engine().decide(world.now());
      for (std::size_t at = 0; at < decision.plan.size(); ++at) {
        const auto* next = std::get_if<core::SwitchIntent>(&decision.plan[at].intent);
        if (next == nullptr) continue;
        auto spoilt = decision;
        auto& members = std::get<core::SwitchIntent>(spoilt.plan[at].intent).members;
        members.push_back(members.front());
        REQUIRE_FALSE(world.engine().validate(spoilt).ok());
        members = {WorkerId(world.state().next_worker)};
        REQUIRE_FALSE(world.engine().validate(spoilt).ok());
        ++caught;
      }
      for (const auto& event : world.engine().accept(decision)) world.see(event);
      world.carry_out(decision);
    }
  });
  CHECK(caught > 0);
}

TEST_CASE("A planner that goes on with part of a group of workers is caught by the validator, in every life") {
  int caught = 0;
  for_each_seed("split group", 20, [&](std::uint64_t seed, Rng&) {
    SimulatedWorld world(seed + 7000, true);
    world.rule_jobs(1);
    for (int i = 0; i < 300; ++i) {
      world.tick();
      const auto decision = world.engine().decide(world.now());
      for (std::size_t at = 0; at < decision.plan.size(); ++at) {
        const auto* next = std::get_if<core::SwitchIntent>(&decision.plan[at].intent);
        if (next == nullptr || world.state().find_job(next->job)->spec.elastic.group == 1) continue;
        auto spoilt = decision;
        std::get<core::SwitchIntent>(spoilt.plan[at].intent).members.pop_back();
        const auto refused = world.engine().validate(spoilt);
        REQUIRE_FALSE(refused.ok());
        REQUIRE(refused.error().message.starts_with("GroupsAreWhole"));
        ++caught;
      }
      for (const auto& event : world.engine().accept(decision)) world.see(event);
      world.carry_out(decision);
    }
  });
  CHECK(caught > 0);
}

}  // namespace
}  // namespace tidepool::test
