// How many slots each tenant of a tree may hold now. Fairness only: the policy decides which of its jobs get them.
//
// From the pool down, at each level, the slots of the parent are divided:
//   1. each child gets what it wants of its guarantee, plus the part of its guarantee that it does not lend;
//   2. the surplus goes by water level (water_level.hpp) to what each child wants beyond that, as far as it may borrow;
//      slots that it recently held beyond its guarantee (TenantPlan::loan) count as filled already. Parts of the
//      surplus that a policy file claims for children go to these first (surplus.hpp).
// A child wants no more than the tenants below it may have together. If nodes are missing and guarantees cannot all be
// met, they shrink in proportion.
//
// Rules. The shares of children add up to no more than their parent's share. No slot is left while a tenant wants one
// that it may have, unless another tenant does not lend it. The result depends on the input alone; the names of tenants
// have no effect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace tidepool::core {

inline constexpr double kLoanWeight = 0.5;  // the part of TenantPlan::loan that counts as filled

struct TenantNode {
  int parent = -1;  // index of an earlier node; -1 = directly under the pool
  int guarantee = 0;
  std::int64_t weight = 1;
  std::optional<int> borrow = std::nullopt;
  std::optional<int> lend = std::nullopt;
  int wanted = 0;                           // slots; for nodes with children it is computed
  double loan = 0;                          // recent slots beyond the guarantee that count; likewise
  std::optional<int> claim = std::nullopt;  // part of the surplus, by a policy file; none = the water level decides
};

// By node: true if it has no children.
[[nodiscard]] std::vector<bool> leaves_of(const std::vector<TenantNode>& nodes);

// By node, in slots. `slots`: slots of the pool. Requires: each node comes after its parent.
[[nodiscard]] std::vector<int> entitlements(std::vector<TenantNode> nodes, int slots);

// By node, in slots: the most that it may hold whatever is wanted: limited by what it may borrow and by what the others
// do not lend; at least its guarantee, as far as its parent may hold that. `slots` as above.
[[nodiscard]] std::vector<std::int64_t> most_held(std::vector<TenantNode> nodes, int slots);

// The result of entitlements() while the wanted slots of leaves change one by one: the share of a leaf is computed
// along its path to the pool.
class ChangingShares {
 public:
  ChangingShares(std::vector<TenantNode> nodes, int slots);
  ~ChangingShares();
  ChangingShares(const ChangingShares&) = delete;
  ChangingShares& operator=(const ChangingShares&) = delete;

  void want(std::size_t leaf, int wanted);
  // Like entitlements() for the tree with the present wanted slots.
  [[nodiscard]] int of(std::size_t leaf) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The reference for comparing divisions of the pool, by node.
struct FairShares {
  std::vector<double> even;  // the shares if slots could be divided
  // How much each uses of its entitlement if the rest is left free: gangs that do not fit into it get nothing.
  std::vector<std::int64_t> used_within;
  std::vector<bool> is_leaf;
};
[[nodiscard]] FairShares fair_shares(std::vector<TenantNode> nodes, int slots, std::vector<std::int64_t> used_within);

// Sums of the slots that the leaves use, for all nodes.
[[nodiscard]] std::vector<std::int64_t> summed_up(const std::vector<TenantNode>& nodes, std::vector<std::int64_t> used);
// Whether division `one` is so much fairer than the other that it is worth moving slots. Either in the other some node
// has less than its even share and less than it would use within its entitlement; or the deficits of leaves are smaller
// by half a slot or more: slots that they are behind the even share, plus unused slots. By node, summed up.
[[nodiscard]] bool is_fairer(const FairShares& fair, const std::vector<std::int64_t>& one,
                             const std::vector<std::int64_t>& other);

}  // namespace tidepool::core
