#include "workers/runtime/numerics/noise_scale.hpp"

#include <array>
#include <cmath>
#include <numeric>

#include "base/check.hpp"

namespace tidepool::runtime {
namespace {

constexpr std::size_t kSums = 8;  // independent sums: a single one would wait for each addition

std::optional<NoiseSample> if_finite(const NoiseSample& sample) {
  if (!std::isfinite(sample.trace) || !std::isfinite(sample.square)) return std::nullopt;
  return sample;
}

}  // namespace

double dot_product(std::span<const float> a, std::span<const float> b) {
  TP_CHECK(a.size() == b.size(), "both gradients have all parameters");
  std::array<double, kSums> sums{};
  const std::size_t even = a.size() / kSums * kSums;
  for (std::size_t i = 0; i < even; i += kSums) {
    for (std::size_t k = 0; k < kSums; ++k) sums[k] += static_cast<double>(a[i + k]) * static_cast<double>(b[i + k]);
  }
  for (std::size_t i = even; i < a.size(); ++i) sums[i - even] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

double square_of(std::span<const float> values) {
  return dot_product(values, values);
}

double rank_term(double gradient_square, std::uint64_t samples) {
  return samples == 0 ? 0 : gradient_square / static_cast<double>(samples);
}

std::optional<NoiseSample> noise_across_ranks(const RankGradients& gradients) {
  if (gradients.ranks < 2 || gradients.samples == 0) return std::nullopt;
  const double samples = static_cast<double>(gradients.samples);
  const double ranks = gradients.ranks;
  const double apart = gradients.rank_terms / samples;
  const double together = gradients.total_square / (samples * samples);
  return if_finite({.trace = (apart - together) * samples / (ranks - 1),
                    .square = (ranks * together - apart) / (ranks - 1),
                    .biased = false});
}

std::optional<NoiseSample> noise_across_steps(const StepGradients& gradients) {
  if (gradients.before_samples == 0 || gradients.samples == 0) return std::nullopt;
  const double before = static_cast<double>(gradients.before_samples);
  const double samples = static_cast<double>(gradients.samples);
  const double dot = gradients.dot / (before * samples);
  const double apart = gradients.before_square / (before * before) + gradients.square / (samples * samples) - 2 * dot;
  return if_finite({.trace = apart / (1 / before + 1 / samples), .square = dot, .biased = true});
}

void NoiseAverage::add(const NoiseSample& sample) {
  if (biased && !sample.biased) *this = {};
  biased = sample.biased && (count == 0 || biased);
  trace = kNoiseDecay * trace + (1 - kNoiseDecay) * sample.trace;
  square = kNoiseDecay * square + (1 - kNoiseDecay) * sample.square;
  weight = kNoiseDecay * weight + (1 - kNoiseDecay);
  ++count;
}

std::optional<double> NoiseAverage::noise_scale() const {
  if (count < kNoiseCountMin || square <= 0) return std::nullopt;
  const double scale = trace / square;  // the weights cancel
  if (!std::isfinite(scale)) return std::nullopt;
  return scale > 0 ? scale : 0;
}

double statistical_efficiency(double noise_scale, std::uint64_t base, std::uint64_t batch) {
  TP_CHECK(noise_scale >= 0 && base > 0 && batch > 0, "a noise scale and two batches are given");
  return (noise_scale + static_cast<double>(base)) / (noise_scale + static_cast<double>(batch));
}

double adascale_gain(double noise_scale, std::uint64_t base, std::uint64_t batch) {
  const double scale = static_cast<double>(batch) / static_cast<double>(base);
  return scale * statistical_efficiency(noise_scale, base, batch);
}

}  // namespace tidepool::runtime
