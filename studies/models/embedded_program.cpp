#include "studies/models/embedded_program.hpp"

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <algorithm>
#include <cmath>

namespace tidepool::policies {
namespace {

using Vector = Eigen::VectorXd;
using Sparse = Eigen::SparseMatrix<double>;
using Entry = Eigen::Triplet<double>;

// ECOS's tolerances and step rules.
constexpr double kArrived = 1e-8;
constexpr double kCloseEnough = 1e-6;  // where the numbers go no further
constexpr double kStepBack = 0.99;     // of the way to the nearest bound
constexpr double kLongest = 0.999;     // step
constexpr double kLeastCentring = 1e-4;
// Makes the systems solvable by a factorization without pivoting; refinement takes its effect out again.
constexpr double kRegular = 1e-9;
constexpr int kRefinements = 3;

// minimize cost x  subject to  rows x + slack = limits, slack >= 0.
struct Standard {
  Vector cost;
  Sparse rows;
  Vector limits;

  explicit Standard(const LinearProgram& program) {
    const auto& columns = program.columns();
    std::vector<Entry> entries;
    std::vector<double> high;
    const auto at_most = [&](const std::vector<LinearProgram::Term>& terms, double sign, double limit) {
      if (!std::isfinite(limit)) return;
      const auto row = static_cast<int>(high.size());
      for (const LinearProgram::Term& term : terms) {
        entries.emplace_back(row, static_cast<int>(term.column), sign * term.factor);
      }
      high.push_back(sign * limit);
    };
    cost.resize(static_cast<Eigen::Index>(columns.size()));
    for (std::size_t column = 0; column < columns.size(); ++column) {
      cost[static_cast<Eigen::Index>(column)] = -columns[column].objective;
      at_most({{.column = column, .factor = 1}}, -1, columns[column].low);
      at_most({{.column = column, .factor = 1}}, 1, columns[column].high);
    }
    for (const LinearProgram::Row& row : program.rows()) {
      at_most(row.terms, -1, row.low);
      at_most(row.terms, 1, row.high);
    }
    rows.resize(static_cast<Eigen::Index>(high.size()), cost.size());
    rows.setFromTriplets(entries.begin(), entries.end());
    limits = Eigen::Map<const Vector>(high.data(), static_cast<Eigen::Index>(high.size()));
  }
};

// Solves [0 rows'; rows -diag(weights)] (x; z) = (first; second) for one set of weights after the other.
class Kkt {
 public:
  explicit Kkt(const Sparse& rows) : rows_(rows) {}

  bool factorize(const Vector& weights) {
    weights_ = weights;
    const Eigen::Index columns = rows_.cols();
    std::vector<Entry> entries;
    entries.reserve(static_cast<std::size_t>(columns + rows_.nonZeros() + weights.size()));
    for (Eigen::Index i = 0; i < columns; ++i) entries.emplace_back(i, i, kRegular);
    for (Eigen::Index column = 0; column < columns; ++column) {
      for (Sparse::InnerIterator entry(rows_, column); entry; ++entry) {
        entries.emplace_back(columns + entry.row(), column, entry.value());
      }
    }
    for (Eigen::Index i = 0; i < weights.size(); ++i) {
      entries.emplace_back(columns + i, columns + i, -weights[i] - kRegular);
    }
    Sparse lower(columns + weights.size(), columns + weights.size());
    lower.setFromTriplets(entries.begin(), entries.end());
    if (!analyzed_) factors_.analyzePattern(lower);
    analyzed_ = true;
    factors_.factorize(lower);
    return factors_.info() == Eigen::Success;
  }

  struct Point {
    Vector x;
    Vector z;
  };
  [[nodiscard]] Point solve(const Vector& first, const Vector& second) const {
    Vector right(first.size() + second.size());
    right << first, second;
    Vector found = factors_.solve(right);
    for (int round = 0; round < kRefinements; ++round) found += factors_.solve(right - times(found));
    return {.x = found.head(first.size()), .z = found.tail(second.size())};
  }

 private:
  [[nodiscard]] Vector times(const Vector& point) const {
    const auto x = point.head(rows_.cols());
    const auto z = point.tail(rows_.rows());
    Vector product(point.size());
    product << rows_.transpose() * z, rows_ * x - weights_.cwiseProduct(z);
    return product;
  }

  const Sparse& rows_;
  Vector weights_;
  Eigen::SimplicialLDLT<Sparse, Eigen::Lower> factors_;
  bool analyzed_ = false;
};

// A point of the embedding, or a step.
struct Place {
  Vector x, slack, price;
  double scale = 1;  // of x, slack and price
  double gap = 1;    // 0 at an answer, scale being 0 where there is none
};

class Walk {
 public:
  explicit Walk(const Standard& program) : program_(program), kkt_(program.rows) {}

  std::optional<Vector> run() {
    std::optional<Vector> close;
    if (!start()) return close;
    for (int step = 0; step < kEmbeddedStepsMax; ++step) {
      measure();
      if (!std::isfinite(mean_)) return close;
      if (arrived(kArrived)) return at_.x / at_.scale;
      if (arrived(kCloseEnough)) close = at_.x / at_.scale;
      if (!kkt_.factorize(at_.slack.cwiseQuotient(at_.price))) return close;
      along_ = kkt_.solve(-program_.cost, program_.limits);
      const Vector both = -at_.slack.cwiseProduct(at_.price);
      const Place straight = step_for(0, both, -at_.scale * at_.gap);
      const double centring = std::clamp(std::pow(1 - longest(straight), 3), kLeastCentring, 1.0);
      const Vector bend = straight.slack.cwiseProduct(straight.price);
      move(step_for(centring, (both - bend).array() + centring * mean_,
                    centring * mean_ - at_.scale * at_.gap - straight.scale * straight.gap));
    }
    return close;
  }

 private:
  static Vector made_positive(const Vector& values) {
    const double short_by = -values.minCoeff();
    return short_by < 0 ? values : Vector(values.array() + (1 + short_by));
  }

  bool start() {
    if (!kkt_.factorize(Vector::Ones(program_.limits.size()))) return false;
    const auto primal = kkt_.solve(Vector::Zero(program_.cost.size()), program_.limits);
    const auto dual = kkt_.solve(-program_.cost, Vector::Zero(program_.limits.size()));
    at_.x = primal.x;
    at_.slack = made_positive(-primal.z);
    at_.price = made_positive(dual.z);
    return true;
  }

  void measure() {
    dual_off_ = -(program_.rows.transpose() * at_.price) - program_.cost * at_.scale;
    primal_off_ = at_.slack + program_.rows * at_.x - program_.limits * at_.scale;
    gap_off_ = at_.gap + program_.cost.dot(at_.x) + program_.limits.dot(at_.price);
    mean_ = (at_.slack.dot(at_.price) + at_.scale * at_.gap) / static_cast<double>(at_.slack.size() + 1);
  }

  [[nodiscard]] bool arrived(double tolerance) const {
    const double primal = primal_off_.norm() / at_.scale / std::max(1.0, program_.limits.norm());
    const double dual = dual_off_.norm() / at_.scale / std::max(1.0, program_.cost.norm());
    const double gap = at_.slack.dot(at_.price) / at_.scale / at_.scale;
    const double worth = std::abs(program_.cost.dot(at_.x)) / at_.scale;
    return primal < tolerance && dual < tolerance && (gap < tolerance || gap < tolerance * worth);
  }

  // The step that takes the residuals to `centring` times what they are, and the products slack x price and scale x
  // gap by `products` and `product`.
  [[nodiscard]] Place step_for(double centring, const Vector& products, double product) const {
    const double part = 1 - centring;
    const auto base = kkt_.solve(part * dual_off_, -part * primal_off_ - products.cwiseQuotient(at_.price));
    Place step;
    step.scale = (-part * gap_off_ - program_.cost.dot(base.x) - program_.limits.dot(base.z) - product / at_.scale) /
                 (program_.cost.dot(along_.x) + program_.limits.dot(along_.z) - at_.gap / at_.scale);
    step.x = base.x + step.scale * along_.x;
    step.price = base.z + step.scale * along_.z;
    step.slack = (products - at_.slack.cwiseProduct(step.price)).cwiseQuotient(at_.price);
    step.gap = (product - at_.gap * step.scale) / at_.scale;
    return step;
  }

  // How much of a step keeps everything above 0, at most all of it.
  [[nodiscard]] double longest(const Place& step) const {
    double part = 1;
    const auto limit = [&part](double value, double change) {
      if (change < 0) part = std::min(part, -value / change);
    };
    for (Eigen::Index i = 0; i < at_.slack.size(); ++i) {
      limit(at_.slack[i], step.slack[i]);
      limit(at_.price[i], step.price[i]);
    }
    limit(at_.scale, step.scale);
    limit(at_.gap, step.gap);
    return part;
  }

  void move(const Place& step) {
    const double part = std::min(kLongest, kStepBack * longest(step));
    at_.x += part * step.x;
    at_.slack += part * step.slack;
    at_.price += part * step.price;
    at_.scale += part * step.scale;
    at_.gap += part * step.gap;
  }

  const Standard& program_;
  Kkt kkt_;
  Place at_;
  Kkt::Point along_;  // what one more of `scale` does to x and price
  Vector dual_off_, primal_off_;
  double gap_off_ = 0;
  double mean_ = 0;  // product
};

}  // namespace

std::optional<std::vector<double>> maximize_by_embedding(const LinearProgram& program) {
  if (program.columns().empty()) return std::vector<double>{};
  const Standard standard(program);
  if (standard.limits.size() == 0) return std::nullopt;  // nothing bounds it
  const auto found = Walk(standard).run();
  if (!found) return std::nullopt;
  return std::vector<double>(found->begin(), found->end());
}

LinearAnswer maximize_at_path_end(const LinearProgram& program) {
  const auto values = maximize_by_embedding(program);
  if (values) return answer_of(program, Solved::kOptimal, values->data());
  LinearAnswer corner = maximize(program, Optimum::kCorner);
  return corner.solved == Solved::kOptimal ? maximize(program, Optimum::kCentre) : corner;
}

}  // namespace tidepool::policies
