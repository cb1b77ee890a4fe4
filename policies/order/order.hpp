// The order stage: which waiting job starts first. Implementations are pure and keep no memory.
#pragma once

#include <optional>
#include <vector>

#include "base/ids.hpp"
#include "core/decide/policy.hpp"

namespace tidepool::policies {

class OrderStage {
 public:
  virtual ~OrderStage() = default;
  // Every pending job exactly once, first to start first; the last tie-break is the id.
  [[nodiscard]] virtual std::vector<JobId> order(const core::ClusterView& view, core::StepBudget& budget) const = 0;
  // What it sorts by, if that follows from each job alone (core::Policy::rank).
  [[nodiscard]] virtual std::optional<core::QueueRank> rank(const core::Job& /*job*/) const { return std::nullopt; }
};

}  // namespace tidepool::policies
