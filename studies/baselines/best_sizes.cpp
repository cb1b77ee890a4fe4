#include "studies/baselines/best_sizes.hpp"

#include <utility>

namespace tidepool::policies::cluster {

std::optional<std::vector<int>> best_sizes(const std::vector<std::vector<double>>& worth, int slots,
                                           core::StepBudget& budget) {
  constexpr double kBetter = 1e-12;  // a smaller gain is rounding
  const auto columns = static_cast<std::size_t>(slots) + 1;
  std::vector<double> most(columns, 0);  // worth of the jobs so far, by the slots they may use
  std::vector<int> chosen(worth.size() * columns, 0);
  for (std::size_t i = 0; i < worth.size(); ++i) {
    if (!budget.spend(static_cast<std::int64_t>(columns * worth[i].size()))) return std::nullopt;
    std::vector<double> next(columns);
    for (std::size_t room = 0; room < columns; ++room) {
      double best = most[room] + worth[i][0];
      for (std::size_t size = 1; size < worth[i].size() && size <= room; ++size) {
        const double value = most[room - size] + worth[i][size];
        if (value <= best + kBetter) continue;
        best = value;
        chosen[i * columns + room] = static_cast<int>(size);
      }
      next[room] = best;
    }
    most = std::move(next);
  }
  std::vector<int> sizes(worth.size());
  auto room = static_cast<std::size_t>(slots);
  for (std::size_t i = worth.size(); i-- > 0;) {
    sizes[i] = chosen[i * columns + room];
    room -= static_cast<std::size_t>(sizes[i]);
  }
  return sizes;
}

}  // namespace tidepool::policies::cluster
