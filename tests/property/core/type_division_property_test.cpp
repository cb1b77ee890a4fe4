// How types of slots are divided among tenants whose jobs ask for them, over random trees: the laws of
// core/tenants/type_division.hpp.
#include <catch2/catch.hpp>

#include <map>
#include <set>

#include "core/tenants/type_division.hpp"
#include "tests/support/seeds.hpp"
#include "tests/support/tenant_world.hpp"

namespace tidepool::test {
namespace {

using core::SlotsByType;

struct TypedWorld {
  TenantWorld tree;
  SlotsByType slots;
  std::vector<SlotsByType> guarantees;
  std::vector<SlotsByType> held;
  std::vector<core::TypeAsk> asks;
  std::vector<SlotsByType> parts;

  [[nodiscard]] std::size_t types() const { return slots.size(); }
  [[nodiscard]] std::vector<SlotsByType> divided() const {
    return core::divide_types({.nodes = tree.nodes, .guarantees = guarantees, .held = held}, slots, asks);
  }
  [[nodiscard]] int left_of(std::size_t type) const {
    int left = slots[type];
    for (const std::size_t top : tree.below(-1)) left -= parts[top][type];
    return left;
  }
  [[nodiscard]] std::int64_t wanted_by(std::size_t leaf) const {
    std::int64_t wanted = 0;
    for (const auto& ask : asks) wanted += ask.leaf == leaf ? ask.wanted : 0;
    return wanted;
  }
  [[nodiscard]] std::int64_t part_of(std::size_t leaf) const {
    return std::accumulate(parts[leaf].begin(), parts[leaf].end(), std::int64_t{0});
  }
  [[nodiscard]] bool guarantees_fit() const {
    for (std::size_t type = 0; type < types(); ++type) {
      int promised = 0;
      for (const std::size_t top : tree.below(-1)) promised += guarantees[top][type];
      if (promised > slots[type]) return false;
    }
    return true;
  }
  [[nodiscard]] bool all_lend() const {
    return std::none_of(tree.nodes.begin(), tree.nodes.end(), [](const auto& node) { return node.lend; });
  }
};

// Parts of what their parents are guaranteed of each type, or at the top of what there is.
void guarantee_at_random(TypedWorld& world, Rng& rng) {
  std::map<int, SlotsByType> left;
  left[-1] = world.slots;
  for (std::size_t i = 0; i < world.tree.nodes.size(); ++i) {
    SlotsByType own;
    for (std::size_t type = 0; type < world.types(); ++type) {
      int& of_parent = left[world.tree.nodes[i].parent][type];
      own.push_back(rng.chance(0.4) ? 0 : test::part_of(rng, of_parent));
    }
    left[static_cast<int>(i)] = own;
    world.guarantees.push_back(std::move(own));
    world.held.emplace_back(world.types(), 0);
  }
  if (!rng.chance(0.2)) return;
  for (SlotsByType& own : world.guarantees) own[0] *= 2;  // as when nodes are gone
}

void ask_at_random(TypedWorld& world, Rng& rng) {
  for (std::size_t leaf = 0; leaf < world.tree.nodes.size(); ++leaf) {
    if (!world.tree.is_leaf(leaf)) continue;
    std::set<std::vector<int>> sets;
    for (std::int64_t n = rng.between(0, 3); n > 0; --n) {
      std::vector<int> types;
      for (int type = 0; type < static_cast<int>(world.types()); ++type) {
        if (rng.chance(0.5)) types.push_back(type);
      }
      if (!types.empty()) sets.insert(std::move(types));
    }
    for (const auto& types : sets) {
      world.asks.push_back({.leaf = leaf, .types = types, .wanted = static_cast<int>(rng.between(0, 24))});
    }
  }
}

TypedWorld random_typed_world(Rng& rng) {
  TypedWorld world{.tree = random_world(rng)};
  for (std::int64_t n = rng.between(2, 4); n > 0; --n) world.slots.push_back(static_cast<int>(rng.between(0, 24)));
  guarantee_at_random(world, rng);
  ask_at_random(world, rng);
  world.parts = world.divided();
  return world;
}

void require_sums(const TypedWorld& world) {
  for (std::size_t type = 0; type < world.types(); ++type) {
    REQUIRE(world.left_of(type) >= 0);
    for (std::size_t i = 0; i < world.tree.nodes.size(); ++i) {
      REQUIRE(world.parts[i][type] >= 0);
      if (world.tree.is_leaf(i)) continue;
      int below = 0;
      for (const std::size_t child : world.tree.below(static_cast<int>(i))) below += world.parts[child][type];
      REQUIRE(world.parts[i][type] == below);
    }
  }
  for (std::size_t i = 0; i < world.tree.nodes.size(); ++i) {
    if (world.tree.is_leaf(i)) REQUIRE(world.part_of(i) <= world.wanted_by(i));
  }
}

// Whatever others ask for, a leaf has what it asks for of one set of types as far as its guarantees of these go.
int require_type_guarantees(const TypedWorld& world) {
  int met = 0;
  if (!world.guarantees_fit()) return met;
  std::map<std::size_t, int> asks_of;
  for (const auto& ask : world.asks) ++asks_of[ask.leaf];
  for (const auto& ask : world.asks) {
    if (asks_of[ask.leaf] > 1) continue;
    int promised = 0;
    for (const int type : ask.types) promised += world.guarantees[ask.leaf][static_cast<std::size_t>(type)];
    INFO("tenant " << ask.leaf << " is guaranteed " << promised << " and asks for " << ask.wanted);
    REQUIRE(world.part_of(ask.leaf) >= std::min(promised, ask.wanted));
    met += promised > 0 && ask.wanted > 0 ? 1 : 0;
  }
  return met;
}

// Nothing is left of a type while a tenant that asks for it alone lacks slots, unless it is not lent.
void require_no_type_wasted(const TypedWorld& world) {
  if (!world.all_lend()) return;
  for (const auto& ask : world.asks) {
    const bool lacks = world.part_of(ask.leaf) < world.wanted_by(ask.leaf);
    if (!lacks || ask.types.size() > 1) continue;
    const bool asks_once =
        std::count_if(world.asks.begin(), world.asks.end(), [&](const auto& any) { return any.leaf == ask.leaf; }) == 1;
    if (asks_once) REQUIRE(world.left_of(static_cast<std::size_t>(ask.types.front())) == 0);
  }
}

}  // namespace

TEST_CASE("types of slots are divided within what there is, guarantees of them first, and none is wasted") {
  int met = 0;
  for_each_seed("types divided", 20, [&](std::uint64_t, Rng& rng) {
    for (int i = 0; i < 5'000; ++i) {
      const TypedWorld world = random_typed_world(rng);
      INFO("world " << i);
      require_sums(world);
      met += require_type_guarantees(world);
      require_no_type_wasted(world);
    }
  });
  if (all_seeds_run()) CHECK(met > 10'000);
}

TEST_CASE("what a tenant holds for good of a type counts as had of its guarantee, and what is not lent is kept") {
  const std::vector<core::TenantNode> nodes = {{.guarantee = 8, .lend = 1}, {.guarantee = 0}};
  const std::vector<SlotsByType> guarantees = {{4, 0}, {0, 0}};
  const std::vector<core::TypeAsk> asks = {{.leaf = 0, .types = {0}, .wanted = 1},
                                           {.leaf = 1, .types = {0}, .wanted = 8}};
  const std::vector<SlotsByType> none = {{0, 0}, {0, 0}};
  CHECK(core::divide_types({.nodes = nodes, .guarantees = guarantees, .held = none}, {4, 4}, asks) ==
        std::vector<SlotsByType>{{1, 0}, {1, 0}});  // two are kept
  // Three of the four that are guaranteed are held: the fourth comes first, the rest by water level.
  const std::vector<SlotsByType> firm = {{3, 0}, {0, 0}};
  const std::vector<core::TypeAsk> more = {{.leaf = 0, .types = {0}, .wanted = 4},
                                           {.leaf = 1, .types = {0}, .wanted = 4}};
  const std::vector<core::TenantNode> lending = {{.guarantee = 8}, {.guarantee = 0}};
  CHECK(core::divide_types({.nodes = lending, .guarantees = guarantees, .held = firm}, {5, 4}, more) ==
        std::vector<SlotsByType>{{3, 0}, {2, 0}});
}

}  // namespace tidepool::test
