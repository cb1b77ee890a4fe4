// One size for each of several jobs so that together they fit and are worth most: dynamic programming over slots.
#pragma once

#include <optional>
#include <vector>

#include "core/decide/step_budget.hpp"

namespace tidepool::policies::cluster {

// worth[i][k]: of k slots to the i-th job; at least worth[i][0]; minus infinity where it must not hold k. Of equal sums
// the one with smaller sizes for later jobs. Steps counted: jobs x slots x sizes; nothing once the budget is spent.
[[nodiscard]] std::optional<std::vector<int>> best_sizes(const std::vector<std::vector<double>>& worth, int slots,
                                                         core::StepBudget& budget);

}  // namespace tidepool::policies::cluster
