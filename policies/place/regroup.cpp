#include "policies/place/regroup.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/check.hpp"

namespace tidepool::policies {
namespace {

class Layout {
 public:
  Layout(const cluster::View& view, const cluster::Allocation& allocation)
      : view_(view), allocation_(allocation), kept_(keep_unchanged(view, allocation)) {
    for (std::size_t row = 0; row < view.jobs.size(); ++row) {
      if (size(row) > 0 && kept_.placements[row].empty()) missing_.emplace(-size(row), row);
    }
  }

  [[nodiscard]] std::vector<cluster::Placement> settle() && {
    while (!missing_.empty()) {
      const std::size_t row = missing_.begin()->second;
      missing_.erase(missing_.begin());
      lay_out(row);
    }
    return std::move(kept_.placements);
  }

 private:
  [[nodiscard]] int size(std::size_t row) const { return allocation_.grants[row].size; }
  [[nodiscard]] int& free(std::size_t node) { return kept_.free[node]; }

  void lay_out(std::size_t row) {
    int largest = 0;
    for (const cluster::NodeRow& node : view_.nodes) {
      if (suits(node, allocation_.grants[row])) largest = std::max(largest, node.slots);
    }
    int left = size(row);
    while (left > 0) {
      const int part = std::min(left, largest);
      auto node = fullest_with(part, row);
      if (!node) node = make_room(part, row);
      if (!node) node = emptiest(row);
      TP_CHECK(node && free(*node) > 0, "sizes that were checked find their slots");
      const int slots = std::min(part, free(*node));
      add(row, *node, slots);
      left -= slots;
    }
  }

  void add(std::size_t row, std::size_t node, int slots) {
    kept_.placements[row].push_back({.node = static_cast<int>(node), .slots = slots});
    free(node) -= slots;
  }

  [[nodiscard]] std::optional<std::size_t> fullest_with(int part, std::size_t row) {
    std::optional<std::size_t> best;
    for (std::size_t node = 0; node < kept_.free.size(); ++node) {
      if (free(node) >= part && may_take(row, node) && (!best || free(node) < free(*best))) best = node;
    }
    return best;
  }

  [[nodiscard]] std::optional<std::size_t> emptiest(std::size_t row) {
    std::optional<std::size_t> best;
    for (std::size_t node = 0; node < kept_.free.size(); ++node) {
      if (may_take(row, node) && (!best || free(node) > free(*best))) best = node;
    }
    return best;
  }

  // Its slots are of the type that the job was granted, and the job does not lie there yet.
  [[nodiscard]] bool may_take(std::size_t row, std::size_t node) const {
    return suits(view_.nodes[node], allocation_.grants[row]) &&
           std::ranges::none_of(kept_.placements[row],
                                [&](const auto& share) { return share.node == static_cast<int>(node); });
  }

  // Smallest first: the jobs of this node alone that are smaller than a part, which has to be larger than they are or
  // they would be placed again and again.
  [[nodiscard]] std::vector<std::pair<int, std::size_t>> smaller_on(std::size_t node, int part) const {
    std::vector<std::pair<int, std::size_t>> found;
    for (std::size_t row = 0; row < kept_.placements.size(); ++row) {
      const auto& placement = kept_.placements[row];
      if (placement.size() == 1 && placement[0].node == static_cast<int>(node) && size(row) < part) {
        found.emplace_back(size(row), row);
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  // On the emptiest node where enough smaller jobs lie; nothing if there is none.
  [[nodiscard]] std::optional<std::size_t> make_room(int part, std::size_t row) {
    std::optional<std::size_t> best;
    for (std::size_t node = 0; node < kept_.free.size(); ++node) {
      int room = free(node);
      for (const auto& [slots, other] : smaller_on(node, part)) room += slots;
      if (room >= part && may_take(row, node) && (!best || free(node) > free(*best))) best = node;
    }
    if (!best) return std::nullopt;
    for (const auto& [slots, other] : smaller_on(*best, part)) {
      if (free(*best) >= part) break;
      kept_.placements[other].clear();
      free(*best) += slots;
      missing_.emplace(-slots, other);
    }
    return best;
  }

  const cluster::View& view_;
  const cluster::Allocation& allocation_;
  KeptPlaces kept_;
  std::set<std::pair<int, std::size_t>> missing_;  // size below 0, so that the largest comes first
};

}  // namespace

std::vector<cluster::Placement> Regroup::place(const cluster::View& view, const cluster::Allocation& allocation) const {
  return Layout(view, allocation).settle();
}

}  // namespace tidepool::policies
