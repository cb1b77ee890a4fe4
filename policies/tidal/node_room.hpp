// The free slots of every node and the jobs on it: the workspace on which a layout is tried.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "policies/cluster/cluster_view.hpp"

namespace tidepool::policies::tidal {

class NodeRoom {
 public:
  explicit NodeRoom(const std::vector<cluster::NodeRow>& nodes);

  // Requires: the slots are free; for take(), that the row is placed there.
  void put(std::size_t row, const cluster::Placement& placement);
  void take(std::size_t row, const cluster::Placement& placement);

  // The fullest node other than `except` with room for `slots`; -1 if there is none. Ties go to the smaller node.
  [[nodiscard]] int fullest_with(int slots, int except = -1) const;
  // On as few nodes as possible: while more is missing than any node has free, the emptiest node whole, then the
  // fullest node with room. Whole workers of `unit` slots only; none if they do not fit.
  [[nodiscard]] std::optional<cluster::Placement> place(int size, int unit) const;
  [[nodiscard]] bool is_free(const cluster::Placement& placement) const;
  [[nodiscard]] int free(std::size_t node) const { return free_[node]; }
  [[nodiscard]] std::size_t nodes() const { return free_.size(); }
  [[nodiscard]] const std::vector<std::size_t>& on(std::size_t node) const { return on_[node]; }

 private:
  std::vector<int> free_;
  std::vector<std::vector<std::size_t>> on_;  // rows with a share on the node, in the order in which they were placed
};

}  // namespace tidepool::policies::tidal
