// Every formula against numbers worked out by hand.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "workers/runtime/numerics/step_schedule.hpp"

namespace tidepool::runtime {
namespace {

BatchRules rules(OnResize on_resize, std::uint64_t batch = 64, int size = 1, int warmup = 8) {
  return {.on_resize = on_resize, .base_batch = batch, .base_size = size, .warmup_steps = warmup};
}

// The factors of `count` steps, each of them committed.
std::vector<StepFactors> run(StepSchedule& schedule, std::int64_t from, std::int64_t count) {
  std::vector<StepFactors> factors;
  for (std::int64_t step = from; step < from + count; ++step) {
    factors.push_back(schedule.factors(step));
    schedule.commit(step, std::nullopt);
  }
  return factors;
}

}  // namespace

TEST_CASE("the constant rule keeps the batch, the others scale it with the size to the nearest sample") {
  CHECK(batch_for(rules(OnResize::kConstant, 100, 3), 7) == 100);
  CHECK(batch_for(rules(OnResize::kLinear, 64), 4) == 256);
  CHECK(batch_for(rules(OnResize::kSqrt, 64, 2), 1) == 32);
  CHECK(batch_for(rules(OnResize::kAdaScale, 100, 3), 2) == 67);  // 66.7
  CHECK(batch_for(rules(OnResize::kAdaScale, 100, 3), 1) == 33);  // 33.3
  CHECK(batch_for(rules(OnResize::kLinear, 1, 8), 1) == 1);       // 0.1: never nothing
}

TEST_CASE("no batch is above the maximal one, and a fixed local batch grows to it at the base rate") {
  BatchRules local = rules(OnResize::kFixedLocal, 64, 2);  // 32 a worker
  CHECK_FALSE(check_rules(local).ok());
  local.max_batch = 160;
  CHECK(check_rules(local).ok());
  CHECK(batch_for(local, 1) == 32);
  CHECK(batch_for(local, 5) == 160);
  CHECK(batch_for(local, 7) == 160);  // split from here on
  CHECK(lr_target(local, 160, 1000.0) == 1);
  BatchRules linear = rules(OnResize::kLinear, 64);
  linear.max_batch = 100;
  CHECK(batch_for(linear, 4) == 100);
  CHECK(lr_target(linear, batch_for(linear, 4), std::nullopt) == 100.0 / 64);
  linear.max_batch = 63;
  CHECK_FALSE(check_rules(linear).ok());
  BatchRules constant = rules(OnResize::kConstant);
  constant.max_batch = 100;
  CHECK_FALSE(check_rules(constant).ok());
}

TEST_CASE("the learning rate follows the batch as its rule says") {
  CHECK(lr_target(rules(OnResize::kConstant), 64, 1000.0) == 1);
  CHECK(lr_target(rules(OnResize::kLinear), 256, std::nullopt) == 4);
  CHECK(lr_target(rules(OnResize::kLinear), 16, std::nullopt) == 0.25);
  CHECK(lr_target(rules(OnResize::kSqrt), 256, std::nullopt) == 2);
  CHECK(lr_target(rules(OnResize::kAdaScale), 256, std::nullopt) == 1);  // nothing measured: the base rate
  // phi = 192, M0 = 64, M = 256, S = 4: 4 (192 + 64) / (192 + 256) = 16/7.
  CHECK(lr_target(rules(OnResize::kAdaScale), 256, 192.0) == Approx(16.0 / 7));
}

TEST_CASE("AdaScale's gain lies between 1 for a clean gradient and S for pure noise") {
  CHECK(adascale_gain(0, 64, 256) == Approx(1));
  CHECK(adascale_gain(1e12, 64, 256) == Approx(4));
  // In the paper's own form, tr = 3, |G|^2 = 2, S = 4 at M0 = 1: (3 + 2) / (3/4 + 2) = 20/11; phi = 3/2.
  CHECK(adascale_gain(1.5, 1, 4) == Approx(20.0 / 11));
}

TEST_CASE("statistical efficiency is Pollux's: 1 at the base, falling with the batch") {
  CHECK(statistical_efficiency(500, 100, 100) == 1);
  CHECK(statistical_efficiency(100, 100, 300) == 0.5);  // 200 / 400
  CHECK(statistical_efficiency(0, 100, 400) == 0.25);   // no noise: four times the samples, nothing learned
  CHECK(statistical_efficiency(100, 100, 50) == Approx(4.0 / 3));
}

TEST_CASE("a gradient's square has every number in it, whatever its length") {
  for (std::size_t length = 0; length <= 40; ++length) {
    CAPTURE(length);
    std::vector<float> a(length);
    std::vector<float> b(length);
    double expected = 0;
    for (std::size_t i = 0; i < length; ++i) {
      a[i] = static_cast<float>(i + 1);
      b[i] = static_cast<float>(3 * i + 2);
      expected += static_cast<double>((i + 1) * (3 * i + 2));  // whole numbers: exact in any order
    }
    CHECK(dot_product(a, b) == expected);
    CHECK(square_of(a) == dot_product(a, a));
  }
}

TEST_CASE("noise is measured from shares of different sizes") {
  // One parameter. Rank 0: two samples, sum 6; rank 1: one sample, sum 0. B = 3, n = 2.
  // A = (36/2 + 0/1) / 3 = 6; |g|^2 = 36/9 = 4; trace = (6 - 4) 3 / 1 = 6; square = 2*4 - 6 = 2.
  const double terms = rank_term(36, 2) + rank_term(0, 1);
  const auto noise = noise_across_ranks({.rank_terms = terms, .ranks = 2, .total_square = 36, .samples = 3});
  REQUIRE(noise);
  CHECK(noise->trace == Approx(6));
  CHECK(noise->square == Approx(2));
  CHECK(!noise->biased);
}

TEST_CASE("for equal shares the measurement is that of McCandlish et al., appendix A.1") {
  // Four ranks of 8 samples: mean |g_r|^2 = 5 at b = 8, |g|^2 = 2 at B = 32.
  const double terms = 4 * rank_term(5.0 * 64, 8);
  const auto noise = noise_across_ranks({.rank_terms = terms, .ranks = 4, .total_square = 2.0 * 1024, .samples = 32});
  REQUIRE(noise);
  CHECK(noise->square == Approx((32.0 * 2 - 8.0 * 5) / (32 - 8)));  // (B |g_B|^2 - b |g_b|^2) / (B - b) = 1
  CHECK(noise->trace == Approx((5.0 - 2) / (1.0 / 8 - 1.0 / 32)));  // (|g_b|^2 - |g_B|^2) / (1/b - 1/B) = 32
}

TEST_CASE("a worker alone measures noise from two steps in a row") {
  // g_1 = 3 of 2 samples, g_2 = 1 of 2 samples: dot = 3, |g_1 - g_2|^2 = 4 = trace (1/2 + 1/2).
  const auto noise =
      noise_across_steps({.before_square = 36, .square = 4, .dot = 12, .before_samples = 2, .samples = 2});
  REQUIRE(noise);
  CHECK(noise->trace == Approx(4));
  CHECK(noise->square == Approx(3));
  CHECK(noise->biased);
}

TEST_CASE("nothing is measured from one rank, from no samples, or from gradients that are not finite") {
  CHECK(!noise_across_ranks({.rank_terms = 4, .ranks = 1, .total_square = 4, .samples = 1}));
  CHECK(!noise_across_ranks({}));
  CHECK(!noise_across_steps({.before_square = 4, .square = 4, .dot = 4, .before_samples = 0, .samples = 1}));
  const double infinite = std::numeric_limits<double>::infinity();
  CHECK(!noise_across_ranks({.rank_terms = infinite, .ranks = 2, .total_square = 4, .samples = 8}));
  CHECK(!noise_across_steps({.before_square = 4, .square = NAN, .dot = 4, .before_samples = 1, .samples = 1}));
  CHECK(rank_term(0, 0) == 0);
}

TEST_CASE("the noise scale is the ratio of the averages, told from the fifth measurement on") {
  NoiseAverage average;
  for (int i = 0; i < 4; ++i) average.add({.trace = 90, .square = 3});
  CHECK(!average.noise_scale());
  average.add({.trace = 90, .square = 3});
  CHECK(*average.noise_scale() == Approx(30));
  // One wild measurement: trace (90 (1 - w) + 900 w) / (3 (1 - w) + -3 w) with w = 0.05 / (1 - 0.95^6).
  average.add({.trace = 900, .square = -3});
  const double w = 0.05 / (1 - std::pow(0.95, 6));
  CHECK(*average.noise_scale() == Approx((90 * (1 - w) + 900 * w) / (3 * (1 - w) - 3 * w)));
  CHECK(average.weight == Approx(1 - std::pow(0.95, 6)));
}

TEST_CASE("a gradient that drowns in its noise has no noise scale, one without noise has 0") {
  NoiseAverage drowned;
  for (int i = 0; i < 6; ++i) drowned.add({.trace = 10, .square = -1});
  CHECK(!drowned.noise_scale());
  NoiseAverage clean;
  for (int i = 0; i < 6; ++i) clean.add({.trace = -0.1, .square = 1});
  CHECK(*clean.noise_scale() == 0);
}

TEST_CASE("the first unbiased measurement replaces an average of biased ones") {
  NoiseAverage average;
  for (int i = 0; i < 8; ++i) average.add({.trace = 100, .square = 1, .biased = true});
  CHECK(average.biased);
  average.add({.trace = 10, .square = 1});
  CHECK(!average.biased);
  CHECK(average.count == 1);
  average.add({.trace = 10, .square = 1, .biased = true});  // alone again: the average goes on
  CHECK(average.count == 2);
  CHECK(!average.biased);
}

TEST_CASE("a rate that grows fourfold is reached in eight equal steps, and the velocity's scale with it") {
  StepSchedule schedule(rules(OnResize::kLinear));
  schedule.enter(1, 0);
  for (const StepFactors& step : run(schedule, 0, 3)) {
    CHECK(step.lr_factor == 1);
    CHECK(step.momentum_factor == 1);
  }
  schedule.enter(4, 3);
  CHECK(schedule.global_batch() == 256);
  const auto ramp = run(schedule, 3, 10);
  double product = 1;
  for (std::size_t i = 0; i < ramp.size(); ++i) {
    CAPTURE(i);
    CHECK(ramp[i].lr_factor == Approx(1 + 3 * std::min<double>(static_cast<double>(i) + 1, 8) / 8));
    product *= ramp[i].momentum_factor;
    CHECK(product == Approx(ramp[i].lr_factor));  // the old velocity is always at the rate's scale
  }
  CHECK(ramp[0].lr_factor == Approx(1.375));
  CHECK(ramp[1].momentum_factor == Approx(1.75 / 1.375));
  CHECK(ramp[9].momentum_factor == 1);
}

TEST_CASE("a smaller rate holds at once, and without warm-up a larger one does") {
  StepSchedule schedule(rules(OnResize::kLinear, 64, 4));
  schedule.enter(4, 0);
  static_cast<void>(run(schedule, 0, 1));
  schedule.enter(1, 1);
  CHECK(schedule.factors(1).lr_factor == 0.25);
  CHECK(schedule.factors(1).momentum_factor == 0.25);
  StepSchedule abrupt(rules(OnResize::kLinear, 64, 1, 0));
  abrupt.enter(1, 0);
  static_cast<void>(run(abrupt, 0, 1));
  abrupt.enter(4, 1);
  CHECK(abrupt.factors(1).lr_factor == 4);
  CHECK(abrupt.factors(1).momentum_factor == 4);
}

TEST_CASE("a change in the middle of a warm-up starts from the rate in force") {
  StepSchedule schedule(rules(OnResize::kLinear));
  schedule.enter(1, 0);
  static_cast<void>(run(schedule, 0, 1));
  schedule.enter(3, 1);
  static_cast<void>(run(schedule, 1, 4));  // 1.25, 1.5, 1.75, 2
  schedule.enter(2, 5);
  CHECK(schedule.factors(5).lr_factor == Approx(2));
  schedule.enter(5, 5);  // no step was done with two workers
  CHECK(schedule.factors(5).lr_factor == Approx(2 + 3.0 / 8));
}

TEST_CASE("a worker that is replaced does not disturb a warm-up under way") {
  StepSchedule schedule(rules(OnResize::kLinear));
  schedule.enter(1, 0);
  static_cast<void>(run(schedule, 0, 1));
  schedule.enter(4, 1);
  static_cast<void>(run(schedule, 1, 2));
  schedule.enter(4, 3);
  CHECK(schedule.factors(3).lr_factor == Approx(1 + 3 * 3.0 / 8));
}

TEST_CASE("the callback's answer is followed, with the same warm-up") {
  StepSchedule schedule(rules(OnResize::kCallback));
  schedule.enter({.global_batch = 64, .lr_factor = 1}, 0);
  static_cast<void>(run(schedule, 0, 1));
  const BatchQuestion question = schedule.question(2, 1);
  CHECK(question.size == 2);
  CHECK(question.global_batch == 64);
  CHECK(!question.noise_scale);
  schedule.enter({.global_batch = 90, .lr_factor = 1.8}, 1);
  CHECK(schedule.global_batch() == 90);
  CHECK(schedule.factors(1).lr_factor == Approx(1.1));
  CHECK(schedule.factors(8).lr_factor == Approx(1.8));
}

TEST_CASE("AdaScale's factor follows the noise as it is measured") {
  StepSchedule schedule(rules(OnResize::kAdaScale, 64, 1, 0));
  schedule.enter(4, 0);
  for (std::int64_t step = 0; step < 5; ++step) {
    CHECK(schedule.factors(step).lr_factor == 1);
    schedule.commit(step, NoiseSample{.trace = 192, .square = 1});
  }
  CHECK(schedule.factors(5).lr_factor == Approx(16.0 / 7));
}

TEST_CASE("the state survives the wire bit for bit") {
  StepSchedule schedule(rules(OnResize::kAdaScale));
  schedule.enter(3, 0);
  for (std::int64_t step = 0; step < 7; ++step) schedule.commit(step, NoiseSample{.trace = 0.1, .square = 1e-7});
  schedule.enter(4, 7);
  const auto words = to_words(schedule.state());
  CHECK(schedule_from_words(words) == schedule.state());
  ScheduleState odd{
      .global_batch = 1ULL << 40U, .lr_factor = 0.1, .ramp_from = -0.0, .ramp_begin = 9, .chosen_factor = 3};
  odd.noise = {.trace = -1e-300, .square = 2, .weight = 0.5, .count = 77, .biased = true};
  CHECK(schedule_from_words(to_words(odd)) == odd);
}

TEST_CASE("rules and answers that cannot work are refused with what to do") {
  const auto words = [](const Status& status) { return status.ok() ? std::string() : status.error().message; };
  CHECK(words(check_rules(rules(OnResize::kLinear))).empty());
  CHECK(words(check_rules(rules(OnResize::kLinear, 0))).find("at least one sample") != std::string::npos);
  CHECK(words(check_rules(rules(OnResize::kLinear, 64, 0))).find("base_size is 0") != std::string::npos);
  CHECK(words(check_rules(rules(OnResize::kLinear, 64, 1, -1))).find("warmup_steps is -1") != std::string::npos);
  CHECK(words(check_choice({.global_batch = 0})).find("batch of 0") != std::string::npos);
  CHECK(words(check_choice({.global_batch = 1, .lr_factor = NAN})).find("above 0") != std::string::npos);
  CHECK(parse_on_resize("sqrt").value() == OnResize::kSqrt);
  CHECK(parse_on_resize("cubic").error().message.find("linear, sqrt, adascale") != std::string::npos);
}

TEST_CASE("a share too large to be held at once is computed in parts as equal as possible") {
  CHECK(part_of_share(100, 0) == 100);
  CHECK(part_of_share(100, 100) == 100);
  CHECK(part_of_share(101, 100) == 51);
  CHECK(part_of_share(10, 4) == 4);  // 4 + 4 + 2
  CHECK(part_of_share(9, 4) == 3);
  CHECK(part_of_share(0, 4) == 1);
}

}  // namespace tidepool::runtime
