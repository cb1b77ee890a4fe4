#include "studies/models/step_time_fit.hpp"

#include <Eigen/Dense>
#include <unsupported/Eigen/NonLinearOptimization>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/check.hpp"

namespace tidepool::policies {
namespace {

constexpr double kTiny = 1e-8;  // seconds; stands for 0, whose logarithm has no value
constexpr double kOverlapMax = 10;
constexpr int kParameters = 7;
constexpr int kEvaluationsMax = 60;
// A start whose base and growth of sync come from different fits can throw a parameter to its bound, where the misfit
// is flat; a fit worse than this is made again from the usual start. Measured profiles stay below 0.13.
constexpr double kPoorFit = 0.2;
// They decide only what the measurements leave open: little overlap, little growth of sync with the number of workers.
constexpr double kOverlapPrior = 0.01;
constexpr double kGrowthPrior = 0.01;

enum Parameter : int { kComputeBase, kComputeEach, kNodeBase, kNodeEach, kLocalBase, kLocalEach, kOverlap };

// The optimizer moves freely in these: logarithms, and the overlap bent into its range.
using Free = Eigen::Matrix<double, kParameters, 1>;

double overlap_of(double free) {
  return 1 + (kOverlapMax - 1) / (1 + std::exp(-free));
}

StepTimeModel model_of(const Free& free) {
  return {.compute_base = std::exp(free[kComputeBase]),
          .compute_each = std::exp(free[kComputeEach]),
          .node_base = std::exp(free[kNodeBase]),
          .node_each = std::exp(free[kNodeEach]),
          .local_base = std::exp(free[kLocalBase]),
          .local_each = std::exp(free[kLocalEach]),
          .overlap = overlap_of(free[kOverlap])};
}

Free free_of(const StepTimeModel& model) {
  Free free;
  const std::array<double, 6> positive{model.compute_base, model.compute_each, model.node_base,
                                       model.node_each,    model.local_base,   model.local_each};
  for (int i = 0; i < 6; ++i) free[i] = std::log(std::max(kTiny, positive[static_cast<std::size_t>(i)]));
  const double share = std::clamp((model.overlap - 1) / (kOverlapMax - 1), 1e-3, 1 - 1e-3);
  free[kOverlap] = std::log(share / (1 - share));
  return free;
}

// Residuals and their derivatives by the parameters that the measurements can tell.
class Misfit {
 public:
  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  // NOLINTNEXTLINE(readability-identifier-naming): the names that Eigen asks for
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

  Misfit(const std::vector<StepMeasurement>& measurements, std::vector<int> told, Free all)
      : measurements_(measurements), told_(std::move(told)), all_(std::move(all)) {}

  [[nodiscard]] int inputs() const { return static_cast<int>(told_.size()); }
  [[nodiscard]] int values() const { return 2 * static_cast<int>(measurements_.size()) + 3; }

  [[nodiscard]] Free spread(const Eigen::VectorXd& told) const {
    Free all = all_;
    for (int i = 0; i < inputs(); ++i) all[told_[static_cast<std::size_t>(i)]] = std::clamp(told[i], -30.0, 30.0);
    return all;
  }

  int operator()(const Eigen::VectorXd& told, Eigen::VectorXd& residuals) const {
    const StepTimeModel model = model_of(spread(told));
    const double share = 1 / std::sqrt(double(measurements_.size()));
    int row = 0;
    for (const StepMeasurement& m : measurements_) {
      const double compute = std::max(kTiny, m.time.step_s - m.time.sync_s);
      residuals[row++] = share * std::log(model.compute_seconds(m.local_batch) / compute);
      residuals[row++] = share * std::log(model.step_seconds(m.shape, m.local_batch) / m.time.step_s);
    }
    residuals[row++] = kOverlapPrior * (model.overlap - 1);
    residuals[row++] = kGrowthPrior * model.node_each / model.node_base;
    residuals[row++] = kGrowthPrior * model.local_each / model.local_base;
    return 0;
  }

  // By central differences: seven parameters, a few dozen measurements.
  int df(const Eigen::VectorXd& told, Eigen::MatrixXd& jacobian) const {
    constexpr double kStep = 1e-5;
    Eigen::VectorXd above(values());
    Eigen::VectorXd below(values());
    Eigen::VectorXd at = told;
    for (int column = 0; column < inputs(); ++column) {
      at[column] = told[column] + kStep;
      (*this)(at, above);
      at[column] = told[column] - kStep;
      (*this)(at, below);
      at[column] = told[column];
      jacobian.col(column) = (above - below) / (2 * kStep);
    }
    return 0;
  }

 private:
  const std::vector<StepMeasurement>& measurements_;
  std::vector<int> told_;
  Free all_;
};

// What has been seen decides which parameters a fit may move.
struct Seen {
  std::set<int> batches;
  bool nodes = false;   // several nodes
  bool local = false;   // several workers on one node
  bool beyond = false;  // more than two workers
};

Seen seen_in(const std::vector<StepMeasurement>& measurements) {
  Seen seen;
  for (const StepMeasurement& m : measurements) {
    seen.batches.insert(m.local_batch);
    seen.nodes = seen.nodes || m.shape.nodes > 1;
    seen.local = seen.local || (m.shape.nodes == 1 && m.shape.size > 1);
    seen.beyond = seen.beyond || m.shape.size > 2;
  }
  return seen;
}

std::vector<int> with_share_rule(const Seen& seen) {
  std::vector<int> told{kComputeEach};
  if (seen.batches.size() > 1) told.push_back(kComputeBase);
  if (seen.nodes) told.push_back(kNodeBase);
  if (seen.nodes && seen.beyond) told.push_back(kNodeEach);
  if (seen.local) told.push_back(kLocalBase);
  if (seen.local && seen.beyond) told.push_back(kLocalEach);
  if (seen.nodes || seen.local) told.push_back(kOverlap);
  return told;
}

StepTimeModel usual_start(const std::vector<StepMeasurement>& measurements, const Seen& seen) {
  double compute = 0;
  double batch = 0;
  for (const StepMeasurement& m : measurements) {
    compute += std::max(kTiny, m.time.step_s - m.time.sync_s) / double(measurements.size());
    batch += m.local_batch / double(measurements.size());
  }
  const auto sync = [&](bool told) { return told ? 0.1 * compute : kTiny; };
  return {.compute_base = compute / 2,
          .compute_each = compute / 2 / batch,
          .node_base = sync(seen.nodes),
          .node_each = seen.beyond ? 0.1 * sync(seen.nodes) : kTiny,
          .local_base = sync(seen.local),
          .local_each = seen.beyond ? 0.1 * sync(seen.local) : kTiny,
          .overlap = 1.1};
}

// The parameters that the measurements tell, moved from `start` to where the misfit is least.
StepTimeModel solved_from(const Free& start, const std::vector<StepMeasurement>& measurements,
                          const std::vector<int>& told) {
  Misfit misfit(measurements, told, start);
  Eigen::VectorXd free(misfit.inputs());
  for (int i = 0; i < misfit.inputs(); ++i) free[i] = start[told[static_cast<std::size_t>(i)]];
  Eigen::LevenbergMarquardt<Misfit> solver(misfit);
  solver.parameters.maxfev = kEvaluationsMax;
  solver.parameters.ftol = solver.parameters.xtol = 1e-6;
  solver.minimize(free);
  return model_of(misfit.spread(free));
}

// What an earlier fit told, where these measurements tell it too; the rest as usual.
Free warm_start(const StepTimeModel& fitted, const Free& usual, const std::vector<int>& told) {
  Free all = usual;
  const Free earlier = free_of(fitted);
  for (const int parameter : told) {
    if (earlier[parameter] > std::log(2 * kTiny)) all[parameter] = earlier[parameter];
  }
  return all;
}

}  // namespace

double StepTimeModel::sync_seconds(cluster::Shape shape) const {
  if (shape.size <= 1) return 0;
  const double more = std::max(0, shape.size - 2);
  return shape.nodes > 1 ? node_base + node_each * more : local_base + local_each * more;
}

double StepTimeModel::step_seconds(cluster::Shape shape, double local_batch) const {
  const double compute = compute_seconds(local_batch);
  const double sync = sync_seconds(shape);
  if (sync <= 0) return compute;
  // The larger one is taken out, so that no power overflows.
  const double large = std::max(compute, sync);
  const double ratio = std::min(compute, sync) / large;
  return large * std::pow(1 + std::pow(ratio, overlap), 1 / overlap);
}

double fit_error(const StepTimeModel& model, const std::vector<StepMeasurement>& measurements) {
  double sum = 0;
  for (const StepMeasurement& m : measurements) {
    sum += std::abs(std::log(model.step_seconds(m.shape, m.local_batch) / m.time.step_s));
  }
  return measurements.empty() ? 0 : sum / double(measurements.size());
}

StepTimeModel fit_step_time(const std::vector<StepMeasurement>& measurements, const StepTimeModel* start) {
  TP_CHECK(!measurements.empty(), "a fit needs a measurement");
  const Seen seen = seen_in(measurements);
  const std::vector<int> told = with_share_rule(seen);
  const Free usual = free_of(usual_start(measurements, seen));
  StepTimeModel model = solved_from(start == nullptr ? usual : warm_start(*start, usual, told), measurements, told);
  if (start != nullptr && !(fit_error(model, measurements) <= kPoorFit)) {
    const StepTimeModel anew = solved_from(usual, measurements, told);
    if (!(fit_error(model, measurements) <= fit_error(anew, measurements))) model = anew;
  }
  if (!seen.nodes) {
    model.node_base = std::max(model.node_base, 1.1 * model.local_base);
    model.node_each = std::max(model.node_each, 1.1 * model.local_each);
  }
  return model;
}

}  // namespace tidepool::policies
