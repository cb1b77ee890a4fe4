// The laws of pools, over random lives of a cluster whose nodes come and go by a provider with faults.
#include <set>

#include "core/provision/node_orders.hpp"
#include "core/provision/provision_stage.hpp"
#include "tests/support/decision_laws.hpp"
#include "tests/support/pool_provider.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

core::PoolsConfigured two_pools(Rng& rng) {
  core::PoolSpec steady = fast_pool("steady", static_cast<int>(rng.between(1, 4)));
  core::PoolSpec spot = fast_pool("spot", static_cast<int>(rng.between(0, 4)));
  spot.spot = true;
  spot.price_per_slot_hour = Money::micros(400'000);
  if (rng.chance(0.3)) steady.min = 1;
  return {.spot_share = rng.chance(0.5) ? 1.0 : 0.5, .pools = {steady, spot}};
}

bool holds_workers(const core::ClusterState& state, const core::PoolNode& mine) {
  const core::Node* node = state.find_node(mine.node);
  return node != nullptr && node->state == core::NodeState::kUp &&
         std::any_of(node->owners.begin(), node->owners.end(), [](WorkerId id) { return bool(id); });
}

void require_pool_laws(const core::ClusterState& state) {
  std::set<std::string> names;
  for (const auto& [request, mine] : state.pools.nodes) {
    if (!mine.name.empty()) REQUIRE(names.insert(mine.name).second);
    REQUIRE(state.pools.find(mine.pool) != nullptr);
  }
}

int workers_without(const core::ClusterState& state, const core::Job& job, const std::set<NodeId>& nodes) {
  core::NodeRoom room(state);
  for (const NodeId node : nodes) room.leave_out(node);
  return std::min(core::gang_of(job), room.workers_of(job));
}

// For so long that it could be given back; not one that is drained or away.
bool is_idle(const core::ClusterState& state, const core::PoolNode& mine, Instant now) {
  return mine.state == core::PoolNodeState::kJoined && mine.idle_since && !mine.away_since &&
         now - *mine.idle_since >= state.pools.find(mine.pool)->spec.idle;
}

// No idle node is given back on which a job that is being preempted would start in a moment. Returns whether there was
// such a job and a node that could have been given back. Where others wait, room may be theirs.
bool keeps_nodes_of_preempted(const core::ClusterState& before, const core::Decision& decision, Instant now) {
  std::set<NodeId> given_back;
  for (const auto& [intent, reason] : decision.nodes) {
    const auto* release = std::get_if<core::ReleaseNodeIntent>(&intent);
    if (release == nullptr) continue;
    const core::PoolNode& mine = *before.pools.find_node(release->request);
    if (is_idle(before, mine, now)) given_back.insert(mine.node);
  }
  const auto is_due = [&](const auto& any) { return is_idle(before, any.second, now); };
  const bool any_idle = std::any_of(before.pools.nodes.begin(), before.pools.nodes.end(), is_due);
  bool any = false;
  if (!core::waiting_jobs(before).empty()) return false;
  for (const auto& [id, job] : before.jobs) {
    if (!core::is_being_preempted(*job)) continue;
    any = any_idle;
    INFO(id.text());
    REQUIRE(workers_without(before, *job, given_back) == workers_without(before, *job, {}));
  }
  return any;
}

// Of what a decision plans, on the state before it.
void require_lawful_plan(const core::ClusterState& before, const core::Decision& decision) {
  std::map<std::string, int> leaving;
  std::map<std::string, int> coming;
  for (const auto& [intent, reason] : decision.nodes) {
    if (const auto* create = std::get_if<core::CreateNodeIntent>(&intent)) {
      INFO(create->name);
      REQUIRE(before.pools.count(create->pool) + ++coming[create->pool] <= before.pools.find(create->pool)->spec.max);
    }
    if (const auto* release = std::get_if<core::ReleaseNodeIntent>(&intent)) {
      const core::PoolNode& mine = *before.pools.find_node(release->request);
      REQUIRE_FALSE(holds_workers(before, mine));
      if (release->failed || mine.away_since || mine.state == core::PoolNodeState::kDraining) continue;
      REQUIRE(before.pools.staying(mine.pool) - ++leaving[mine.pool] >= before.pools.find(mine.pool)->spec.min);
    }
  }
}

// Decides until nothing follows; a decision about nodes is one of its own. Counts those in which the law of preempted
// jobs had something to hold for.
std::vector<core::Decision> decide_all(SimulatedWorld& world, std::size_t* nodes_kept = nullptr) {
  std::vector<core::Decision> made;
  for (int round = 0; round < 12; ++round) {
    core::Engine& engine = world.engine();
    const core::Decision decision = engine.decide(world.now());
    REQUIRE(Story::text_of(decision) == Story::text_of(engine.decide_from_scratch(world.now())));
    const auto valid = engine.validate(decision);
    INFO((valid.ok() ? std::string() : valid.error().message));
    REQUIRE(valid.ok());
    require_lawful_plan(world.state(), decision);
    const bool keeps = keeps_nodes_of_preempted(world.state(), decision, world.now());
    if (nodes_kept != nullptr && keeps) ++*nodes_kept;
    const auto as_a_row = core::decision_from_text(core::decision_text(decision));
    REQUIRE(as_a_row.ok());
    REQUIRE(core::to_json(*as_a_row).dump() == core::to_json(decision).dump());
    for (const auto& event : engine.accept(decision)) world.see(event);
    (void)world.take_ended();
    require_books(world.state());
    require_pool_laws(world.state());
    if (decision.empty()) return made;
    world.carry_out(decision);
    made.push_back(decision);
  }
  FAIL("decisions do not come to rest");
  return made;
}

// A node is asked for after another of its pool was given back only if something happened outside in between, or the
// one before was taken out by its operator or its provider.
class FlipFlops {
 public:
  // The state before the decisions that are seen next.
  void look(const core::ClusterState& before) {
    taken_out_.clear();
    for (const auto& [request, planned] : before.pools.nodes) {
      const core::Node* node = before.find_node(planned.node);
      const bool is_drained = node != nullptr && node->drain && (node->drain->asked || node->drain->reclaim);
      if (is_drained && planned.state == core::PoolNodeState::kJoined) taken_out_.insert(request);
    }
  }
  void see(const core::ClusterState& after, const core::Decision& decision) {
    for (const auto& [intent, reason] : decision.nodes) {
      if (const auto* release = std::get_if<core::ReleaseNodeIntent>(&intent);
          release && !release->failed && !taken_out_.contains(release->request)) {
        released_[after.pools.find_node(release->request)->pool] = after.pools.changes;
      }
      const auto* create = std::get_if<core::CreateNodeIntent>(&intent);
      if (create == nullptr || !released_.contains(create->pool)) continue;
      const core::NodePool& pool = *after.pools.find(create->pool);
      INFO(create->name);
      const bool is_minimum = after.pools.staying(create->pool) <= pool.spec.min;
      REQUIRE((after.pools.changes != released_.at(create->pool) || is_minimum || pool.backoff.failures > 0));
    }
  }

 private:
  std::map<std::string, std::uint64_t> released_;
  std::set<core::NodeRequest> taken_out_;
};

TEST_CASE("Pools keep their bounds, empty nodes before they give them back, and never flip-flop") {
  std::size_t nodes_kept = 0;
  for_each_seed("pools", 80, [&](std::uint64_t seed, Rng& rng) {
    SimulatedWorld world(seed + 13'000, seed % 2 == 0);
    PoolProvider provider(world, rng);
    FlipFlops flips;
    REQUIRE(world.learn(two_pools(rng)));
    for (int i = 0; i < 250; ++i) {
      world.tick();
      provider.act(seed % 2 == 0);
      if (rng.chance(0.01)) REQUIRE(world.learn(two_pools(rng)));
      flips.look(world.state());
      for (const core::Decision& decision : decide_all(world, &nodes_kept)) flips.see(world.state(), decision);
      if (rng.chance(0.05)) {
        const auto copy = core::state_from_json(core::to_json(world.state()));
        REQUIRE(copy.ok());
        REQUIRE(core::digest_of(*copy) == core::digest_of(world.state()));
      }
    }
  });
  if (all_seeds_run()) REQUIRE(nodes_kept > 0);
}

TEST_CASE("When all work is done and faults have ended, every node above the minimum is given back and none is left") {
  std::size_t most = 0;
  for_each_seed("pools come to rest", 40, [&](std::uint64_t seed, Rng& rng) {
    SimulatedWorld world(seed + 15'000, true);
    PoolProvider provider(world, rng);
    REQUIRE(world.learn(two_pools(rng)));
    for (int i = 0; i < 150; ++i) {
      world.tick();
      provider.act(true);
      (void)decide_all(world);
      most = std::max(most, provider.machines().size());
    }
    // A machine that nothing in the state speaks of: of a request whose answer was lost.
    provider.plant(world.state().pools.next_request + 3,
                   {.pool = "steady", .name = "steady-99", .slots = 2, .joins = false});
    world.calm_down();
    const auto is_calm = [&] {
      const core::NodePools& pools = world.state().pools;
      return provider.machines().size() == pools.nodes.size() &&
             std::all_of(pools.pools.begin(), pools.pools.end(),
                         [&](const auto& any) { return pools.count(any.first) <= any.second.spec.min; });
    };
    bool goes_on = true;
    for (int round = 0; round < 8'000; ++round) {
      goes_on = world.work_a_round();
      provider.act(false);
      (void)decide_all(world);
      if (!goes_on && is_calm()) break;
    }
    REQUIRE_FALSE(goes_on);
    provider.list("steady");
    provider.list("spot");
    for (const auto& [name, pool] : world.state().pools.pools) {
      REQUIRE(world.state().pools.staying(name) <= pool.spec.min);
    }
    REQUIRE(provider.machines().size() == world.state().pools.nodes.size());
  });
  if (all_seeds_run()) REQUIRE(most >= 3);
}

}  // namespace
}  // namespace tidepool::test
