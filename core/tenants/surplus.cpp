#include "core/tenants/surplus.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tidepool::core {
namespace {

template <class Amount>
using Fill = std::vector<Amount> (*)(const std::vector<Basin>&, Amount);

template <class Amount>
std::vector<Amount> filled(const std::vector<Basin>& basins, const Claims& claims, Amount amount, Fill<Amount> fill) {
  std::vector<Amount> had(basins.size(), 0);
  // Requires: as many basins. What they take is added to what each had.
  const auto pour = [&](const std::vector<Basin>& into) {
    const Amount left = amount - std::accumulate(had.begin(), had.end(), Amount{});
    if (left <= 0) return;
    const std::vector<Amount> more = fill(into, left);
    for (std::size_t i = 0; i < had.size(); ++i) had[i] += more[i];
  };
  std::vector<Basin> claimed, unclaimed;
  for (std::size_t i = 0; i < basins.size(); ++i) {
    const int claim = claims[i].value_or(0);
    claimed.push_back({.cap = std::min(claim, basins[i].cap), .weight = claim});
    unclaimed.push_back(basins[i]);
    if (claims[i] || basins[i].weight == 0) unclaimed.back().cap = 0;
  }
  pour(claimed);
  pour(unclaimed);
  std::vector<Basin> rest = basins;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    rest[i].cap = std::max(0, rest[i].cap - static_cast<int>(std::ceil(had[i])));
    rest[i].offset += static_cast<double>(had[i]);
  }
  pour(rest);
  return had;
}

}  // namespace

std::vector<int> fill_by_claims(const std::vector<Basin>& basins, const Claims& claims, int amount) {
  return filled<int>(basins, claims, amount, fill);
}

std::vector<double> fill_exactly_by_claims(const std::vector<Basin>& basins, const Claims& claims, double amount) {
  return filled<double>(basins, claims, amount, fill_exactly);
}

}  // namespace tidepool::core
