#include <catch2/catch.hpp>

#include "workers/trainer/sgd.hpp"

namespace tidepool::trainer {

TEST_CASE("the gradient is divided by the samples it sums, whichever worker computed them") {
  Sgd sgd(0.5, 0, 2);
  std::vector<float> parameters = {1, 2};
  sgd.apply(std::vector<float>{8, -4}, {.samples = 4}, parameters);
  CHECK(parameters == std::vector<float>{0, 2.5});  // 1 - 0.5 * 8/4, 2 + 0.5 * 4/4
}

TEST_CASE("the velocity keeps its share of the movement before") {
  Sgd sgd(1, 0.5, 1);
  std::vector<float> parameters = {0};
  sgd.apply(std::vector<float>{8}, {}, parameters);
  CHECK(parameters[0] == -8);
  sgd.apply(std::vector<float>{0}, {}, parameters);
  CHECK(parameters[0] == -12);
  CHECK(sgd.state()[0] == 4);
}

TEST_CASE("both factors count: one for the new gradient, one for the old velocity") {
  Sgd sgd(1, 0.5, 1);
  std::vector<float> parameters = {0};
  sgd.apply(std::vector<float>{8}, {}, parameters);
  sgd.apply(std::vector<float>{1}, {.samples = 1, .lr_factor = 4, .momentum_factor = 3}, parameters);
  CHECK(sgd.state()[0] == 16);  // 0.5 * 3 * 8 + 4 * 1
  CHECK(parameters[0] == -24);
}

TEST_CASE("with the rate's own ratio the velocity is the one of a velocity of gradients") {
  // v <- m v + g, p <- p - lr lr_factor v, as PyTorch has it, over a rate that grows.
  Sgd sgd(0.25, 0.5, 1);
  std::vector<float> parameters = {0};
  double v = 0;
  double p = 0;
  double before = 1;
  for (const double factor : {1.0, 1.0, 2.0, 4.0, 4.0}) {
    v = 0.5 * v + 1;
    p -= 0.25 * factor * v;
    sgd.apply(std::vector<float>{1}, {.samples = 1, .lr_factor = factor, .momentum_factor = factor / before},
              parameters);
    before = factor;
    CHECK(static_cast<double>(parameters[0]) == Approx(p));
  }
}

}  // namespace tidepool::trainer
