// All jobs' pieces in the order in which slots are sold: steepest first, ties by job, then by place on the job's hull.
// A treap whose priorities are a hash of the key: its shape follows only from its contents, whatever the order of
// insertion, and an operation takes O(log n) expected. Sums are of whole slots, so they are exact.
// docs/adr/0038-bids-stand-in-a-treap-of-ours.md says why no library container is used.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.hpp"

namespace tidepool::policies::tidal {

// A step of one job from a corner of its hull to the next.
struct MarginalBid {
  double slope = 0;  // worth per slot, > 0
  JobId job;
  std::uint32_t corner = 0;  // to which it leads: an index into the hull's corners, >= 1
  int width = 0;             // slots, >= 1
};
[[nodiscard]] bool sold_before(const MarginalBid& a, const MarginalBid& b);

class OrderedBids {
 public:
  // Requires: not yet in there.
  void insert(const MarginalBid& piece);
  // Requires: in there.
  void erase(const MarginalBid& piece);
  // Replaces everything; `pieces` in any order, each once. O(n log n) for the sort, O(n) beyond.
  void assign(std::vector<MarginalBid> bids);

  struct Frontier {
    std::optional<MarginalBid> next;  // the first piece that no longer fits; none = everything fits
    std::int64_t used = 0;            // slots of all pieces before it
  };
  // The longest run of pieces from the first whose widths add up to at most `slots`.
  [[nodiscard]] Frontier frontier(std::int64_t slots) const;
  // The first piece after `piece` (which need not be in there).
  [[nodiscard]] std::optional<MarginalBid> after(const MarginalBid& piece) const;
  // The last piece before `piece` (which need not be in there).
  [[nodiscard]] std::optional<MarginalBid> before(const MarginalBid& piece) const;

 private:
  using Index = std::uint32_t;
  static constexpr Index kNone = UINT32_MAX;
  struct Node {
    MarginalBid piece;
    std::uint64_t priority = 0;
    Index left = kNone;
    Index right = kNone;
    std::int64_t total = 0;  // widths in this subtree
  };
  struct Parts {
    Index before = kNone;
    Index from = kNone;
  };

  [[nodiscard]] const Node& node(Index index) const { return nodes_[index]; }
  [[nodiscard]] Node& node(Index index) { return nodes_[index]; }
  [[nodiscard]] std::int64_t total_of(Index index) const { return index == kNone ? 0 : node(index).total; }
  [[nodiscard]] Index make(const MarginalBid& piece);
  void sum_up(Index index);
  [[nodiscard]] Parts split(Index root, const MarginalBid& at);
  [[nodiscard]] Index merge(Index before, Index from);
  [[nodiscard]] Index erase_below(Index root, const MarginalBid& piece);

  std::vector<Node> nodes_;
  std::vector<Index> unused_;
  Index root_ = kNone;
};

}  // namespace tidepool::policies::tidal
