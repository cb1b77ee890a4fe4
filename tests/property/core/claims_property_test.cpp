// Claims on the surplus, as a policy file makes them, over random trees: the laws of docs/fairness.md hold whatever is
// claimed, and claims are met as core/tenants/surplus.hpp says.
#include <catch2/catch.hpp>

#include "tests/support/seeds.hpp"
#include "tests/support/tenant_world.hpp"

namespace tidepool::test {
namespace {

void claim_at_random(TenantWorld& world, Rng& rng) {
  const bool boundless = rng.chance(0.1);
  for (core::TenantNode& node : world.nodes) {
    if (rng.chance(0.4)) continue;
    node.claim = boundless ? 1'000'000'000 : static_cast<int>(rng.between(0, rng.chance(0.7) ? 12 : 200));
  }
  world.shares = core::entitlements(world.nodes, world.slots);
}

int surplus_of(const TenantWorld& world, std::size_t i) {
  return world.shares[i] - world.nodes[i].guarantee;
}

// A leaf that wants more than it has and may have it.
bool lacks(const TenantWorld& world, std::size_t i) {
  return world.is_leaf(i) && world.shares[i] < world.nodes[i].wanted && world.may_have_more(i);
}

// `poor` lacks something and has less than it claims: its siblings have nothing but by their claims, and no larger part
// of these, but for rounding.
void require_claims_first(const TenantWorld& world, std::size_t poor, std::size_t rich) {
  const core::TenantNode& node = world.nodes[poor];
  const core::TenantNode& other = world.nodes[rich];
  REQUIRE(other.claim);
  REQUIRE(surplus_of(world, rich) <= *other.claim);
  const double met = (std::max(0, surplus_of(world, poor)) + 1) / static_cast<double>(*node.claim);
  REQUIRE((surplus_of(world, rich) - 1) / static_cast<double>(*other.claim) <= met + 1e-6);
}

// `poor` lacks something, and not because of a claim: no tenant has more than a claim of its own, or is above the
// level.
void require_rest_by_level(const TenantWorld& world, std::size_t poor, std::size_t rich) {
  const core::TenantNode& node = world.nodes[poor];
  const core::TenantNode& other = world.nodes[rich];
  if (node.weight == 0 || (other.claim && surplus_of(world, rich) <= *other.claim)) return;
  if (!other.claim && node.claim) return;  // it is served before
  if (other.claim) REQUIRE(node.claim);
  REQUIRE(other.weight > 0);
  const double level = (std::max(0, surplus_of(world, poor)) + node.loan + 1) / static_cast<double>(node.weight);
  REQUIRE((surplus_of(world, rich) + other.loan - 1) / static_cast<double>(other.weight) <= level + 1e-6);
}

// Returns how many claims were met in part.
int require_claims(const TenantWorld& world) {
  int in_part = 0;
  for (std::size_t poor = 0; poor < world.nodes.size(); ++poor) {
    if (!lacks(world, poor)) continue;
    const bool is_short = world.nodes[poor].claim && surplus_of(world, poor) < *world.nodes[poor].claim;
    for (const std::size_t rich : world.below(world.nodes[poor].parent)) {
      if (rich == poor || !world.is_leaf(rich) || surplus_of(world, rich) <= 0) continue;
      INFO("tenant " << poor << " beside " << rich);
      in_part += is_short ? 1 : 0;
      if (is_short) {
        require_claims_first(world, poor, rich);
      } else {
        require_rest_by_level(world, poor, rich);
      }
    }
  }
  return in_part;
}

// Siblings in another order get the same. No claim is like another, so that no place in the tree decides.
void require_places_decide_nothing(const TenantWorld& world, Rng& rng) {
  std::vector<core::TenantNode> nodes = world.nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].loan += 1e-3 * static_cast<double>(i);
    const int own = 10'000 * static_cast<int>(i) + static_cast<int>(rng.below(10'000));
    if (nodes[i].claim.value_or(0) > 0) nodes[i].claim = 100'000 + own;
  }
  const std::vector<int> before = core::entitlements(nodes, world.slots);
  std::vector<std::size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    const bool are_leaves = world.is_leaf(i) && world.is_leaf(i + 1);
    if (are_leaves && nodes[i].parent == nodes[i + 1].parent && rng.chance(0.5)) std::swap(order[i], order[i + 1]), ++i;
  }
  std::vector<core::TenantNode> moved;
  for (const std::size_t i : order) moved.push_back(nodes[i]);
  const std::vector<int> after = core::entitlements(moved, world.slots);
  for (std::size_t place = 0; place < order.size(); ++place) REQUIRE(after[place] == before[order[place]]);
}

}  // namespace

TEST_CASE(
    "whatever is claimed, guarantees come first, limits hold, nothing is wasted, and claims are met in proportion") {
  int moved = 0;
  int in_part = 0;
  for_each_seed("claims", 20, [&](std::uint64_t, Rng& rng) {
    for (int i = 0; i < 5'000; ++i) {
      TenantWorld world = random_world(rng);
      const std::vector<int> without = world.shares;
      claim_at_random(world, rng);
      moved += without == world.shares ? 0 : 1;
      require_sums(world);
      require_guarantees(world);
      require_limits(world);
      require_no_waste(world);
      if (sum_of_guarantees(world) > world.slots) continue;
      in_part += require_claims(world);
      require_places_decide_nothing(world, rng);
    }
  });
  if (!all_seeds_run()) return;
  REQUIRE(moved > 20'000);
  REQUIRE(in_part > 10'000);
}

TEST_CASE("a claim takes nothing that another is set aside") {
  for_each_seed("claims beside guarantees", 10, [](std::uint64_t, Rng& rng) {
    for (int i = 0; i < 1'000; ++i) {
      TenantWorld world = random_world(rng);
      if (sum_of_guarantees(world) > world.slots) continue;
      claim_at_random(world, rng);
      for (std::size_t node = 0; node < world.nodes.size(); ++node) {
        const core::TenantNode& of = world.nodes[node];
        if (!world.is_leaf(node)) continue;
        const int unlent = of.lend ? of.guarantee - *of.lend : 0;
        REQUIRE(world.shares[node] >= std::min(of.guarantee, std::max(of.wanted, unlent)));
      }
    }
  });
}

TEST_CASE("with claims, too, each leaf that comes to want something else has what a division from nothing gives it") {
  for_each_seed("changing shares with claims", 10, [](std::uint64_t, Rng& rng) {
    for (int i = 0; i < 500; ++i) {
      TenantWorld world = random_world(rng);
      claim_at_random(world, rng);
      core::ChangingShares changing(world.nodes, world.slots);
      for (int change = 0; change < 8; ++change) {
        std::size_t leaf = rng.below(world.nodes.size());
        while (!world.is_leaf(leaf)) leaf = rng.below(world.nodes.size());
        world.nodes[leaf].wanted = static_cast<int>(rng.between(0, 40));
        changing.want(leaf, world.nodes[leaf].wanted);
        const std::vector<int> anew = core::entitlements(world.nodes, world.slots);
        for (std::size_t any = 0; any < anew.size(); ++any) {
          if (world.is_leaf(any)) REQUIRE(changing.of(any) == anew[any]);
        }
      }
    }
  });
}

TEST_CASE("with claims, too, what is even adds up to what is shared, and whole slots are less than one from it") {
  for_each_seed("even shares with claims", 10, [](std::uint64_t, Rng& rng) {
    for (int i = 0; i < 1'000; ++i) {
      TenantWorld world = random_world(rng);
      if (sum_of_guarantees(world) > world.slots) continue;
      claim_at_random(world, rng);
      require_even_shares(world);
    }
  });
}

}  // namespace tidepool::test
