// Gradients summed bucket by bucket over real communicators, ranks as threads.
#include <catch2/catch.hpp>

#include <numeric>

#include "base/rng.hpp"
#include "tests/integration/runtime/meshes.hpp"
#include "workers/runtime/control_word.hpp"
#include "workers/runtime/gradient_reducer.hpp"

namespace tidepool::runtime {
namespace {

constexpr std::size_t kCount = 10'000;

struct Bucket {
  std::size_t first;
  std::size_t count;
};

// What no float holds exactly, so that another order of adding is seen.
void fill(std::span<float> values, int rank) {
  Rng rng(static_cast<std::uint64_t>(rank) + 1);
  for (float& value : values) value = static_cast<float>(rng.normal());
}

// One step with these buckets; the sum, and the word of the same step, by rank.
struct Outcome {
  std::vector<float> gradient;
  double loss_sum = 0;
  double own_square = 0;
  double total_square = 0;
};
std::vector<Outcome> one_step(const std::vector<std::shared_ptr<GlooComm>>& ranks, std::vector<Bucket> buckets) {
  std::vector<Outcome> outcomes(ranks.size());
  on_all(ranks, [&](GlooComm& comm) {
    GradientReducer reducer;
    reducer.allocate(kCount);
    reducer.begin_step(ranks[static_cast<std::size_t>(comm.rank())]);
    reducer.measure_squares(true);
    fill(reducer.gradients(), comm.rank());
    bool fine = true;
    for (const Bucket& bucket : buckets) fine = fine && reducer.add(bucket.first, bucket.count).ok();
    fine = fine && reducer.drain().ok();
    const ControlPlace place{.current = 1, .rank = comm.rank(), .size = comm.size()};
    write_control_word({.loss_sum = comm.rank() + 1.0}, place, reducer.word(comm.size()));
    fine = fine && reducer.finish().ok();
    Outcome& outcome = outcomes[static_cast<std::size_t>(comm.rank())];
    if (!fine) return;
    outcome.gradient.assign(reducer.gradients().begin(), reducer.gradients().end());
    outcome.loss_sum = read_control_word(reducer.word(comm.size()), place).loss_sum;
    outcome.own_square = reducer.own_square();
    outcome.total_square = reducer.total_square();
    comm.settle();
  });
  return outcomes;
}

double square(const std::vector<float>& values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

}  // namespace

TEST_CASE("buckets in any order give the sum of all ranks, and the control word comes with them") {
  const std::vector<std::vector<Bucket>> plans = {
      {},                                        // none named: all in one
      {{5'000, 5'000}, {0, 5'000}},              // as a backward pass goes
      {{0, 3'000}, {3'000, 7'000}},              // forward
      {{2'000, 1'000}, {9'000, 500}, {0, 100}},  // with holes: the rest goes last
  };
  for (const auto& plan : plans) {
    CAPTURE(plan.size());
    const auto ranks = mesh_of(3);
    const auto outcomes = one_step(ranks, plan);
    std::vector<float> expected(kCount, 0.0F);
    for (int rank = 0; rank < 3; ++rank) {
      std::vector<float> values(kCount);
      fill(values, rank);
      for (std::size_t i = 0; i < kCount; ++i) expected[i] += values[i];
      CHECK(outcomes[static_cast<std::size_t>(rank)].own_square == Approx(square(values)));
    }
    for (const Outcome& outcome : outcomes) {
      REQUIRE(outcome.gradient.size() == kCount);
      CHECK(outcome.gradient == outcomes[0].gradient);  // bit for bit on all ranks
      for (std::size_t i = 0; i < kCount; i += 97) CHECK(outcome.gradient[i] == Approx(expected[i]).margin(1e-5));
      CHECK(outcome.loss_sum == 6);
      CHECK(outcome.total_square == Approx(square(outcome.gradient)));
    }
  }
}

TEST_CASE("within a generation the same gradients add up to the same bits at every step") {
  const auto ranks = mesh_of(3);
  std::vector<std::vector<std::vector<float>>> sums(3);
  on_all(ranks, [&](GlooComm& comm) {
    GradientReducer reducer;
    reducer.allocate(kCount);
    for (int step = 0; step < 20; ++step) {
      reducer.begin_step(ranks[static_cast<std::size_t>(comm.rank())]);
      fill(reducer.gradients(), comm.rank());
      if (!reducer.add(4'000, 6'000).ok() || !reducer.add(1'000, 3'000).ok() || !reducer.drain().ok()) return;
      if (!reducer.finish().ok()) return;
      sums[static_cast<std::size_t>(comm.rank())].emplace_back(reducer.gradients().begin(), reducer.gradients().end());
    }
    comm.settle();
  });
  for (const auto& of_rank : sums) {
    REQUIRE(of_rank.size() == 20);
    for (const auto& sum : of_rank) CHECK(sum == sums[0][0]);
  }
}

TEST_CASE("a bucket that does not fit, or is named twice, is refused in words") {
  const auto ranks = mesh_of(2);
  GradientReducer reducer;
  reducer.allocate(100);
  reducer.begin_step(ranks[0]);
  CHECK_THAT(reducer.add(100, 1).error().message, Catch::Contains("does not lie inside"));
  CHECK_THAT(reducer.add(60, 50).error().message, Catch::Contains("does not lie inside"));
  CHECK_THAT(reducer.add(0, 0).error().message, Catch::Contains("does not lie inside"));
  ranks[1]->abort();  // what is named is tried, and fails at once
  CHECK(reducer.add(20, 20).ok());
  CHECK_THAT(reducer.add(39, 2).error().message, Catch::Contains("two buckets"));
  CHECK_THAT(reducer.add(10, 11).error().message, Catch::Contains("two buckets"));
  CHECK(reducer.add(40, 10).ok());
  CHECK(!reducer.drain().ok());
}

}  // namespace tidepool::runtime
