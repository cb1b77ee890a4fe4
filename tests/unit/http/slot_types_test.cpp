// What an operator is told who guarantees slots that there are not.
#include "schedulerd/live/http/settings/slot_types.hpp"

#include <catch2/catch.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/state/tenant_settings.hpp"

namespace tidepool::live::http {
namespace {

core::ClusterState pool_of(const std::map<std::string, int>& slots) {
  core::ClusterState state;
  for (const auto& [type, count] : slots) {
    core::Node node;
    node.id = NodeId(state.next_node++);
    node.slot_type = type;
    node.owners.resize(static_cast<std::size_t>(count));
    state.nodes.emplace(node.id, node);
  }
  return state;
}

core::TenantTree tree_of(int guarantee, const std::map<std::string, int>& by_type) {
  return {.tenants = {{.name = "lab", .guarantee = guarantee, .guarantee_by_type = by_type},
                      {.name = "vision", .parent = "lab", .guarantee = guarantee, .guarantee_by_type = by_type},
                      {.name = "rival", .guarantee = 2, .guarantee_by_type = {{"a100", 2}}}}};
}

}  // namespace

TEST_CASE("guarantees beyond the pool are warned of, in all and of each type that there is too little of") {
  const core::ClusterState pool = pool_of({{"a100", 4}, {"cpu", 20}});
  CHECK(beyond_pool_warnings(pool, tree_of(2, {{"a100", 2}})).empty());
  CHECK(beyond_pool_warnings(pool, tree_of(9, {{"a100", 3}, {"cpu", 6}})) ==
        std::vector<std::string>{"the guarantees of type a100 of the tenants at the top are 5 slots together, and the "
                                 "pool has 4 of these: until more join, each is met in part, in proportion"});
  CHECK(beyond_pool_warnings(pool, tree_of(23, {{"a100", 2}})) ==
        std::vector<std::string>{"the guarantees of the tenants at the top are 25 slots together, and the pool has 24: "
                                 "until more join, each is met in part, in proportion"});
  // Of a type that there is not at all another warning tells which there are.
  CHECK(beyond_pool_warnings(pool, tree_of(5, {{"h100", 5}})).empty());
}

TEST_CASE("guarantees are added up however large they are") {
  core::TenantTree tree;
  for (int i = 0; i < 300; ++i) {
    tree.tenants.push_back({.name = "t" + std::to_string(i),
                            .guarantee = core::kTenantSlotsMost,
                            .guarantee_by_type = {{"a100", core::kTenantSlotsMost}}});
  }
  CHECK(beyond_pool_warnings(pool_of({{"a100", 4}}), tree) ==
        std::vector<std::string>{"the guarantees of the tenants at the top are 3000000000 slots together, and the pool "
                                 "has 4: until more join, each is met in part, in proportion",
                                 "the guarantees of type a100 of the tenants at the top are 3000000000 slots together, "
                                 "and the pool has 4 of these: until more join, each is met in part, in proportion"});
}

TEST_CASE("of types nothing is said before the first node, or where a pool's nodes have what their agents report") {
  CHECK(beyond_pool_warnings(core::ClusterState(), tree_of(9, {{"a100", 9}})).empty());
  core::ClusterState pool = pool_of({{"a100", 4}});
  pool.pools.pools["spot"].spec = {.name = "spot", .slots_per_node = 8, .max = 2};
  CHECK(beyond_pool_warnings(pool, tree_of(9, {{"a100", 9}})).empty());
  pool.pools.pools["spot"].spec.slot_type = "a100";
  CHECK(beyond_pool_warnings(pool, tree_of(18, {{"a100", 19}})).size() == 1);
  CHECK(beyond_pool_warnings(pool, tree_of(19, {{"a100", 19}})).size() == 2);
}

}  // namespace tidepool::live::http
