#include "core/tenants/entitlement.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/check.hpp"
#include "core/tenants/water_level.hpp"

namespace tidepool::core {
namespace {

int sum(const std::vector<int>& values) {
  return static_cast<int>(std::min<std::int64_t>(std::numeric_limits<int>::max(),
                                                 std::accumulate(values.begin(), values.end(), std::int64_t{0})));
}

class Tree {
 public:
  explicit Tree(std::vector<TenantNode> nodes)
      : nodes_(std::move(nodes)),
        children_(nodes_.size() + 1),
        set_aside_(nodes_.size(), 0),
        shares_(nodes_.size(), 0) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      TP_CHECK(nodes_[i].parent < static_cast<int>(i), "a tenant stands after its parent");
      children_[index_of_parent(i)].push_back(i);
    }
    for (std::size_t i = nodes_.size(); i-- > 0;) add_up(i);
  }

  std::vector<int> share_out(int slots) {
    divide(nodes_.size(), slots);
    for (std::size_t i = 0; i < nodes_.size(); ++i) divide(i, shares_[i]);
    return std::move(shares_);
  }

 private:
  // The pool stands behind the last node.
  [[nodiscard]] std::size_t index_of_parent(std::size_t i) const {
    return nodes_[i].parent < 0 ? nodes_.size() : static_cast<std::size_t>(nodes_[i].parent);
  }

  // What it wants, has held and is set aside, once that is known of the tenants below it.
  void add_up(std::size_t i) {
    TenantNode& node = nodes_[i];
    std::int64_t wanted = node.wanted;
    std::int64_t kept_below = 0;
    for (const std::size_t child : children_[i]) {
      wanted += std::max(nodes_[child].wanted, set_aside_[child]);
      node.loan += nodes_[child].loan;
      kept_below += set_aside_[child];
    }
    const std::int64_t most =
        node.borrow ? std::int64_t{node.guarantee} + *node.borrow : std::int64_t{std::numeric_limits<int>::max()};
    const std::int64_t unlent = node.lend ? std::int64_t{node.guarantee} - *node.lend : 0;
    node.wanted = static_cast<int>(std::min(wanted, most));
    set_aside_[i] = static_cast<int>(std::clamp(std::max({std::int64_t{node.wanted}, unlent, kept_below}),
                                                std::int64_t{0}, std::int64_t{node.guarantee}));
  }

  void divide(std::size_t parent, int slots) {
    const auto& children = children_[parent];
    if (children.empty()) return;
    std::vector<Basin> promised;
    promised.reserve(children.size());
    for (const std::size_t i : children) {
      promised.push_back({.cap = set_aside_[i], .weight = nodes_[i].guarantee, .before = nodes_[i].before});
    }
    const std::vector<int> first = fill(promised, slots);
    std::vector<Basin> wishes;
    wishes.reserve(children.size());
    for (std::size_t at = 0; at < children.size(); ++at) {
      const TenantNode& node = nodes_[children[at]];
      wishes.push_back({.cap = std::max(0, node.wanted - first[at]),
                        .weight = node.weight,
                        .offset = node.loan,
                        .before = std::max(0, node.before - first[at])});
    }
    const std::vector<int> second = fill(wishes, slots - sum(first));
    for (std::size_t at = 0; at < children.size(); ++at) shares_[children[at]] = first[at] + second[at];
  }

  std::vector<TenantNode> nodes_;
  std::vector<std::vector<std::size_t>> children_;
  std::vector<int> set_aside_;
  std::vector<int> shares_;
};

}  // namespace

std::vector<int> entitlements(std::vector<TenantNode> nodes, int slots) {
  return Tree(std::move(nodes)).share_out(std::max(0, slots));
}

}  // namespace tidepool::core
