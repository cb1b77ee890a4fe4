// Claims on the surplus: small cases, worked out by hand.
#include "core/tenants/surplus.hpp"

#include <catch2/catch.hpp>

#include "core/tenants/entitlement.hpp"

namespace tidepool::core {

namespace {

std::vector<Basin> basins(const std::vector<int>& caps) {
  std::vector<Basin> all;
  for (const int cap : caps) all.push_back({.cap = cap, .weight = 1, .offset = 0});
  return all;
}

}  // namespace

TEST_CASE("claims come first, and what they leave goes by water level to those without one") {
  CHECK(fill_by_claims(basins({9, 9, 9}), {6, std::nullopt, std::nullopt}, 10) == std::vector{6, 2, 2});
  CHECK(fill_by_claims(basins({9, 9, 9}), {std::nullopt, std::nullopt, std::nullopt}, 9) == std::vector{3, 3, 3});
}

TEST_CASE("a claim of nothing is no more than that while another without a claim wants it") {
  CHECK(fill_by_claims(basins({9, 9}), {0, std::nullopt}, 8) == std::vector{0, 8});
  CHECK(fill_by_claims(basins({9, 5}), {0, std::nullopt}, 8) == std::vector{3, 5});
}

TEST_CASE("claims that do not fit are met in proportion; what one cannot use of its own goes to the others") {
  CHECK(fill_by_claims(basins({9, 9, 9}), {8, 4, std::nullopt}, 6) == std::vector{4, 2, 0});
  CHECK(fill_by_claims(basins({2, 9, 9}), {8, 4, std::nullopt}, 6) == std::vector{2, 4, 0});
  CHECK(fill_by_claims(basins({2, 9, 9}), {8, 3, std::nullopt}, 6) == std::vector{2, 3, 1});
}

TEST_CASE("what is left then evens out what all have, what claims gave them counted in") {
  CHECK(fill_by_claims(basins({9, 9}), {6, 2}, 10) == std::vector{6, 4});
  CHECK(fill_by_claims(basins({9, 9}), {6, 2}, 14) == std::vector{7, 7});
}

TEST_CASE("without a weight a tenant has only what no other wants, unless it is claimed for it") {
  std::vector<Basin> some = basins({9, 9});
  some[0].weight = 0;
  CHECK(fill_by_claims(some, {std::nullopt, 3}, 8) == std::vector{0, 8});
  CHECK(fill_by_claims(some, {5, 3}, 10) == std::vector{5, 5});
  CHECK(fill_by_claims(some, {std::nullopt, 3}, 12) == std::vector{3, 9});
}

TEST_CASE("a claim on the surplus is beyond the guarantee, and within what its tenant may borrow") {
  std::vector<TenantNode> nodes(2);
  nodes[0] = {.parent = -1, .guarantee = 2, .weight = 1, .borrow = std::nullopt, .lend = std::nullopt, .wanted = 8};
  nodes[1] = nodes[0];
  nodes[1].claim = 3;
  CHECK(entitlements(nodes, 8) == std::vector{3, 5});
  nodes[1].borrow = 1;
  CHECK(entitlements(nodes, 8) == std::vector{5, 3});
  nodes[1].borrow.reset();
  nodes[1].wanted = 4;
  CHECK(entitlements(nodes, 8) == std::vector{4, 4});
}

}  // namespace tidepool::core
