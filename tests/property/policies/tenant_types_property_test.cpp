// Tenants with guarantees of types of slots: every law of decisions holds over random lives of a cluster, and in pools
// at rest a guarantee of a type is had back in one decision.
#include <catch2/catch.hpp>

#include <set>

#include "tests/support/decision_laws.hpp"
#include "tests/support/policy_parts.hpp"
#include "tests/support/random_tenants.hpp"
#include "tests/support/seeds.hpp"
#include "tests/support/shared_pool.hpp"

namespace tidepool::test {
namespace {

// Of what each tenant is guaranteed, and its parent of each type.
void promise_types(core::TenantTree& tree, Rng& rng, const std::vector<std::string>& types) {
  std::map<std::pair<std::string, std::string>, int> left;  // by tenant and type
  for (core::Tenant& tenant : tree.tenants) {
    int rest = tenant.guarantee;
    for (const std::string& type : types) {
      int of_parent = tenant.parent.empty() ? rest : std::min(rest, left[{tenant.parent, type}]);
      const int slots = part_of(rng, of_parent);
      rest -= slots;
      if (!tenant.parent.empty()) left[{tenant.parent, type}] -= slots;
      left[{tenant.name, type}] = slots;
      if (slots > 0) tenant.guarantee_by_type[type] = slots;
    }
  }
}

core::TenantTree typed_tree(Rng& rng, int guaranteed) {
  core::TenantTree tree = random_tenants(rng, guaranteed);
  promise_types(tree, rng, {"fast", "slow"});
  REQUIRE(core::check_tenants(tree).ok());
  return tree;
}

// What tenants may have of a type together is no more than there is.
std::size_t require_type_laws(const core::ClusterState& state) {
  std::map<std::string, int> slots;
  for (const auto& [id, node] : state.nodes) slots[node.slot_type] += static_cast<int>(node.owners.size());
  std::map<std::string, int> parts;
  std::size_t bounded = 0;
  for (const auto& [name, plan] : state.plan.tenants) {
    INFO(name);
    bounded += plan.of_types.empty() ? 0 : 1;
    for (const auto& [type, most] : plan.of_types) parts[type] += most;
  }
  for (const auto& [type, sum] : parts) REQUIRE(sum <= slots[type]);
  return bounded;
}

}  // namespace

TEST_CASE("whatever guarantees of types tenants have, every law of decisions holds") {
  std::size_t bounded = 0;
  for_each_seed("typed tenants", 40, [&](std::uint64_t seed, Rng& rng) {
    for (const std::string policy : {"tidal", "las"}) {
      INFO(policy);
      SimulatedWorld world(3 * seed, true, parts_of(policy));  // of two types of slots
      if (seed % 3 != 0) world.strain();
      REQUIRE(world.share_among(typed_tree(rng, static_cast<int>(rng.between(0, 20)))));
      for (int i = 0; i < 120; ++i) {
        world.tick();
        if (rng.chance(0.03)) (void)world.share_among(typed_tree(rng, static_cast<int>(rng.between(0, 20))));
        decide_and_check(world);
        REQUIRE(world.state().plan.error == "");
        bounded += require_type_laws(world.state());
      }
    }
  });
  if (all_seeds_run()) CHECK(bounded > 10);
}

TEST_CASE("a guarantee of a type is had back from all that hold it, and then nothing moves") {
  int taken = 0;
  for_each_seed("typed claims", 100, [&](std::uint64_t, Rng& rng) {
    const int each = static_cast<int>(rng.between(2, 6));
    SharedPool pool({}, each, rng.chance(0.5) ? "tidal" : "las");
    for (const auto& [type, slots] : {std::pair{"new", each}, {"third", 1}}) {
      pool.story.learn(core::NodeJoined{pool.story.engine().node_id_for(type), type, slots, type, Money(), {}});
    }
    const int promised = static_cast<int>(rng.between(1, each));
    pool.configure({{.name = "claims", .guarantee = promised, .guarantee_by_type = {{"new", promised}}},
                    {.name = "one", .weight = rng.between(1, 4)},
                    {.name = "two", .weight = rng.between(1, 4)}});
    const auto submit = [&](const std::string& tenant, int size, std::vector<std::string> types) {
      core::JobSpec spec = SharedPool::spec(tenant, size);
      spec.slot_types = std::move(types);
      spec.elastic.cooldown = Duration();
      return pool.submit(spec);
    };
    for (std::int64_t jobs = rng.between(2, 8); jobs > 0; --jobs) {
      std::vector<std::string> types;
      if (rng.chance(0.7)) types.emplace_back("new");
      if (!types.empty() && rng.chance(0.4)) types.emplace_back("cpu");
      // Past a single worker that may be anywhere the decision after may start another job, which Story refuses.
      const int least = types.empty() ? 2 : 1;
      (void)submit(rng.chance(0.5) ? "one" : "two", static_cast<int>(rng.between(least, std::min(3, each))), types);
    }
    pool.settle_all();
    pool.story.pass(Duration::seconds(61));
    pool.settle_all();
    const JobId claim = submit("claims", promised, {"new"});
    const int preempted = preempted_in(pool.story.decide());
    taken += preempted;
    pool.settle_all();
    INFO("a claim of " << promised << " of " << each);
    for (int i = 0; i < 3; ++i) {
      pool.story.pass(Duration::seconds(61));
      (void)pool.story.decide();
      pool.settle_all();
    }
    CHECK(pool.story.job(claim).size() == promised);
    for (const WorkerId worker : pool.story.job(claim).membership.workers) {
      CHECK(pool.story.state().find_node(pool.story.worker(worker).node)->slot_type == "new");
    }
    CHECK(pool.story.decide().plan.empty());
  });
  if (all_seeds_run()) CHECK(taken > 30);
}

}  // namespace tidepool::test
