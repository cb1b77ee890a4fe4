// The arithmetic of the kernels on the CPU, against plain formulas in double.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "workers/trainer/gpu/element_math.hpp"
#include "workers/trainer/sgd.hpp"

namespace tidepool::trainer::gpu {
namespace {

SoftmaxPart all_of(const std::vector<float>& scores) {
  SoftmaxPart part;
  for (const float score : scores) part = softmax_add(part, score);
  return part;
}

}  // namespace

TEST_CASE("the running softmax is the plain one, however the scores are split among threads") {
  const std::vector<float> scores = {0.5F, -1.25F, 3.0F, 2.5F, -7.0F, 0.0F, 1.75F};
  double sum = 0;
  for (const float score : scores) sum += std::exp(static_cast<double>(score));
  for (std::size_t split = 0; split <= scores.size(); ++split) {
    const auto middle = scores.begin() + static_cast<std::ptrdiff_t>(split);
    const SoftmaxPart all = softmax_merge(all_of({scores.begin(), middle}), all_of({middle, scores.end()}));
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const double probability = std::exp(static_cast<double>(scores[i])) / sum;
      CHECK(cross_entropy_gradient(all, scores[i], false) == Approx(probability));
      CHECK(cross_entropy_gradient(all, scores[i], true) == Approx(probability - 1));
      CHECK(cross_entropy(all, scores[i]) == Approx(-std::log(probability)));
    }
  }
}

TEST_CASE("large scores neither overflow nor turn the loss into infinity") {
  const SoftmaxPart all = all_of({1e4F, -1e4F, 0.0F});
  CHECK(cross_entropy(all, 1e4F) == 0);
  CHECK(cross_entropy(all, -1e4F) == Approx(2e4));  // its probability is far below the smallest float
  CHECK(cross_entropy_gradient(all, 1e4F, true) == 0);
  CHECK(cross_entropy_gradient(all, -1e4F, true) == -1);
}

TEST_CASE("an empty part changes nothing, even beside minus infinity") {
  const float never = -std::numeric_limits<float>::infinity();
  const SoftmaxPart some = all_of({1.0F, 2.0F});
  const SoftmaxPart same = softmax_merge(some, SoftmaxPart{});
  CHECK(same.largest == some.largest);
  CHECK(same.sum == some.sum);
  CHECK(softmax_add(some, never).sum == some.sum);
  CHECK(softmax_merge({}, {}).sum == 0);
}

TEST_CASE("an element of SGD is exactly the CPU trainer's") {
  Sgd optimizer(0.2, 0.9, 3);
  std::vector<float> parameters = {1.0F, -2.0F, 0.25F};
  std::vector<SgdElement> elements;
  for (const float parameter : parameters) elements.push_back({0, parameter});
  const std::vector<std::vector<float>> gradients = {{3, -4, 0.5F}, {1, 1, 1}, {-2, 0, 7}};
  for (std::size_t step = 0; step < gradients.size(); ++step) {
    const SgdStep how{.samples = 64, .lr_factor = 1.0 + 0.5 * static_cast<double>(step), .momentum_factor = 0.5};
    optimizer.apply(gradients[step], how, parameters);
    const auto keep = static_cast<float>(0.9 * how.momentum_factor);
    const auto rate = static_cast<float>(0.2 * how.lr_factor / 64);
    for (std::size_t i = 0; i < 3; ++i) {
      elements[i] = sgd_element(elements[i], gradients[step][i], keep, rate);
      CHECK(elements[i].parameter == parameters[i]);
      CHECK(elements[i].velocity == optimizer.state()[i]);
    }
  }
}

TEST_CASE("tanh and its derivative agree with a difference quotient") {
  for (const float x : {-3.0F, -0.5F, 0.0F, 0.1F, 2.0F}) {
    const double step = 1e-4;
    const double slope = (std::tanh(x + step) - std::tanh(x - step)) / (2 * step);
    CHECK(tanh_backward(2.0F, tanh_forward(x - 1, 1)) == Approx(2 * slope).margin(1e-5));
  }
}

}  // namespace tidepool::trainer::gpu
