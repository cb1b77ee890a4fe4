#include "core/tenants/entitlement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "base/check.hpp"
#include "core/tenants/surplus.hpp"
#include "core/tenants/water_level.hpp"

namespace tidepool::core {
namespace {

constexpr double kWorthAMove = 0.5;  // slots
constexpr double kNoise = 1e-6;      // rounding error of sums of doubles

class Tree {
 public:
  explicit Tree(std::vector<TenantNode> nodes)
      : nodes_(std::move(nodes)), first_child_(nodes_.size() + 2, 0), demands_(nodes_.size()) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      TP_CHECK(nodes_[i].parent < static_cast<int>(i), "a tenant stands after its parent");
      ++first_child_[index_of_parent(i) + 1];
      has_claims_ = has_claims_ || nodes_[i].claim;
    }
    std::partial_sum(first_child_.begin(), first_child_.end(), first_child_.begin());
    children_.resize(nodes_.size());
    std::vector<std::size_t> next = first_child_;
    for (std::size_t i = 0; i < nodes_.size(); ++i) children_[next[index_of_parent(i)]++] = i;
    for (std::size_t i = nodes_.size(); i-- > 0;) add_up(i);
  }

  void want(std::size_t leaf, int wanted) {
    nodes_[leaf].wanted = wanted;
    for (int at = static_cast<int>(leaf); at >= 0; at = nodes_[static_cast<std::size_t>(at)].parent) {
      add_up(static_cast<std::size_t>(at));
    }
  }

  // What share_out() gives to one node. `shares` has room for all of them.
  [[nodiscard]] int share_of(std::size_t node, int slots, std::vector<int>& shares) const {
    const std::size_t above = index_of_parent(node);
    divide(above, above == nodes_.size() ? slots : share_of(above, slots, shares), shares);
    return shares[node];
  }

  // In whole slots, or exactly.
  template <class Amount>
  [[nodiscard]] std::vector<Amount> share_out(Amount slots) const {
    std::vector<Amount> shares(nodes_.size(), 0);
    divide(nodes_.size(), slots, shares);
    for (std::size_t i = 0; i < nodes_.size(); ++i) divide(i, shares[i], shares);
    return shares;
  }

  // Requires: no wanted slots are set.
  [[nodiscard]] std::vector<std::int64_t> most_held(std::int64_t slots) const {
    std::vector<std::int64_t> most(nodes_.size(), 0);
    const auto bound = [&](std::size_t parent, std::int64_t above) {
      std::int64_t unlent = 0;
      for (const std::size_t i : children_of(parent)) unlent += demands_[i].set_aside;
      for (const std::size_t i : children_of(parent)) {
        const TenantNode& node = nodes_[i];
        const std::int64_t lent = std::max<std::int64_t>(above - unlent + demands_[i].set_aside, node.guarantee);
        most[i] = std::min({above, lent, most_borrowed(node)});
      }
    };
    bound(nodes_.size(), slots);
    for (std::size_t i = 0; i < nodes_.size(); ++i) bound(i, most[i]);
    return most;
  }

 private:
  [[nodiscard]] static std::int64_t most_borrowed(const TenantNode& node) {
    return node.borrow ? std::int64_t{node.guarantee} + *node.borrow : std::int64_t{std::numeric_limits<int>::max()};
  }

  // The pool is the entry after the last node.
  [[nodiscard]] std::size_t index_of_parent(std::size_t i) const {
    return nodes_[i].parent < 0 ? nodes_.size() : static_cast<std::size_t>(nodes_[i].parent);
  }

  [[nodiscard]] std::span<const std::size_t> children_of(std::size_t i) const {
    return std::span(children_).subspan(first_child_[i], first_child_[i + 1] - first_child_[i]);
  }

  // For a node, including the nodes below it.
  struct Demand {
    int wanted = 0;
    int set_aside = 0;
    double loan = 0;
  };

  // Once that is known of the tenants below it.
  void add_up(std::size_t i) {
    const TenantNode& node = nodes_[i];
    std::int64_t wanted = node.wanted;
    double loan = node.loan;
    std::int64_t kept_below = 0;
    for (const std::size_t child : children_of(i)) {
      wanted += std::max(demands_[child].wanted, demands_[child].set_aside);
      loan += demands_[child].loan;
      kept_below += demands_[child].set_aside;
    }
    const std::int64_t unlent = node.lend ? std::int64_t{node.guarantee} - *node.lend : 0;
    Demand& demand = demands_[i];
    demand.wanted = static_cast<int>(std::min(wanted, most_borrowed(node)));
    demand.loan = loan;
    demand.set_aside = static_cast<int>(std::clamp(std::max({std::int64_t{demand.wanted}, unlent, kept_below}),
                                                   std::int64_t{0}, std::int64_t{node.guarantee}));
  }

  [[nodiscard]] static std::vector<int> fill_with(const std::vector<Basin>& basins, int slots) {
    return fill(basins, slots);
  }
  [[nodiscard]] static std::vector<double> fill_with(const std::vector<Basin>& basins, double slots) {
    return fill_exactly(basins, slots);
  }
  [[nodiscard]] static std::vector<int> fill_with(const std::vector<Basin>& basins, const Claims& claims, int slots) {
    return fill_by_claims(basins, claims, slots);
  }
  [[nodiscard]] static std::vector<double> fill_with(const std::vector<Basin>& basins, const Claims& claims,
                                                     double slots) {
    return fill_exactly_by_claims(basins, claims, slots);
  }

  template <class Amount>
  [[nodiscard]] std::vector<Amount> divide_surplus(std::span<const std::size_t> children,
                                                   const std::vector<Basin>& demands, Amount surplus) const {
    if (!has_claims_) return fill_with(demands, surplus);
    Claims claims;
    claims.reserve(children.size());
    for (const std::size_t i : children) claims.push_back(nodes_[i].claim);
    return fill_with(demands, claims, surplus);
  }

  template <class Amount>
  void divide(std::size_t parent, Amount slots, std::vector<Amount>& shares) const {
    const std::span<const std::size_t> children = children_of(parent);
    if (children.empty()) return;
    std::vector<Basin> promised;
    promised.reserve(children.size());
    for (const std::size_t i : children) {
      promised.push_back({.cap = demands_[i].set_aside, .weight = nodes_[i].guarantee});
    }
    const std::vector<Amount> first = fill_with(promised, slots);
    std::vector<Basin> demands;
    demands.reserve(children.size());
    for (std::size_t at = 0; at < children.size(); ++at) {
      const Demand& demand = demands_[children[at]];
      const int had = static_cast<int>(std::ceil(first[at]));
      demands.push_back(
          {.cap = std::max(0, demand.wanted - had), .weight = nodes_[children[at]].weight, .offset = demand.loan});
    }
    const Amount left = slots - std::accumulate(first.begin(), first.end(), Amount{});
    const std::vector<Amount> second = divide_surplus(children, demands, std::max(Amount{}, left));
    for (std::size_t at = 0; at < children.size(); ++at) shares[children[at]] = first[at] + second[at];
  }

  std::vector<TenantNode> nodes_;
  std::vector<std::size_t> first_child_;  // in children_, by node and the pool
  std::vector<std::size_t> children_;
  std::vector<Demand> demands_;
  bool has_claims_ = false;  // whether any node has one; else none is searched
};

}  // namespace

std::vector<bool> leaves_of(const std::vector<TenantNode>& nodes) {
  std::vector<bool> is_leaf(nodes.size(), true);
  for (const TenantNode& node : nodes) {
    if (node.parent >= 0) is_leaf[static_cast<std::size_t>(node.parent)] = false;
  }
  return is_leaf;
}

std::vector<int> entitlements(std::vector<TenantNode> nodes, int slots) {
  return Tree(std::move(nodes)).share_out(std::max(0, slots));
}

std::vector<std::int64_t> most_held(std::vector<TenantNode> nodes, int slots) {
  for (TenantNode& node : nodes) node.wanted = 0;
  return Tree(std::move(nodes)).most_held(std::max(0, slots));
}

struct ChangingShares::Impl {
  Tree tree;
  int slots;
  std::vector<int> shares;
};

ChangingShares::ChangingShares(std::vector<TenantNode> nodes, int slots) {
  const std::size_t count = nodes.size();
  impl_ = std::make_unique<Impl>(Impl{Tree(std::move(nodes)), std::max(0, slots), std::vector<int>(count, 0)});
}
ChangingShares::~ChangingShares() = default;

void ChangingShares::want(std::size_t leaf, int wanted) {
  impl_->tree.want(leaf, wanted);
}

int ChangingShares::of(std::size_t leaf) const {
  return impl_->tree.share_of(leaf, impl_->slots, impl_->shares);
}

FairShares fair_shares(std::vector<TenantNode> nodes, int slots, std::vector<std::int64_t> used_within) {
  std::vector<bool> is_leaf = leaves_of(nodes);
  return {.even = Tree(std::move(nodes)).share_out(static_cast<double>(std::max(0, slots))),
          .used_within = std::move(used_within),
          .is_leaf = std::move(is_leaf)};
}

std::vector<std::int64_t> summed_up(const std::vector<TenantNode>& nodes, std::vector<std::int64_t> used) {
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (nodes[i].parent >= 0) used[static_cast<std::size_t>(nodes[i].parent)] += used[i];
  }
  return used;
}

bool is_fairer(const FairShares& fair, const std::vector<std::int64_t>& one, const std::vector<std::int64_t>& other) {
  double nearer = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    const auto even = static_cast<std::int64_t>(fair.even[i] + kNoise);
    if (other[i] < std::min(fair.used_within[i], even)) return true;
    if (!fair.is_leaf[i]) continue;
    const auto behind = [&](std::int64_t used) { return std::max(0.0, fair.even[i] - static_cast<double>(used)); };
    nearer += behind(other[i]) - behind(one[i]) + static_cast<double>(one[i] - other[i]);
  }
  return nearer >= kWorthAMove;
}

}  // namespace tidepool::core
