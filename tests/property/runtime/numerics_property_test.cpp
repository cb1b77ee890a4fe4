// What must hold for any split, any order of resizes and any gradient: the update is that of one worker, all
// ranks plan the same, and the noise is measured without bias.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "tests/support/seeds.hpp"
#include "workers/runtime/data_ledger.hpp"
#include "workers/runtime/numerics/step_schedule.hpp"

namespace tidepool::runtime {
namespace {

// The gradient of a sample of a made-up model: always the same for the same sample.
std::vector<float> gradient_of(std::uint64_t sample, std::size_t width) {
  Rng rng(sample + 1);
  std::vector<float> gradient(width);
  for (float& value : gradient) value = static_cast<float>(rng.normal());
  return gradient;
}

void add(std::vector<float>& sum, const std::vector<float>& part) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
}

// A share computed in parts, each part summed for itself.
std::vector<float> accumulate_in_parts(const std::vector<std::uint64_t>& share, std::uint64_t part_max,
                                       std::size_t width) {
  std::vector<float> sum(width);
  const std::size_t part = part_of_share(share.size(), part_max);
  for (std::size_t begin = 0; begin < share.size(); begin += part) {
    std::vector<float> part_sum(width);
    for (std::size_t i = begin; i < std::min(share.size(), begin + part); ++i)
      add(part_sum, gradient_of(share[i], width));
    add(sum, part_sum);
  }
  return sum;
}

// Ranks that train together, each with a schedule of its own.
class Job {
 public:
  Job(const BatchRules& rules, Rng& rng) : rules_(rules), rng_(rng) { ranks_.emplace_back(rules); }

  // Joining workers adopt a survivor's state, in any order of ranks; then all enter, a few times over if members die
  // meanwhile.
  void resize() {
    if (ranks_.size() > 1 && rng_.chance(0.5)) {
      ranks_.erase(ranks_.begin() + static_cast<std::ptrdiff_t>(rng_.below(ranks_.size())));
    } else {
      ranks_.insert(ranks_.begin() + static_cast<std::ptrdiff_t>(rng_.below(ranks_.size() + 1)), StepSchedule(rules_));
    }
    enter();
  }

  void enter() {
    const auto newest = std::max_element(ranks_.begin(), ranks_.end(), [](const auto& a, const auto& b) {
      return a.state().global_batch < b.state().global_batch;  // 0: a joining worker
    });
    const auto words = to_words(newest->state());
    for (StepSchedule& rank : ranks_) {
      rank.adopt(schedule_from_words(words));
      rank.enter(static_cast<int>(ranks_.size()), steps_);
    }
  }

  void step() {
    std::optional<NoiseSample> noise;
    if (rng_.chance(0.5)) noise = NoiseSample{.trace = 400 * rng_.uniform(), .square = rng_.uniform() - 0.1};
    const StepFactors first = ranks_.front().factors(steps_);
    for (const StepSchedule& rank : ranks_) {
      REQUIRE(rank.factors(steps_).lr_factor == first.lr_factor);
      REQUIRE(rank.factors(steps_).momentum_factor == first.momentum_factor);
      REQUIRE(to_words(rank.state()) == to_words(ranks_.front().state()));
    }
    velocity_scale_ *= first.momentum_factor;
    REQUIRE(velocity_scale_ == Approx(first.lr_factor));  // an old velocity is always at its rate's scale
    for (StepSchedule& rank : ranks_) rank.commit(steps_, noise);
    ++steps_;
  }

  [[nodiscard]] const StepSchedule& any() const { return ranks_.front(); }
  [[nodiscard]] int size() const { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] StepFactors factors() const { return any().factors(steps_); }

 private:
  BatchRules rules_;
  Rng& rng_;
  std::vector<StepSchedule> ranks_;
  std::int64_t steps_ = 0;
  double velocity_scale_ = 1;
};

// Samples whose gradients are normal around G with covariance diag(variances).
struct Cloud {
  std::vector<double> mean;
  std::vector<double> deviation;

  [[nodiscard]] double square() const { return std::inner_product(mean.begin(), mean.end(), mean.begin(), 0.0); }
  [[nodiscard]] double trace() const {
    return std::inner_product(deviation.begin(), deviation.end(), deviation.begin(), 0.0);
  }
  [[nodiscard]] std::vector<double> sum_of(std::uint64_t samples, Rng& rng) const {
    std::vector<double> sum(mean.size());
    for (std::uint64_t sample = 0; sample < samples; ++sample) {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += mean[i] + deviation[i] * rng.normal();
    }
    return sum;
  }
};

Cloud random_cloud(Rng& rng) {
  Cloud cloud;
  for (std::uint64_t i = 0; i < 1 + rng.below(6); ++i) {
    cloud.mean.push_back(rng.normal());
    cloud.deviation.push_back(3 * rng.uniform());
  }
  return cloud;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// The mean of many draws lies within 5 standard errors of what it estimates: one false alarm in millions.
class Estimates {
 public:
  void add(double value) {
    ++count_;
    sum_ += value;
    squares_ += value * value;
  }
  void check(double expected) const {
    const double mean = sum_ / count_;
    const double error = std::sqrt(std::max(0.0, squares_ / count_ - mean * mean) / count_);
    INFO("mean " << mean << " of " << expected << ", standard error " << error);
    CHECK(std::abs(mean - expected) < 5 * error + 1e-9);
  }

 private:
  double count_ = 0;
  double sum_ = 0;
  double squares_ = 0;
};

}  // namespace

TEST_CASE("however a batch is split over ranks and parts, the update is that of one worker") {
  test::for_each_seed("uneven split", 60, [](std::uint64_t seed, Rng& rng) {
    CAPTURE(seed);
    const std::uint64_t samples = 50 + rng.below(200);
    DataLedger ledger({.samples = samples, .global_batch = 1 + rng.below(samples), .seed = seed});
    const std::size_t width = 5;
    const Lease lease = ledger.lease();
    const int size = static_cast<int>(1 + rng.below(9));
    std::vector<float> sum(width);
    std::uint64_t count = 0;
    for (int rank = 0; rank < size; ++rank) {
      const auto share = ledger.share(lease, rank, SampleWeights(size));
      count += share.size();
      add(sum, accumulate_in_parts(share, rng.below(20), width));
    }
    REQUIRE(count == lease.end - lease.begin);
    std::vector<double> whole(width);
    for (const std::uint64_t sample : ledger.share(lease, 0, SampleWeights(1))) {
      const auto gradient = gradient_of(sample, width);
      for (std::size_t i = 0; i < width; ++i) whole[i] += static_cast<double>(gradient[i]);
    }
    for (std::size_t i = 0; i < width; ++i) {
      const double n = static_cast<double>(count);
      CHECK(static_cast<double>(sum[i]) / n == Approx(whole[i] / n).margin(1e-5));
    }
  });
}

TEST_CASE("what is read ahead is what the next step is given, over the ends of epochs too") {
  test::for_each_seed("expected samples", 40, [](std::uint64_t seed, Rng& rng) {
    CAPTURE(seed);
    DataLedger ledger({.samples = 1 + rng.below(60), .global_batch = 1 + rng.below(40), .seed = seed});
    const int size = static_cast<int>(1 + rng.below(4));
    for (int step = 0; step < 30; ++step) {
      const Lease lease = ledger.lease();
      const auto expected = ledger.share(ledger.lease_after(lease), size - 1, SampleWeights(size));
      AuditSum fed;
      for (const std::uint64_t sample : ledger.share(lease, 0, SampleWeights(1))) fed.add(sample);
      static_cast<void>(ledger.commit(fed));
      REQUIRE(ledger.share(ledger.lease(), size - 1, SampleWeights(size)) == expected);
    }
  });
}

// The formulas of batch_rules.hpp, in real numbers: base * n / n0 samples but no more than the maximal batch.
double planned_batch(const BatchRules& rules, int size) {
  if (rules.on_resize == OnResize::kConstant) return static_cast<double>(rules.base_batch);
  const double grown = static_cast<double>(rules.base_batch) * size / rules.base_size;
  return rules.max_batch > 0 ? std::min(grown, static_cast<double>(rules.max_batch)) : grown;
}

TEST_CASE("a batch follows its rule up to the maximal one, and the workers' shares make it up") {
  test::for_each_seed("batch plan", 300, [](std::uint64_t seed, Rng& rng) {
    CAPTURE(seed);
    constexpr std::array kRules{OnResize::kConstant, OnResize::kLinear, OnResize::kSqrt, OnResize::kAdaScale,
                                OnResize::kFixedLocal};
    BatchRules rules{.on_resize = kRules[rng.below(kRules.size())],
                     .base_batch = 1 + rng.below(500),
                     .base_size = static_cast<int>(1 + rng.below(6))};
    const bool bounded = rules.on_resize == OnResize::kFixedLocal || rng.chance(0.5);
    if (bounded && rules.on_resize != OnResize::kConstant) rules.max_batch = rules.base_batch + rng.below(2'000);
    CAPTURE(static_cast<int>(rules.on_resize), rules.base_batch, rules.base_size, rules.max_batch);
    REQUIRE(check_rules(rules).ok());
    const int size = static_cast<int>(1 + rng.below(24));
    const std::uint64_t batch = batch_for(rules, size);
    CHECK(std::abs(static_cast<double>(batch) - std::max(1.0, planned_batch(rules, size))) <= 0.5);
    if (rules.max_batch > 0) CHECK(batch <= rules.max_batch);
    if (rules.on_resize == OnResize::kFixedLocal) CHECK(lr_target(rules, batch, 100.0) == 1);
    DataLedger ledger({.samples = 100'000, .global_batch = batch, .seed = seed});
    const Lease lease = ledger.lease();
    std::uint64_t sum = 0;
    for (int rank = 0; rank < size; ++rank) {
      const std::uint64_t share = ledger.share(lease, rank, SampleWeights(size)).size();
      CHECK(share <= batch / static_cast<std::uint64_t>(size) + 1);
      sum += share;
    }
    CHECK(sum == batch);
  });
}

TEST_CASE("all ranks plan the same batch and the same factors, whatever the order of resizes") {
  test::for_each_seed("resizes", 200, [](std::uint64_t seed, Rng& rng) {
    CAPTURE(seed);
    const auto rule = static_cast<OnResize>(rng.below(4));  // not callback
    const BatchRules rules{.on_resize = rule,
                           .base_batch = 1 + rng.below(500),
                           .base_size = static_cast<int>(1 + rng.below(4)),
                           .warmup_steps = static_cast<int>(rng.below(12))};
    Job job(rules, rng);
    job.enter();
    for (int event = 0; event < 25; ++event) {
      job.resize();
      if (rng.chance(0.2)) job.resize();  // another change before a step was committed
      for (std::uint64_t i = 0; i < rng.below(14); ++i) job.step();
    }
    REQUIRE(job.any().global_batch() == batch_for(rules, job.size()));
    for (int i = 0; i <= rules.warmup_steps; ++i) job.step();
    CHECK(job.factors().lr_factor == lr_target(rules, job.any().global_batch(), job.any().noise_scale()));
  });
}

TEST_CASE("noise and gradient are measured without bias from shares of any sizes") {
  test::for_each_seed("noise over ranks", 12, [](std::uint64_t seed, Rng& rng) {
    CAPTURE(seed);
    const Cloud cloud = random_cloud(rng);
    std::vector<std::uint64_t> shares;
    for (std::uint64_t i = 0; i < 2 + rng.below(4); ++i) shares.push_back(1 + rng.below(6));
    Estimates trace;
    Estimates square;
    for (int step = 0; step < 4'000; ++step) {
      RankGradients gradients;
      std::vector<double> total(cloud.mean.size());
      for (const std::uint64_t samples : shares) {
        const auto sum = cloud.sum_of(samples, rng);
        for (std::size_t i = 0; i < sum.size(); ++i) total[i] += sum[i];
        gradients.rank_terms += rank_term(dot(sum, sum), samples);
        gradients.samples += samples;
        ++gradients.ranks;
      }
      gradients.total_square = dot(total, total);
      const auto noise = noise_across_ranks(gradients);
      REQUIRE(noise);
      trace.add(noise->trace);
      square.add(noise->square);
    }
    trace.check(cloud.trace());
    square.check(cloud.square());
  });
}

TEST_CASE("a worker alone measures them without bias while the parameters stand still") {
  test::for_each_seed("noise over steps", 8, [](std::uint64_t seed, Rng& rng) {
    CAPTURE(seed);
    const Cloud cloud = random_cloud(rng);
    const std::uint64_t before = 1 + rng.below(8);
    const std::uint64_t samples = 1 + rng.below(8);
    Estimates trace;
    Estimates square;
    for (int step = 0; step < 4'000; ++step) {
      const auto first = cloud.sum_of(before, rng);
      const auto second = cloud.sum_of(samples, rng);
      const auto noise = noise_across_steps({.before_square = dot(first, first),
                                             .square = dot(second, second),
                                             .dot = dot(first, second),
                                             .before_samples = before,
                                             .samples = samples});
      REQUIRE(noise);
      trace.add(noise->trace);
      square.add(noise->square);
    }
    trace.check(cloud.trace());
    square.check(cloud.square());
  });
}

}  // namespace tidepool::runtime
