#include "policies/tidal/ordered_bids.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "base/check.hpp"

namespace tidepool::policies::tidal {
namespace {

// Mixes the key's bits (the finalizer of SplitMix64), so that a treap of any keys is balanced.
std::uint64_t mixed(std::uint64_t bits) {
  bits += 0x9e3779b97f4a7c15ULL;
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebULL;
  return bits ^ (bits >> 31U);
}

std::uint64_t priority_of(const MarginalBid& piece) {
  return mixed(piece.job.number() ^ mixed(piece.corner ^ mixed(std::bit_cast<std::uint64_t>(piece.slope))));
}

}  // namespace

bool sold_before(const MarginalBid& a, const MarginalBid& b) {
  if (a.slope != b.slope) return a.slope > b.slope;
  return std::tuple(a.job, a.corner) < std::tuple(b.job, b.corner);
}

OrderedBids::Index OrderedBids::make(const MarginalBid& piece) {
  TP_CHECK(piece.slope > 0 && piece.width > 0, "a piece rises in worth and in size");
  const Node made{.piece = piece, .priority = priority_of(piece), .total = piece.width};
  if (unused_.empty()) {
    nodes_.push_back(made);
    return static_cast<Index>(nodes_.size() - 1);
  }
  const Index index = unused_.back();
  unused_.pop_back();
  node(index) = made;
  return index;
}

void OrderedBids::sum_up(Index index) {
  Node& at = node(index);
  at.total = at.piece.width + total_of(at.left) + total_of(at.right);
}

// Everything before `at`, and the rest. The depth is logarithmic, so recursion is safe.
OrderedBids::Parts OrderedBids::split(Index root, const MarginalBid& at) {
  if (root == kNone) return {};
  if (sold_before(node(root).piece, at)) {
    const Parts parts = split(node(root).right, at);
    node(root).right = parts.before;
    sum_up(root);
    return {.before = root, .from = parts.from};
  }
  const Parts parts = split(node(root).left, at);
  node(root).left = parts.from;
  sum_up(root);
  return {.before = parts.before, .from = root};
}

OrderedBids::Index OrderedBids::merge(Index before, Index from) {
  if (before == kNone) return from;
  if (from == kNone) return before;
  if (node(before).priority > node(from).priority) {
    const Index right = merge(node(before).right, from);
    node(before).right = right;
    sum_up(before);
    return before;
  }
  const Index left = merge(before, node(from).left);
  node(from).left = left;
  sum_up(from);
  return from;
}

void OrderedBids::insert(const MarginalBid& piece) {
  const Index made = make(piece);
  const Parts parts = split(root_, piece);
  root_ = merge(merge(parts.before, made), parts.from);
}

OrderedBids::Index OrderedBids::erase_below(Index root, const MarginalBid& piece) {
  TP_CHECK(root != kNone, "a piece that is taken out is in there");
  if (sold_before(piece, node(root).piece)) {
    node(root).left = erase_below(node(root).left, piece);
  } else if (sold_before(node(root).piece, piece)) {
    node(root).right = erase_below(node(root).right, piece);
  } else {
    unused_.push_back(root);
    return merge(node(root).left, node(root).right);
  }
  sum_up(root);
  return root;
}

void OrderedBids::erase(const MarginalBid& piece) {
  root_ = erase_below(root_, piece);
}

// The treap of sorted keys is built along its right edge: each new piece takes what has a lower priority as its left. A
// piece that leaves the edge has all that will ever be below it, so that it can be summed up.
void OrderedBids::assign(std::vector<MarginalBid> bids) {
  std::sort(bids.begin(), bids.end(), sold_before);
  nodes_.clear();
  unused_.clear();
  nodes_.reserve(bids.size());
  root_ = kNone;
  std::vector<Index> edge;
  const auto leave_edge = [&] {
    const Index last = edge.back();
    sum_up(last);
    edge.pop_back();
    return last;
  };
  for (const MarginalBid& piece : bids) {
    const Index made = make(piece);
    Index below = kNone;
    while (!edge.empty() && node(edge.back()).priority <= node(made).priority) {
      below = leave_edge();
    }
    node(made).left = below;
    if (edge.empty()) {
      root_ = made;
    } else {
      node(edge.back()).right = made;
    }
    edge.push_back(made);
  }
  while (!edge.empty()) leave_edge();
}

OrderedBids::Frontier OrderedBids::frontier(std::int64_t slots) const {
  Frontier found;
  for (Index at = root_; at != kNone;) {
    const Node& here = node(at);
    if (found.used + total_of(here.left) > slots) {
      at = here.left;
      continue;
    }
    found.used += total_of(here.left);
    if (found.used + here.piece.width > slots) {
      found.next = here.piece;
      return found;
    }
    found.used += here.piece.width;
    at = here.right;
  }
  // A subtree is entered to the left only if it does not fit whole, so past the last piece everything has fitted.
  return found;
}

std::optional<MarginalBid> OrderedBids::after(const MarginalBid& piece) const {
  std::optional<MarginalBid> found;
  for (Index at = root_; at != kNone;) {
    if (sold_before(piece, node(at).piece)) {
      found = node(at).piece;
      at = node(at).left;
    } else {
      at = node(at).right;
    }
  }
  return found;
}

std::optional<MarginalBid> OrderedBids::before(const MarginalBid& piece) const {
  std::optional<MarginalBid> found;
  for (Index at = root_; at != kNone;) {
    if (sold_before(node(at).piece, piece)) {
      found = node(at).piece;
      at = node(at).right;
    } else {
      at = node(at).left;
    }
  }
  return found;
}

}  // namespace tidepool::policies::tidal
