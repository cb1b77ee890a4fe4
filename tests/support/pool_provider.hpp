// A provider of nodes for a simulated world: it does what the state asks for, at its own pace and with faults.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/facts/nodes/node_removal.hpp"
#include "core/facts/pool_facts.hpp"
#include "tests/support/simulated_world.hpp"

namespace tidepool::test {

// Of the simulated worlds' first type of slot, and soon there and gone.
inline core::PoolSpec fast_pool(const std::string& name, int max) {
  core::PoolSpec pool = pool_spec(name, max);
  pool.slot_type = "fast";
  pool.idle = Duration::seconds(10);
  pool.lead_time = Duration::seconds(5);
  return pool;
}

class PoolProvider {
 public:
  PoolProvider(SimulatedWorld& world, Rng& rng) : world_(world), rng_(rng) {}

  struct Machine {
    std::string pool;
    std::string name;
    int slots = 0;
    bool joins = true;
    bool has_booted = false;
  };

  // What is asked for is done, or fails; lists are told now and then.
  void act(bool faults) {
    const core::NodePools pools = world_.state().pools;
    for (const auto& [request, node] : pools.nodes) {
      if (node.state == core::PoolNodeState::kAsked && rng_.chance(0.6)) create(pools, node, faults);
      const bool ends = node.state == core::PoolNodeState::kReleasing && !node.delete_answered;
      if (ends && !node.backoff.holds(world_.now()) && rng_.chance(0.6)) end(node, faults);
    }
    for (auto& [request, machine] : machines_) {
      if (machine.has_booted || !machine.joins || !rng_.chance(0.4)) continue;
      machine.has_booted = true;
      world_.boot(machine.name, machine.slots);
    }
    if (faults && !machines_.empty() && rng_.chance(0.01)) take_away();
    for (const auto& [name, pool] : pools.pools) {
      if (rng_.chance(0.3)) list(name);
    }
    for (const NodeId node : core::removable_of_pools(world_.state())) REQUIRE(world_.learn(core::NodeRemoved{node}));
  }
  void list(const std::string& pool) {
    core::PoolListed listed{
        .pool = pool, .asked_before = world_.state().pools.next_request, .nodes = {}, .begun_at = world_.now()};
    for (const auto& [request, machine] : machines_) {
      if (machine.pool == pool) listed.nodes.push_back({request, "i-" + std::to_string(request), {}});
    }
    REQUIRE(world_.learn(listed));
  }
  [[nodiscard]] const std::map<core::NodeRequest, Machine>& machines() const { return machines_; }
  void plant(core::NodeRequest request, Machine machine) { machines_[request] = std::move(machine); }

 private:
  void create(const core::NodePools& pools, const core::PoolNode& node, bool faults) {
    const auto draw = faults ? rng_.below(10) : 9;
    const int slots = pools.find(node.pool)->spec.slots_per_node;
    // It answers late or not at all, and the machine is there all the same.
    if (draw != 0) machines_[node.request] = {.pool = node.pool, .name = node.name, .slots = slots, .joins = draw != 1};
    if (draw == 0) {
      world_.learn(core::PoolNodeCreateFailed{node.request, core::ProviderFault::kQuota, "no more than 2"});
    } else if (draw == 2) {
      world_.learn(core::PoolNodeCreateFailed{node.request, core::ProviderFault::kTimeout, "no answer"});
    } else {
      world_.learn(core::PoolNodeCreated{node.request, "i-" + std::to_string(node.request), {}});
    }
  }
  void end(const core::PoolNode& node, bool faults) {
    const auto draw = faults ? rng_.below(6) : 5;
    if (draw == 0) {
      world_.learn(core::PoolNodeDeleteFailed{node.request, core::ProviderFault::kRefused, "try again"});
      return;
    }
    // It says so and the machine runs on: draw is 1.
    if (draw != 1) end_machine(node.request);
    world_.learn(core::PoolNodeDeleted{node.request});
  }
  void take_away() {
    end_machine(std::next(machines_.begin(), static_cast<std::ptrdiff_t>(rng_.below(machines_.size())))->first);
  }
  void end_machine(core::NodeRequest request) {
    const auto found = machines_.find(request);
    if (found == machines_.end()) return;
    const Machine machine = found->second;
    machines_.erase(found);
    if (machine.has_booted) world_.end_machine(machine.name);
  }

  SimulatedWorld& world_;
  Rng& rng_;
  std::map<core::NodeRequest, Machine> machines_;
};

}  // namespace tidepool::test
