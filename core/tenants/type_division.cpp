#include "core/tenants/type_division.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tidepool::core {
namespace {

using Types = std::vector<int>;
using Wanted = std::map<std::size_t, int>;  // slots, by leaf

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

class Division {
 public:
  Division(const TypedTree& tree, const SlotsByType& slots)
      : nodes_(tree.nodes),
        left_(slots),
        owed_(tree.guarantees),
        parts_(tree.nodes.size(), SlotsByType(slots.size(), 0)),
        depth_(tree.nodes.size(), 0) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].parent >= 0) depth_[i] = depth_[at(nodes_[i].parent)] + 1;
      for (std::size_t type = 0; type < slots.size(); ++type) charge(i, type, tree.held[i][type]);
    }
  }

  // Depth of the deepest tenant.
  [[nodiscard]] std::size_t depth() const {
    return depth_.empty() ? 0 : *std::max_element(depth_.begin(), depth_.end());
  }

  // Applies the guarantees of tenants at that depth; subtracts what they cover.
  void meet_guarantees(std::size_t depth, const Types& types, Wanted& wanted) {
    std::vector<TenantNode> level = plain_level(wanted);
    for (std::size_t i = 0; i < level.size(); ++i) {
      if (depth_[i] <= depth) level[i].parent = -1;
      if (depth_[i] == depth) level[i].borrow = 0;
      if (depth_[i] < depth) level[i].wanted = 0;
      if (depth_[i] >= depth) level[i].guarantee = sum(owed_[i], types);
    }
    const std::vector<int> shares = entitlements(std::move(level), sum(left_, types));
    for (auto& [leaf, slots] : wanted) {
      if (depth_[leaf] < depth) continue;
      const std::size_t owner = above(leaf, depth);
      int due = shares[leaf];
      for (const int type : types) {
        const int given = give(leaf, type, std::min(due, std::max(0, owed_[owner][at(type)])));
        due -= given;
        slots -= given;
      }
    }
  }

  void keep_unlent() {
    std::vector<SlotsByType> kept(nodes_.size(), SlotsByType(left_.size(), 0));
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      const TenantNode& node = nodes_[i];
      for (std::size_t type = 0; type < left_.size(); ++type) {
        if (node.lend) kept[i][type] = std::max(kept[i][type], owed_[i][type] - *node.lend);
        if (node.parent >= 0) {
          kept[at(node.parent)][type] += kept[i][type];
        } else {
          left_[type] = std::max(0, left_[type] - kept[i][type]);
        }
      }
    }
  }

  void divide_rest(const Types& types, const Wanted& wanted) {
    const std::vector<int> shares = entitlements(plain_level(wanted), sum(left_, types));
    Types order = types;
    for (const auto& [leaf, slots] : wanted) {
      int due = shares[leaf];
      std::sort(order.begin(), order.end(),
                [&](int a, int b) { return std::pair(-left_[at(a)], a) < std::pair(-left_[at(b)], b); });
      for (const int type : order) due -= give(leaf, type, due);
    }
  }

  [[nodiscard]] std::vector<SlotsByType> summed_up() const {
    std::vector<SlotsByType> parts = parts_;
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      if (nodes_[i].parent < 0) continue;
      for (std::size_t type = 0; type < left_.size(); ++type) parts[at(nodes_[i].parent)][type] += parts[i][type];
    }
    return parts;
  }

 private:
  [[nodiscard]] static int sum(const SlotsByType& slots, const Types& types) {
    int all = 0;
    for (const int type : types) all += std::max(0, slots[at(type)]);
    return all;
  }

  // Without guarantees and limits.
  [[nodiscard]] std::vector<TenantNode> plain_level(const Wanted& wanted) const {
    std::vector<TenantNode> level;
    level.reserve(nodes_.size());
    for (const TenantNode& node : nodes_) {
      level.push_back({.parent = node.parent, .weight = node.weight, .loan = node.loan});
    }
    for (const auto& [leaf, slots] : wanted) level[leaf].wanted = slots;
    return level;
  }

  // The tenant, and those above it, are owed that much less.
  void charge(std::size_t node, std::size_t type, int slots) {
    for (int i = static_cast<int>(node); i >= 0; i = nodes_[at(i)].parent) owed_[at(i)][type] -= slots;
  }

  [[nodiscard]] std::size_t above(std::size_t node, std::size_t depth) const {
    while (depth_[node] > depth) node = at(nodes_[node].parent);
    return node;
  }

  int give(std::size_t leaf, int type, int slots) {
    const int given = std::max(0, std::min(slots, left_[at(type)]));
    left_[at(type)] -= given;
    parts_[leaf][at(type)] += given;
    charge(leaf, at(type), given);
    return given;
  }

  const std::vector<TenantNode>& nodes_;
  SlotsByType left_;
  std::vector<SlotsByType> owed_;  // of guarantees, by node; below 0: beyond them
  std::vector<SlotsByType> parts_;
  std::vector<std::size_t> depth_;  // by node; 0 = directly under the pool
};

}  // namespace

std::vector<SlotsByType> divide_types(const TypedTree& tree, const SlotsByType& slots,
                                      const std::vector<TypeAsk>& asks) {
  std::map<std::pair<std::size_t, Types>, Wanted> sets;  // the smaller sets first
  for (const TypeAsk& ask : asks) sets[{ask.types.size(), ask.types}][ask.leaf] += ask.wanted;
  Division division(tree, slots);
  // Guarantees of leaves come before those of tenants above them: the latter are for all leaves below, and must not be
  // used up by some.
  for (std::size_t depth = division.depth() + 1; depth-- > 0;) {
    for (auto& [set, wanted] : sets) division.meet_guarantees(depth, set.second, wanted);
  }
  division.keep_unlent();
  for (const auto& [set, wanted] : sets) division.divide_rest(set.second, wanted);
  return division.summed_up();
}

}  // namespace tidepool::core
