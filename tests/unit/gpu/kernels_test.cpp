// Our kernels, thread by thread on the CPU, at lengths that do not fit their blocks.
#include <catch2/catch.hpp>

#include <cmath>
#include <numeric>
#include <vector>

#include "base/rng.hpp"
#include "workers/trainer/gpu/gpu_net.hpp"

namespace tidepool::trainer::gpu {
namespace {

std::vector<float> random_floats(std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(rng.normal());
  return values;
}

}  // namespace

TEST_CASE("softmax cross-entropy: few classes in a warp, many in a block") {
  const int rows = GENERATE(2, 31, 33, 1'025);
  CAPTURE(rows);
  constexpr int kColumns = 3;
  const auto wide = static_cast<std::size_t>(rows);
  const std::vector<float> before = random_floats(wide * kColumns, 1);
  const std::vector<float> bias = random_floats(wide, 2);
  const std::vector<int> classes = {0, rows - 1, rows / 2};
  std::vector<float> scores = before;
  std::vector<float> losses(kColumns);
  softmax_cross_entropy(scores.data(), bias.data(), classes.data(), rows, kColumns, losses.data(), nullptr);
  for (std::size_t column = 0; column < kColumns; ++column) {
    double sum = 0;
    const auto score = [&](std::size_t r) { return static_cast<double>(before[column * wide + r]) + bias[r]; };
    for (std::size_t r = 0; r < wide; ++r) sum += std::exp(score(r));
    const auto right = static_cast<std::size_t>(classes[column]);
    CHECK(losses[column] == Approx(std::log(sum) - score(right)).epsilon(1e-4));
    for (std::size_t r = 0; r < wide; ++r) {
      const double wanted = std::exp(score(r)) / sum - (r == right ? 1 : 0);
      REQUIRE(scores[column * wide + r] == Approx(wanted).margin(1e-5));
    }
  }
}

TEST_CASE("row sums add to what is there") {
  const int rows = GENERATE(1, 32, 45);
  const int columns = GENERATE(1, 7, 100);
  const auto matrix = random_floats(static_cast<std::size_t>(rows * columns), 3);
  std::vector<float> sums(static_cast<std::size_t>(rows), 10);
  add_row_sums(matrix.data(), rows, columns, sums.data(), nullptr);
  for (int row = 0; row < rows; ++row) {
    double wanted = 10;
    for (int column = 0; column < columns; ++column) wanted += matrix[static_cast<std::size_t>(column * rows + row)];
    CHECK(sums[static_cast<std::size_t>(row)] == Approx(wanted).epsilon(1e-4));
  }
}

TEST_CASE("a sum of losses keeps what floats would lose") {
  std::vector<float> values(1'000, 1.0F);
  values[0] = 3e8F;  // one more float would vanish beside it
  double total = 0;
  sum_of(values.data(), 1'000, &total, nullptr);
  CHECK(total == 3e8 + 999);
}

TEST_CASE("tokens are found again at all their positions, in order") {
  const std::vector<int> tokens = {4, 0, 4, 2, 0, 4};
  const TokenIndex index = index_tokens(tokens.data(), tokens.size(), 6);
  CHECK(index.different == std::vector<int>{0, 2, 4});
  CHECK(index.starts == std::vector<int>{0, 2, 3, 6});
  CHECK(index.positions == std::vector<int>{1, 4, 3, 0, 2, 5});
}

TEST_CASE("embeddings are gathered by token and their gradients scattered back") {
  constexpr int kWidth = 35;
  const std::vector<int> tokens = {1, 3, 1, 0, 1, 1, 1, 1, 1, 1, 1};
  const auto table = random_floats(4 * kWidth, 5);
  std::vector<float> inputs(tokens.size() * kWidth);
  gather_embeddings(table.data(), tokens.data(), tokens.size(), kWidth, inputs.data(), nullptr);
  CHECK(inputs[kWidth + 34] == table[3 * kWidth + 34]);

  const TokenIndex index = index_tokens(tokens.data(), tokens.size(), 4);
  std::vector<float> gradient(table.size(), 1);
  scatter_embeddings({index.different.data(), index.starts.data(), index.positions.data(), 3}, inputs.data(), kWidth,
                     gradient.data(), nullptr);
  for (std::size_t k = 0; k < kWidth; ++k) {
    CHECK(gradient[kWidth + k] == Approx(1 + 9 * table[kWidth + k]).margin(1e-5));
    CHECK(gradient[2 * kWidth + k] == 1);  // a token that does not occur
  }
}

TEST_CASE("packing closes the gaps between blocks and unpacking opens them again") {
  const std::vector<Segment> segments = {{0, 0, 5}, {5, 64, 64}, {69, 128, 1}};
  std::vector<float> arena(192, -1);
  std::iota(arena.begin(), arena.begin() + 5, 0.0F);
  std::iota(arena.begin() + 64, arena.begin() + 129, 5.0F);
  std::vector<float> flat(70);
  const SegmentTable table{segments.data(), 3, 64};
  pack(table, arena.data(), flat.data(), nullptr);
  for (std::size_t i = 0; i < flat.size(); ++i) CHECK(flat[i] == static_cast<float>(i));
  std::vector<float> again(192, -1);
  unpack(table, flat.data(), again.data(), nullptr);
  CHECK(again == arena);
}

TEST_CASE("SGD goes through whole arenas, four floats at a time") {
  constexpr std::size_t kCount = 1'032;
  auto parameters = random_floats(kCount, 7);
  auto velocity = random_floats(kCount, 8);
  const auto gradient = random_floats(kCount, 9);
  const auto old_parameters = parameters;
  const auto old_velocity = velocity;
  sgd({parameters.data(), velocity.data(), gradient.data(), kCount}, 0.9F, 0.01F, nullptr);
  for (std::size_t i = 0; i < kCount; ++i) {
    const SgdElement wanted = sgd_element({old_velocity[i], old_parameters[i]}, gradient[i], 0.9F, 0.01F);
    REQUIRE(velocity[i] == wanted.velocity);
    REQUIRE(parameters[i] == wanted.parameter);
  }
}

}  // namespace tidepool::trainer::gpu
