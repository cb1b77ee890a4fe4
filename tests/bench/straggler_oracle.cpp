#include "tests/bench/straggler_oracle.hpp"

#include <Eigen/Dense>
#include <cmath>

namespace tidepool::test {
namespace {

// So small a share of the variance is added that C can be inverted.
constexpr double kRidge = 1e-6;

// Every stretch of `steps` steps as a row: log times of all ranks, step after step, less their mean.
Eigen::MatrixXd stretches(const ComputeTimes& recorded, int steps) {
  const auto ranks = static_cast<Eigen::Index>(recorded.front().size());
  const auto count = static_cast<Eigen::Index>(recorded.size()) - steps + 1;
  Eigen::MatrixXd rows(count, steps * ranks);
  for (Eigen::Index at = 0; at < count; ++at) {
    for (Eigen::Index i = 0; i < steps * ranks; ++i) {
      const auto& step = recorded[static_cast<std::size_t>(at + i / ranks)];
      rows(at, i) = std::log(static_cast<double>(step[static_cast<std::size_t>(i % ranks)]));
    }
  }
  rows.rowwise() -= rows.colwise().mean().eval();
  return rows;
}

}  // namespace

double share_told_apart(const ComputeTimes& recorded, double slowness, int steps) {
  const auto ranks = static_cast<Eigen::Index>(recorded.front().size());
  const Eigen::MatrixXd noise = stretches(recorded, steps);
  Eigen::MatrixXd covariance = noise.transpose() * noise / static_cast<double>(noise.rows());
  covariance.diagonal().array() += kRidge * covariance.diagonal().mean();
  const Eigen::LDLT<Eigen::MatrixXd> solver(covariance);
  Eigen::MatrixXd values(noise.rows(), ranks);  // of each stretch and rank: the shift that it looks like
  for (Eigen::Index rank = 0; rank < ranks; ++rank) {
    Eigen::VectorXd shift = Eigen::VectorXd::Zero(noise.cols());
    for (Eigen::Index step = 0; step < steps; ++step) shift(step * ranks + rank) = 1;
    const Eigen::VectorXd weights = solver.solve(shift);
    values.col(rank) = noise * weights / weights.dot(shift);
  }
  const double bar = values.maxCoeff();
  const auto told = (values.array() + std::log(slowness) > bar).count();
  return static_cast<double>(told) / static_cast<double>(values.size());
}

}  // namespace tidepool::test
