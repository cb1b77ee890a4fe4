// How types of slots are divided among tenants whose jobs ask for them, over random trees: the laws of
// core/tenants/type_division.hpp. Each law sees a bug that breaks it.
#include <catch2/catch.hpp>

#include <map>
#include <set>

#include "core/tenants/type_division.hpp"
#include "tests/support/seeds.hpp"
#include "tests/support/tenant_world.hpp"

namespace tidepool::test {
namespace {

using core::SlotsByType;

enum class DivisionBug {
  kNone,
  kOneSlotTooMany,     // of each type more is divided than there is
  kOneSlotLost,        // of each type less
  kInnerNotSummed,     // the parts of inner tenants are not those of the tenants below them
  kMoreThanAsked,      // each ask is for one slot more
  kForgetsGuarantees,  // so that weights and loans alone divide
  kForgetsWhatIsHeld,  // and guarantees are met as if nothing were held for good
  kLendsAll,           // what tenants do not lend is divided, too
};

struct TypedWorld {
  TenantWorld tree;
  SlotsByType slots;
  std::vector<SlotsByType> guarantees;
  std::vector<SlotsByType> held;
  std::vector<core::TypeAsk> asks;
  std::vector<SlotsByType> parts;

  [[nodiscard]] std::size_t types() const { return slots.size(); }
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
  // Beside what is held for good, there is enough of each type for what is guaranteed of it.
  [[nodiscard]] bool guarantees_fit() const {
    for (std::size_t type = 0; type < types(); ++type) {
      int there = slots[type];
      for (const SlotsByType& any : held) there += any[type];
      for (const std::size_t top : tree.below(-1)) there -= guarantees[top][type];
      if (there < 0) return false;
    }
    return true;
  }
  // Of its guarantee, by itself and those below it.
  [[nodiscard]] int unused_by(std::size_t node, std::size_t type) const {
    int used = parts[node][type];
    for (std::size_t leaf = 0; leaf < held.size(); ++leaf) {
      if (held[leaf][type] > 0 && is_below(leaf, node)) used += held[leaf][type];
    }
    return guarantees[node][type] - used;
  }
  [[nodiscard]] bool is_below(std::size_t leaf, std::size_t node) const {
    for (int at = static_cast<int>(leaf); at >= 0; at = tree.nodes[static_cast<std::size_t>(at)].parent) {
      if (at == static_cast<int>(node)) return true;
    }
    return false;
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

// Some leaves hold a part of their guarantee for good, which is not divided any more.
void hold_at_random(TypedWorld& world, Rng& rng) {
  for (std::size_t leaf = 0; leaf < world.tree.nodes.size(); ++leaf) {
    if (!world.tree.is_leaf(leaf) || !rng.chance(0.3)) continue;
    for (std::size_t type = 0; type < world.types(); ++type) {
      const int most = std::min(world.guarantees[leaf][type], world.slots[type]);
      world.held[leaf][type] = static_cast<int>(rng.between(0, most));
      world.slots[type] -= world.held[leaf][type];
    }
  }
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

std::vector<SlotsByType> divided(const TypedWorld& world, DivisionBug bug) {
  TypedWorld wrong = world;
  for (std::size_t type = 0; type < wrong.types(); ++type) {
    if (bug == DivisionBug::kOneSlotTooMany) ++wrong.slots[type];
    if (bug == DivisionBug::kOneSlotLost) wrong.slots[type] = std::max(0, wrong.slots[type] - 1);
  }
  for (core::TypeAsk& ask : wrong.asks) ask.wanted += bug == DivisionBug::kMoreThanAsked ? 1 : 0;
  const std::vector<SlotsByType> nothing(wrong.tree.nodes.size(), SlotsByType(wrong.types(), 0));
  if (bug == DivisionBug::kForgetsGuarantees) wrong.guarantees = nothing;
  if (bug == DivisionBug::kForgetsWhatIsHeld) wrong.held = nothing;
  for (core::TenantNode& node : wrong.tree.nodes) {
    if (bug == DivisionBug::kLendsAll) node.lend.reset();
  }
  auto parts = core::divide_types({.nodes = wrong.tree.nodes, .guarantees = wrong.guarantees, .held = wrong.held},
                                  wrong.slots, wrong.asks);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (bug == DivisionBug::kInnerNotSummed && !world.tree.is_leaf(i)) parts[i] = nothing[i];
  }
  return parts;
}

TypedWorld random_typed_world(Rng& rng, DivisionBug bug = DivisionBug::kNone) {
  TypedWorld world{.tree = random_world(rng)};
  for (std::int64_t n = rng.between(2, 4); n > 0; --n) world.slots.push_back(static_cast<int>(rng.between(0, 24)));
  guarantee_at_random(world, rng);
  hold_at_random(world, rng);
  ask_at_random(world, rng);
  world.parts = divided(world, bug);
  return world;
}

bool is_within_what_there_is(const TypedWorld& world) {
  for (std::size_t type = 0; type < world.types(); ++type) {
    if (world.left_of(type) < 0) return false;
    if (std::any_of(world.parts.begin(), world.parts.end(), [&](const auto& part) { return part[type] < 0; })) {
      return false;
    }
  }
  return true;
}

// An inner tenant's part is what those below it have.
bool adds_up_by_type(const TypedWorld& world) {
  for (std::size_t i = 0; i < world.tree.nodes.size(); ++i) {
    if (world.tree.is_leaf(i)) continue;
    SlotsByType below(world.types(), 0);
    for (const std::size_t child : world.tree.below(static_cast<int>(i))) {
      for (std::size_t type = 0; type < world.types(); ++type) below[type] += world.parts[child][type];
    }
    if (world.parts[i] != below) return false;
  }
  return true;
}

bool is_asked_for(const TypedWorld& world) {
  for (std::size_t i = 0; i < world.tree.nodes.size(); ++i) {
    if (world.tree.is_leaf(i) && world.part_of(i) > world.wanted_by(i)) return false;
  }
  return true;
}

// The asks of leaves that ask for one set of types only.
std::vector<core::TypeAsk> single_asks(const TypedWorld& world) {
  std::map<std::size_t, int> asks_of;
  for (const auto& ask : world.asks) ++asks_of[ask.leaf];
  std::vector<core::TypeAsk> single;
  for (const auto& ask : world.asks) {
    if (asks_of[ask.leaf] == 1) single.push_back(ask);
  }
  return single;
}

// What of its guarantee of these types a leaf does not hold for good.
int owed_to(const TypedWorld& world, const core::TypeAsk& ask) {
  int owed = 0;
  for (const int type : ask.types) {
    const auto index = static_cast<std::size_t>(type);
    owed += world.guarantees[ask.leaf][index] - world.held[ask.leaf][index];
  }
  return owed;
}

// Whatever others ask for, a leaf has what it asks for of one set of types as far as its guarantees of these go.
bool meets_type_guarantees(const TypedWorld& world) {
  const auto asks = single_asks(world);
  return !world.guarantees_fit() || std::all_of(asks.begin(), asks.end(), [&](const auto& ask) {
    return world.part_of(ask.leaf) >= std::min(owed_to(world, ask), ask.wanted);
  });
}

// Nothing is left of a type while a tenant that asks for it alone lacks slots, unless it is not lent.
bool wastes_no_type(const TypedWorld& world) {
  const auto asks = single_asks(world);
  return !world.all_lend() || std::none_of(asks.begin(), asks.end(), [&](const auto& ask) {
    return ask.types.size() == 1 && world.part_of(ask.leaf) < ask.wanted &&
           world.left_of(static_cast<std::size_t>(ask.types.front())) > 0;
  });
}

// Of each type so much is left that those directly under the pool can have what they do not lend of their guarantees.
bool keeps_unlent(const TypedWorld& world) {
  if (!world.guarantees_fit()) return true;
  for (std::size_t type = 0; type < world.types(); ++type) {
    int kept = 0;
    for (const std::size_t top : world.tree.below(-1)) {
      const auto lend = world.tree.nodes[top].lend;
      if (lend) kept += std::max(0, world.unused_by(top, type) - *lend);
    }
    if (world.left_of(type) < kept) return false;
  }
  return true;
}

enum class Law { kWithinWhatThereIs, kAddsUp, kAskedFor, kGuaranteesMet, kNoneWasted, kUnlentKept };
using Laws = std::set<Law>;

Laws broken_laws(const TypedWorld& world) {
  Laws broken;
  if (!is_within_what_there_is(world)) broken.insert(Law::kWithinWhatThereIs);
  if (!adds_up_by_type(world)) broken.insert(Law::kAddsUp);
  if (!is_asked_for(world)) broken.insert(Law::kAskedFor);
  if (!meets_type_guarantees(world)) broken.insert(Law::kGuaranteesMet);
  if (!wastes_no_type(world)) broken.insert(Law::kNoneWasted);
  if (!keeps_unlent(world)) broken.insert(Law::kUnlentKept);
  return broken;
}

// In how many of random worlds a division with this bug breaks each law.
std::map<Law, int> broken_with(DivisionBug bug, const char* name) {
  std::map<Law, int> broken;
  for_each_seed(name, 4, [&](std::uint64_t, Rng& rng) {
    for (int i = 0; i < 500; ++i) {
      for (const Law law : broken_laws(random_typed_world(rng, bug))) ++broken[law];
    }
  });
  return broken;
}

}  // namespace

TEST_CASE("types of slots are divided within what there is, guarantees of them first, and none is wasted") {
  int met = 0;
  for_each_seed("types divided", 20, [&](std::uint64_t, Rng& rng) {
    for (int i = 0; i < 5'000; ++i) {
      const TypedWorld world = random_typed_world(rng);
      INFO("world " << i);
      REQUIRE(broken_laws(world) == Laws());
      if (!world.guarantees_fit()) continue;
      for (const auto& ask : single_asks(world)) met += owed_to(world, ask) > 0 && ask.wanted > 0 ? 1 : 0;
    }
  });
  if (all_seeds_run()) CHECK(met > 10'000);
}

TEST_CASE("planted: a division of types that gives out more than there is, or more than is asked for, is seen") {
  CHECK(broken_with(DivisionBug::kOneSlotTooMany, "a slot too many")[Law::kWithinWhatThereIs] > 0);
  CHECK(broken_with(DivisionBug::kMoreThanAsked, "more than asked")[Law::kAskedFor] > 0);
}

TEST_CASE("planted: parts of inner tenants that are not those of the tenants below them are seen") {
  CHECK(broken_with(DivisionBug::kInnerNotSummed, "not summed up")[Law::kAddsUp] > 0);
}

TEST_CASE("planted: a division that forgets guarantees of types, or what is held of them, is seen by those owed them") {
  CHECK(broken_with(DivisionBug::kForgetsGuarantees, "guarantees forgotten")[Law::kGuaranteesMet] > 0);
  CHECK(broken_with(DivisionBug::kForgetsWhatIsHeld, "what is held forgotten")[Law::kGuaranteesMet] > 0);
}

TEST_CASE("planted: a slot of a type that goes to no tenant is seen, and one that is lent although it is kept") {
  CHECK(broken_with(DivisionBug::kOneSlotLost, "a slot lost")[Law::kNoneWasted] > 0);
  CHECK(broken_with(DivisionBug::kLendsAll, "all lent")[Law::kUnlentKept] > 0);
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
