#include "policies/models/usl_curve.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

namespace tidepool::policies {
namespace {

constexpr std::size_t kTerms = 3;
using Vector = std::array<double, kTerms>;
using Matrix = std::array<Vector, kTerms>;

// The normal equations of y = k/X against the terms 1, k-1, k(k-1), with y scaled to 1 for every point.
struct NormalEquations {
  Matrix left{};
  Vector right{};
  double square = 0;  // sum of w y^2

  void add(const ThroughputPoint& point) {
    const double k = point.size;
    const double scale = point.samples_per_second / k;  // so that errors are relative
    const Vector row{scale, scale * (k - 1), scale * k * (k - 1)};
    for (std::size_t i = 0; i < kTerms; ++i) {
      for (std::size_t j = 0; j < kTerms; ++j) left[i][j] += point.weight * row[i] * row[j];
      right[i] += point.weight * row[i];
    }
    square += point.weight;
  }

  [[nodiscard]] double residual(const Vector& x) const {
    double sum = square;
    for (std::size_t i = 0; i < kTerms; ++i) {
      sum -= 2 * x[i] * right[i];
      for (std::size_t j = 0; j < kTerms; ++j) sum += x[i] * left[i][j] * x[j];
    }
    return sum;
  }
};

// Gauss elimination with pivoting over the terms in `active`; the others stay zero. Nothing if it is singular.
std::optional<Vector> solve(const NormalEquations& equations, std::span<const std::size_t> active) {
  const std::size_t n = active.size();
  std::array<std::array<double, kTerms + 1>, kTerms> rows{};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) rows[i][j] = equations.left[active[i]][active[j]];
    rows[i][n] = equations.right[active[i]];
  }
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    for (std::size_t i = column + 1; i < n; ++i) {
      if (std::abs(rows[i][column]) > std::abs(rows[pivot][column])) pivot = i;
    }
    if (std::abs(rows[pivot][column]) < 1e-12 * (1 + std::abs(equations.left[active[column]][active[column]])))
      return {};
    std::swap(rows[column], rows[pivot]);
    for (std::size_t i = 0; i < n; ++i) {
      if (i == column) continue;
      const double factor = rows[i][column] / rows[column][column];
      for (std::size_t j = column; j <= n; ++j) rows[i][j] -= factor * rows[column][j];
    }
  }
  Vector x{};
  for (std::size_t i = 0; i < n; ++i) x[active[i]] = rows[i][n] / rows[i][i];
  return x;
}

// Least squares with no negative term: with three terms, trying each set of active ones is exact.
std::optional<Vector> solve_non_negative(const NormalEquations& equations, std::size_t distinct_sizes) {
  static const std::vector<std::vector<std::size_t>> subsets{{0}, {0, 1}, {0, 2}, {0, 1, 2}};
  std::optional<Vector> best;
  for (const auto& active : subsets) {
    const bool too_many = active.size() > distinct_sizes;
    const bool kappa_from_two = active.size() == 2 && active[1] == 2 && distinct_sizes == 2;
    if (too_many || kappa_from_two) continue;
    const auto x = solve(equations, active);
    if (!x || (*x)[0] <= 0 || (*x)[1] < 0 || (*x)[2] < 0) continue;
    if (!best || equations.residual(*x) < equations.residual(*best)) best = x;
  }
  return best;
}

}  // namespace

double UslCurve::at(int size) const {
  const double k = size;
  return lambda * k / (1 + sigma * (k - 1) + kappa * k * (k - 1));
}

std::optional<UslCurve> fit_usl(const std::vector<ThroughputPoint>& points) {
  // One scale for all rates keeps the equations well conditioned whatever the unit of a sample is.
  double unit = 0;
  for (const auto& point : points) unit = std::max(unit, point.samples_per_second);
  NormalEquations equations;
  std::vector<int> sizes;
  sizes.reserve(points.size());
  for (auto point : points) {
    const bool sound = point.size >= 1 && point.samples_per_second > 0 && point.weight > 0;
    if (!sound || !std::isfinite(point.samples_per_second) || !std::isfinite(point.weight)) continue;
    point.samples_per_second /= unit;
    equations.add(point);
    sizes.push_back(point.size);
  }
  std::sort(sizes.begin(), sizes.end());
  const auto distinct = std::unique(sizes.begin(), sizes.end()) - sizes.begin();
  const auto x = solve_non_negative(equations, static_cast<std::size_t>(distinct));
  if (!x) return std::nullopt;
  const auto [base, serial, pairwise] = *x;
  return UslCurve{.lambda = unit / base, .sigma = serial / base, .kappa = pairwise / base};
}

std::optional<UslCurve> fit_usl(const std::map<int, core::SizeRecord>& sizes) {
  std::vector<ThroughputPoint> points;
  points.reserve(sizes.size());
  for (const auto& [size, record] : sizes) points.push_back(point_of(size, record));
  return fit_usl(points);
}

ThroughputPoint point_of(int size, const core::SizeRecord& record) {
  constexpr std::int64_t kStepsMax = 1'000;
  const auto weight = static_cast<double>(std::min(record.steps, kStepsMax));
  return {.size = size, .samples_per_second = record.samples_per_second, .weight = weight};
}

}  // namespace tidepool::policies
