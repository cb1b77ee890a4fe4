#include "core/decide/pool_division.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "core/tenants/scarce_types.hpp"

namespace tidepool::core {
namespace {

constexpr int kRoundsMost = 6;      // of entitlements that follow from what jobs would take
constexpr int kOffersInVain = 16;   // after this many the rest stays unallocated
constexpr int kTypeRoundsMost = 6;  // of parts of types into which gangs do not fit

}  // namespace

void PoolDivision::set_wishes() {
  for (TenantNode& node : pool_.nodes) {
    node.wanted = 0;
    node.loan = 0;
  }
  for (TenantLeaf* leaf : pool_.leaves) {
    leaf->part = {};
    leaf->stuck = false;
    leaf->expects_satisfied = leaf->before().satisfied;
    TenantNode& node = pool_.nodes[leaf->node];
    node.wanted = leaf->expects_satisfied ? leaf->newest->wanted : as_slots(leaf->needs->most);
    node.loan = leaf->loan * kLoanWeight;
  }
}

void PoolDivision::set_demands() {
  for (TenantLeaf* leaf : pool_.leaves) {
    pool_.nodes[leaf->node].wanted = as_slots(leaf->part.satisfied ? leaf->part.used : leaf->needs->most);
  }
}

Status PoolDivision::divide_slots() {
  set_wishes();
  TP_TRY(divide());
  set_demands();
  const FairShares fair = fair_shares(pool_.nodes, pool_.slots, used_by_node());
  TP_TRY(offer_rest(fair));
  const bool moves = std::any_of(pool_.leaves.begin(), pool_.leaves.end(),
                                 [](const TenantLeaf* leaf) { return leaf->part.share != leaf->before().entitled; });
  if (!moves) return ok_status();
  const Division anew = division();
  const std::vector<std::int64_t> used_anew = used_by_node();
  const auto stands = divide_as_before();
  if (!stands) return stands.error();
  if (*stands) TP_TRY(offer_rest(fair));
  if (*stands && !is_fairer(fair, used_anew, used_by_node())) return ok_status();
  auto part = anew.begin();
  for (TenantLeaf* leaf : pool_.leaves) leaf->part = *part++;
  return ok_status();
}

std::vector<TypeAsk> PoolDivision::typed_asks(const AskedTypes& types, bool by_plan) const {
  std::vector<TypeAsk> asks;
  for (const TenantLeaf* leaf : pool_.leaves) {
    if (leaf->needs->asking.empty()) continue;
    for (const auto& [set, slots] : by_plan ? leaf->needs->given_typed : leaf->answer(leaf->part.bound)->typed) {
      asks.push_back({.leaf = leaf->node, .types = types.sets()[set], .wanted = as_slots(slots)});
    }
  }
  return asks;
}

void PoolDivision::bound_types(const AskedTypes& types, const std::vector<int>& scarce,
                               const std::vector<SlotsByType>& parts) {
  for (TenantLeaf* leaf : pool_.leaves) {
    if (leaf->needs->asking.empty()) continue;
    TypeBounds bounds;
    for (const int type : scarce) {
      const auto at = static_cast<std::size_t>(type);
      bounds.emplace(types.names()[at], parts[leaf->node][at]);
    }
    leaf->bound(std::move(bounds));
  }
}

Status PoolDivision::divide_types(const AskedTypes& types, const ClusterState& state, const TenantNeeds& needs) {
  std::vector<TypeAsk> asks = typed_asks(types);
  if (asks.empty()) return ok_status();
  const AskedTypes::Supply supply = types.supply(state, needs);
  const TypedTree tree{.nodes = pool_.nodes, .guarantees = types.guarantees(), .held = supply.held};
  const auto divided = [&] { return core::divide_types(tree, supply.slots, asks); };
  std::vector<SlotsByType> parts = divided();
  const std::vector<int> scarce = scarce_types(asks, parts);
  if (scarce.empty()) return ok_status();
  const std::vector<TypeAsk> wanted = asks;
  const std::vector<TypeAsk> given = typed_asks(types, true);
  std::vector<TypeAsk> taken;
  for (int round = 0; round < kTypeRoundsMost; ++round) {
    bound_types(types, scarce, parts);
    TP_TRY(divide_slots());
    taken = typed_asks(types);
    const auto leaves = first_to_leave({scarce, parts, asks, taken, given});
    if (!leaves) break;
    std::erase_if(asks, [&](const TypeAsk& ask) { return ask.leaf == *leaves; });
    std::copy_if(taken.begin(), taken.end(), std::back_inserter(asks),
                 [&](const TypeAsk& ask) { return ask.leaf == *leaves; });
    parts = divided();
  }
  for (TenantLeaf* leaf : pool_.leaves) {
    const std::int64_t lacks = slots_asked(wanted, leaf->node, scarce) - slots_asked(taken, leaf->node, scarce);
    leaf->lacks_slots = as_slots(std::max<std::int64_t>(0, lacks));
  }
  return ok_status();
}

Status PoolDivision::divide() {
  auto shares = check_expectations();
  if (!shares) return shares.error();
  bool is_settled = false;
  for (int round = 0; round < kRoundsMost && !is_settled; ++round) {
    is_settled = true;
    for (TenantLeaf* leaf : pool_.leaves) {
      leaf->part.share = (*shares)[leaf->node];
      const auto moved = ask_within(*leaf);
      if (!moved) return moved.error();
      is_settled = is_settled && !*moved;
    }
    if (!is_settled) shares = entitlements(pool_.nodes, pool_.slots);
  }
  for (TenantLeaf* leaf : pool_.leaves) {
    const auto part = take(*leaf, (*shares)[leaf->node]);
    if (!part) return part.error();
    leaf->part = *part;
  }
  return ok_status();
}

// Tenants that were satisfied want what they could use now. One that is not entitled to that counts as any other,
// before any is asked what it takes of a share that is too small because of it.
Result<std::vector<int>> PoolDivision::check_expectations() {
  std::vector<int> shares;
  for (bool is_right = false; !is_right;) {
    shares = entitlements(pool_.nodes, pool_.slots);
    is_right = true;
    for (TenantLeaf* leaf : pool_.leaves) {
      if (!leaf->expects_satisfied) continue;
      const auto all = used(*leaf, std::nullopt);
      if (!all) return all.error();
      int& wanted = pool_.nodes[leaf->node].wanted;
      leaf->expects_satisfied = *all <= shares[leaf->node] || wanted < *all;  // asked for less, it got no more
      const int wants = as_slots(leaf->expects_satisfied ? *all : leaf->needs->most);
      is_right = std::exchange(wanted, wants) == wants && is_right;
    }
  }
  return shares;
}

// Whether it turns out to want something else than was taken for its share.
Result<bool> PoolDivision::ask_within(TenantLeaf& leaf) {
  const auto now_wants = [&](std::int64_t slots) {
    int& wanted = pool_.nodes[leaf.node].wanted;
    return std::exchange(wanted, as_slots(slots)) != wanted;
  };
  if (leaf.stuck) return false;
  const auto part = take(leaf, leaf.part.share);
  if (!part) return part.error();
  leaf.expects_satisfied = leaf.expects_satisfied && part->satisfied;
  leaf.stuck = !part->satisfied && part->used < part->share;
  return now_wants(part->satisfied || leaf.stuck ? part->used : leaf.needs->most);
}

Result<PoolDivision::Part> PoolDivision::take(TenantLeaf& leaf, int share) {
  if (!leaf.expects_satisfied && share < leaf.needs->most) {
    const auto within = used(leaf, share);
    if (!within) return within.error();
    if (*within >= share) return Part{.share = share, .used = *within, .bound = share};
  }
  const auto all = used(leaf, std::nullopt);
  if (!all) return all.error();
  if (*all <= share) return Part{.share = share, .used = *all, .satisfied = true};
  const auto within = used(leaf, share);
  if (!within) return within.error();
  return Part{.share = share, .used = *within, .bound = share};
}

Result<bool> PoolDivision::divide_as_before() {
  for (TenantLeaf* leaf : pool_.leaves) pool_.nodes[leaf->node].wanted = leaf->before().entitled;
  const std::vector<int> shares = entitlements(pool_.nodes, pool_.slots);
  for (TenantLeaf* leaf : pool_.leaves) {
    const int before = leaf->before().entitled;
    if (shares[leaf->node] < before) return false;
    const auto part = take(*leaf, before);
    if (!part) return part.error();
    // A size that a user has pinned needs more than the tenant had.
    if (leaf->needs->unmet > 0 && part->used > before) return false;
    leaf->part = *part;
  }
  return true;
}

Status PoolDivision::offer_rest(const FairShares& fair) {
  std::int64_t left = entitle_to_used();
  // From the next larger sizes of its jobs than in the newest plan.
  const auto could_use = [&](const TenantLeaf& leaf) {
    if (leaf.part.satisfied || left <= 0) return false;
    const auto& steps = leaf.needs->steps;
    return leaf.part.used < leaf.needs->given || (!steps.empty() && steps.begin()->first <= left);
  };
  std::vector<std::tuple<double, std::size_t, TenantLeaf*>> behind;  // those alike in the order of the tree
  for (TenantLeaf* leaf : pool_.leaves) {
    if (!could_use(*leaf)) continue;
    behind.emplace_back(static_cast<double>(leaf->part.used) - fair.even[leaf->node], leaf->node, leaf);
  }
  if (behind.empty()) return ok_status();
  std::sort(behind.begin(), behind.end());
  ChangingShares shares(pool_.nodes, pool_.slots);
  int in_vain = 0;
  bool has_moved = false;
  for (const auto& [by, node, leaf] : behind) {
    if (!could_use(*leaf)) continue;
    shares.want(node, as_slots(std::min(leaf->needs->most, leaf->part.used + left)));
    const auto part = take(*leaf, shares.of(node));
    if (!part) return part.error();
    const std::int64_t more = part->used - leaf->part.used;
    if (more > 0) leaf->part = *part;
    shares.want(node, as_slots(leaf->part.used));
    left -= std::max<std::int64_t>(0, more);
    in_vain += more > 0 ? 0 : 1;
    has_moved = has_moved || more > 0;
    if (in_vain >= kOffersInVain) break;
  }
  if (has_moved) (void)entitle_to_used();
  return ok_status();
}

std::int64_t PoolDivision::entitle_to_used() {
  for (TenantLeaf* leaf : pool_.leaves) pool_.nodes[leaf->node].wanted = as_slots(leaf->part.used);
  const std::vector<int> shares = entitlements(pool_.nodes, pool_.slots);
  for (TenantLeaf* leaf : pool_.leaves) leaf->part.share = shares[leaf->node];
  std::int64_t left = pool_.slots;
  for (std::size_t i = 0; i < pool_.nodes.size(); ++i) left -= pool_.nodes[i].parent < 0 ? shares[i] : 0;
  return left;
}

PoolDivision::Division PoolDivision::division() const {
  Division parts;
  parts.reserve(pool_.leaves.size());
  for (TenantLeaf* leaf : pool_.leaves) parts.push_back(leaf->part);
  return parts;
}

std::vector<std::int64_t> PoolDivision::used_by_node() const {
  std::vector<std::int64_t> used(pool_.nodes.size(), 0);
  for (TenantLeaf* leaf : pool_.leaves) used[leaf->node] = leaf->part.used;
  return summed_up(pool_.nodes, std::move(used));
}

Result<std::int64_t> PoolDivision::used(TenantLeaf& leaf, std::optional<int> most) {
  if (leaf.answer(most) == nullptr) TP_TRY(ask_(leaf, most));
  return leaf.answer(most)->used;
}

}  // namespace tidepool::core
