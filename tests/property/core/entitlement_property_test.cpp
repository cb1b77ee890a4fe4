// What tenants are entitled to, over random trees. The laws are those of docs/fairness.md.
#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>

#include "tests/support/seeds.hpp"
#include "tests/support/tenant_world.hpp"

namespace tidepool::test {
namespace {

// Of siblings that want more, none with a weight is behind another that has more than it is set aside, by more than a
// slot.
bool is_level(const TenantWorld& world) {
  for (int parent = -1; parent < static_cast<int>(world.nodes.size()); ++parent) {
    for (const std::size_t poor : world.below(parent)) {
      const core::TenantNode& node = world.nodes[poor];
      if (!world.is_leaf(poor) || node.weight == 0 || world.shares[poor] >= node.wanted || !world.may_have_more(poor)) {
        continue;
      }
      const int poor_surplus = std::max(0, world.shares[poor] - node.guarantee);
      for (const std::size_t rich : world.below(parent)) {
        const core::TenantNode& other = world.nodes[rich];
        const int surplus = world.shares[rich] - other.guarantee;
        if (rich == poor || !world.is_leaf(rich) || surplus <= 0) continue;
        if (other.weight == 0) return false;
        const double level = (poor_surplus + node.loan + 1) / static_cast<double>(node.weight);
        if ((surplus + other.loan - 1) / static_cast<double>(other.weight) > level + 1e-6) return false;
      }
    }
  }
  return true;
}

// Siblings in another order get the same.
void require_names_decide_nothing(const TenantWorld& world, Rng& rng) {
  std::vector<core::TenantNode> exact = world.nodes;
  // None is as good as another, so that no place in the tree decides.
  if (sum_of_guarantees(world) > world.slots) return;
  for (std::size_t i = 0; i < exact.size(); ++i) exact[i].loan += 1e-3 * static_cast<double>(i);
  const std::vector<int> before = core::entitlements(exact, world.slots);
  // Every second tenant of the last level without others below it changes places with its neighbour.
  std::vector<std::size_t> order(exact.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    const bool are_siblings = exact[i].parent == exact[i + 1].parent;
    if (are_siblings && world.is_leaf(i) && world.is_leaf(i + 1) && rng.chance(0.5))
      std::swap(order[i], order[i + 1]), ++i;
  }
  std::vector<core::TenantNode> renamed;
  for (const std::size_t i : order) renamed.push_back(exact[i]);
  const std::vector<int> after = core::entitlements(renamed, world.slots);
  for (std::size_t place = 0; place < order.size(); ++place) REQUIRE(after[place] == before[order[place]]);
}

}  // namespace

TEST_CASE("in any tree guarantees come first, nothing is wasted, and what is left is shared evenly by weight") {
  for_each_seed("entitlements", 20, [](std::uint64_t, Rng& rng) {
    for (int i = 0; i < 5'000; ++i) {
      const TenantWorld world = random_world(rng);
      require_sums(world);
      require_guarantees(world);
      require_limits(world);
      require_no_waste(world);
      REQUIRE(is_level(world));
      require_names_decide_nothing(world, rng);
    }
  });
}

TEST_CASE("no tenant is entitled to more than it may hold, and one that alone wants slots has as many as that") {
  for_each_seed("most held", 10, [](std::uint64_t, Rng& rng) {
    int reached = 0;
    for (int i = 0; i < 1'000; ++i) {
      const TenantWorld world = random_world(rng);
      if (sum_of_guarantees(world) > world.slots) continue;
      const std::vector<std::int64_t> most = core::most_held(world.nodes, world.slots);
      for (std::size_t at = 0; at < most.size(); ++at) REQUIRE(world.shares[at] <= most[at]);
      const std::size_t leaf = rng.below(world.nodes.size());
      if (!world.is_leaf(leaf)) continue;
      std::vector<core::TenantNode> alone = world.nodes;
      for (core::TenantNode& node : alone) node.wanted = 0;
      alone[leaf].wanted = 1'000;
      alone[leaf].weight = 1;
      REQUIRE(core::entitlements(alone, world.slots)[leaf] == most[leaf]);
      ++reached;
    }
    REQUIRE(reached > 0);
  });
}

TEST_CASE("planted: a division that is off by one slot is seen, whichever law it breaks") {
  int sums = 0;
  int guarantees = 0;
  int waste = 0;
  int levels = 0;
  for_each_seed("wrong divisions", 10, [&](std::uint64_t, Rng& rng) {
    for (int i = 0; i < 500; ++i) {
      const TenantWorld right = random_world(rng);
      const std::size_t leaf = rng.below(right.nodes.size());
      if (!right.is_leaf(leaf) || sum_of_guarantees(right) > right.slots) continue;
      REQUIRE((adds_up(right) && meets_guarantees(right) && wastes_nothing(right) && is_level(right)));
      TenantWorld wrong = right;
      for (int at = static_cast<int>(leaf); at >= 0; at = wrong.nodes[static_cast<std::size_t>(at)].parent) {
        ++wrong.shares[static_cast<std::size_t>(at)];
      }
      sums += adds_up(wrong) ? 0 : 1;
      wrong = right;
      if (wrong.shares[leaf] == 0) continue;
      for (int at = static_cast<int>(leaf); at >= 0; at = wrong.nodes[static_cast<std::size_t>(at)].parent) {
        --wrong.shares[static_cast<std::size_t>(at)];
      }
      guarantees += meets_guarantees(wrong) ? 0 : 1;
      waste += wastes_nothing(wrong) ? 0 : 1;
      // Three slots of its go to another leaf beside it, whatever that wants.
      for (const std::size_t beside : right.below(right.nodes[leaf].parent)) {
        if (beside == leaf || !right.is_leaf(beside) || right.shares[leaf] < 3) continue;
        wrong = right;
        wrong.shares[leaf] -= 3;
        wrong.shares[beside] += 3;
        levels += is_level(wrong) ? 0 : 1;
        break;
      }
    }
  });
  CHECK(sums > 0);
  CHECK(guarantees > 0);
  CHECK(waste > 0);
  CHECK(levels > 0);
}

TEST_CASE("where leaves come to want something else one by one, each has what a division from nothing gives it") {
  for_each_seed("changing shares", 10, [](std::uint64_t, Rng& rng) {
    int moved = 0;
    for (int i = 0; i < 500; ++i) {
      TenantWorld world = random_world(rng);
      core::ChangingShares changing(world.nodes, world.slots);
      std::vector<std::size_t> leaves;
      for (std::size_t node = 0; node < world.nodes.size(); ++node) {
        if (world.is_leaf(node)) leaves.push_back(node);
      }
      for (int change = 0; change < 8; ++change) {
        const std::size_t leaf = leaves[rng.below(leaves.size())];
        world.nodes[leaf].wanted = static_cast<int>(rng.between(0, 40));
        changing.want(leaf, world.nodes[leaf].wanted);
        const std::vector<int> anew = core::entitlements(world.nodes, world.slots);
        moved += anew == world.shares ? 0 : 1;
        for (const std::size_t any : leaves) REQUIRE(changing.of(any) == anew[any]);
      }
    }
    REQUIRE(moved > 500);
  });
}

TEST_CASE("what is even adds up to what is shared, and whole slots are less than one from it") {
  for_each_seed("even shares", 10, [](std::uint64_t, Rng& rng) {
    for (int i = 0; i < 1'000; ++i) {
      const TenantWorld world = random_world(rng);
      if (sum_of_guarantees(world) > world.slots) continue;
      require_even_shares(world);
    }
  });
}

TEST_CASE(
    "of two divisions that refuse no tenant at most one is fairer than the other, and none is fairer than itself") {
  for_each_seed("fairer", 10, [](std::uint64_t, Rng& rng) {
    int fairer = 0;
    for (int i = 0; i < 1'000; ++i) {
      const TenantWorld world = random_world(rng);
      const std::vector<std::int64_t> nothing(world.nodes.size(), 0);
      const core::FairShares fair = core::fair_shares(world.nodes, world.slots, nothing);
      const auto draw = [&] {
        std::vector<std::int64_t> used = nothing;
        for (std::size_t node = 0; node < used.size(); ++node) {
          if (world.is_leaf(node)) used[node] = rng.between(0, 1 + static_cast<int>(fair.even[node]));
        }
        return core::summed_up(world.nodes, std::move(used));
      };
      const auto one = draw();
      const auto other = draw();
      const bool is = core::is_fairer(fair, one, other);
      REQUIRE_FALSE((is && core::is_fairer(fair, other, one)));
      REQUIRE_FALSE(core::is_fairer(fair, one, one));
      fairer += is ? 1 : 0;
    }
    REQUIRE(fairer > 100);
  });
}

}  // namespace tidepool::test
