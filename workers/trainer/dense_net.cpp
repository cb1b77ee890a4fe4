#include "workers/trainer/dense_net.hpp"

#include <Eigen/Core>
#include <cmath>

#include "base/check.hpp"

namespace tidepool::trainer {
namespace {

using Matrix = Eigen::MatrixXf;
using ConstMap = Eigen::Map<const Matrix>;
using Map = Eigen::Map<Matrix>;

// Views of the four blocks of parameters (or of their gradients).
template <class Float, class MapType>
struct Blocks {
  MapType w1;
  MapType b1;
  MapType w2;
  MapType b2;

  Blocks(const DenseShape& s, Float* at)
      : w1(at, s.hidden, s.inputs),
        b1(w1.data() + w1.size(), s.hidden, 1),
        w2(b1.data() + b1.size(), s.classes, s.hidden),
        b2(w2.data() + w2.size(), s.classes, 1) {}
};

void initialise_weights(Map weights, Rng& rng) {
  const double bound = std::sqrt(6.0 / static_cast<double>(weights.rows() + weights.cols()));
  for (Eigen::Index i = 0; i < weights.size(); ++i) {
    weights.data()[i] = static_cast<float>(bound * (2.0 * rng.uniform() - 1.0));
  }
}

// Replaces scores by the gradient of the summed cross-entropy with respect to them, and returns that loss.
double softmax_cross_entropy(std::span<const int> classes, Matrix& scores) {
  double loss = 0;
  for (Eigen::Index sample = 0; sample < scores.cols(); ++sample) {
    auto column = scores.col(sample);
    const float largest = column.maxCoeff();  // keeps exp() in range
    column = (column.array() - largest).exp();
    column /= column.sum();
    const Eigen::Index right = classes[static_cast<std::size_t>(sample)];
    loss -= std::log(std::max(static_cast<double>(column(right)), 1e-30));
    column(right) -= 1.0F;
  }
  return loss;
}

}  // namespace

std::size_t DenseShape::parameters() const {
  const auto in = static_cast<std::size_t>(inputs);
  const auto h = static_cast<std::size_t>(hidden);
  const auto c = static_cast<std::size_t>(classes);
  return h * in + h + c * h + c;
}

void initialise_dense(const DenseShape& shape, Rng& rng, std::span<float> parameters) {
  TP_CHECK(parameters.size() == shape.parameters(), "the flat buffer has the shape's length");
  Blocks<float, Map> blocks(shape, parameters.data());
  initialise_weights(blocks.w1, rng);
  blocks.b1.setZero();
  initialise_weights(blocks.w2, rng);
  blocks.b2.setZero();
}

double add_dense_gradient(const DenseShape& shape, std::span<const float> parameters, const DenseBatch& batch,
                          std::span<float> gradient) {
  const auto count = static_cast<Eigen::Index>(batch.classes.size());
  TP_CHECK(batch.inputs.size() == static_cast<std::size_t>(count * shape.inputs), "one column of inputs a sample");
  if (count == 0) return 0;
  const Blocks<const float, ConstMap> p(shape, parameters.data());
  Blocks<float, Map> g(shape, gradient.data());
  const ConstMap inputs(batch.inputs.data(), shape.inputs, count);

  Matrix hidden = p.w1 * inputs;
  hidden.colwise() += p.b1.col(0);
  hidden = hidden.array().tanh();
  Matrix scores = p.w2 * hidden;
  scores.colwise() += p.b2.col(0);
  const double loss = softmax_cross_entropy(batch.classes, scores);

  g.w2.noalias() += scores * hidden.transpose();
  g.b2.col(0) += scores.rowwise().sum();
  Matrix back = p.w2.transpose() * scores;
  back.array() *= 1.0F - hidden.array().square();  // derivative of tanh
  g.w1.noalias() += back * inputs.transpose();
  g.b1.col(0) += back.rowwise().sum();
  if (!batch.input_gradient.empty()) {
    Map(batch.input_gradient.data(), shape.inputs, count).noalias() = p.w1.transpose() * back;
  }
  return loss;
}

}  // namespace tidepool::trainer
