// How many slots each tenant of a tree may hold now. Fairness only: which of its jobs have them is the policy's market.
//
// From the pool down, at each level, of what the parent has:
//   1. each child is set aside what it wants of its guarantee, and what it does not lend of it;
//   2. the surplus goes by water level (water_level.hpp) to what each wants beyond that, as far as it may borrow; what
//      it held beyond its guarantee of late (TenantPlan::loan) counts as filled already. Parts of it that a policy file
//      claims for some go to these first (surplus.hpp).
// A child wants no more than the tenants below it may have together. If nodes are gone and guarantees cannot all be
// met, they shrink in proportion.
//
// Rules. The shares of children add up to no more than their parent has. No slot is left while a tenant wants one that
// it may have, unless another does not lend it. Follows from its input alone; the names of tenants decide nothing.
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
  int wanted = 0;                           // slots; of nodes that have children it is worked out
  double loan = 0;                          // slots held beyond the guarantee of late that count; likewise
  std::optional<int> claim = std::nullopt;  // of the surplus, by a policy file; none = the water level decides
};

// By node: no other is below it.
[[nodiscard]] std::vector<bool> leaves_of(const std::vector<TenantNode>& nodes);

// By node, in slots. `slots`: what the pool has. Requires: each node stands after its parent.
[[nodiscard]] std::vector<int> entitlements(std::vector<TenantNode> nodes, int slots);

// By node, in slots: the most that it may hold whatever is wanted: what it may borrow, and what the others do not lend;
// at least its guarantee, as far as its parent may hold that. `slots` as above.
[[nodiscard]] std::vector<std::int64_t> most_held(std::vector<TenantNode> nodes, int slots);

// What entitlements() says where leaves come to want something else one by one: what one has is worked out along its
// way to the pool.
class ChangingShares {
 public:
  ChangingShares(std::vector<TenantNode> nodes, int slots);
  ~ChangingShares();
  ChangingShares(const ChangingShares&) = delete;
  ChangingShares& operator=(const ChangingShares&) = delete;

  void want(std::size_t leaf, int wanted);
  // As entitlements() says of a tree in which leaves want that.
  [[nodiscard]] int of(std::size_t leaf) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What divisions of the pool are measured against, by node.
struct FairShares {
  std::vector<double> even;  // what each would have if slots could be divided
  // What each uses of its entitlement, where the rest is left free: gangs that do not fit into it have nothing.
  std::vector<std::int64_t> used_within;
  std::vector<bool> is_leaf;
};
[[nodiscard]] FairShares fair_shares(std::vector<TenantNode> nodes, int slots, std::vector<std::int64_t> used_within);

// Slots that the leaves use, by node, as those of all nodes.
[[nodiscard]] std::vector<std::int64_t> summed_up(const std::vector<TenantNode>& nodes, std::vector<std::int64_t> used);
// Whether the one division is so much fairer than the other that it is worth to move slots: in the other some node is
// denied what is even and what it would use within its entitlement; or leaves have, by half a slot or more, less to
// wait for: slots that they are behind what is even, and slots that are not used. By node, summed up.
[[nodiscard]] bool is_fairer(const FairShares& fair, const std::vector<std::int64_t>& one,
                             const std::vector<std::int64_t>& other);

}  // namespace tidepool::core
