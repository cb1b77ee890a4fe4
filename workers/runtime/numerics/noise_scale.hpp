// The gradient noise scale: how many samples a step needs before its gradient is more signal than noise.
// With G the true gradient and Sigma the covariance of one sample's gradient it is
//
//   B_simple = tr(Sigma) / |G|^2     McCandlish et al., arXiv:1812.06162, section 2.2
//
// in samples. Below it a doubled batch nearly halves the number of steps; far above it more samples add little.
// A single measurement of either part may be far off, even negative; only averages are usable. The ratio is
// taken of the averages (appendix A.1); ratios themselves are never averaged.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace tidepool::runtime {

struct NoiseSample {
  double trace = 0;     // estimate of tr(Sigma)
  double square = 0;    // estimate of |G|^2
  bool biased = false;  // measured over two steps, between which the parameters changed

  bool operator==(const NoiseSample&) const = default;
};

// For gradients: sums in double, in an order that depends only on their length. The spans have the same length.
[[nodiscard]] double dot_product(std::span<const float> a, std::span<const float> b);
[[nodiscard]] double square_of(std::span<const float> values);

// Sums over the ranks of one step. G_r is the sum of the gradients of rank r's b_r samples.
struct RankGradients {
  double rank_terms = 0;      // sum over the ranks of |G_r|^2 / b_r
  int ranks = 0;              // number of ranks that had samples
  double total_square = 0;    // |sum over the ranks of G_r|^2
  std::uint64_t samples = 0;  // sum over the ranks of b_r
};

// A rank's term of the sum above; 0 for a rank without samples.
[[nodiscard]] double rank_term(double gradient_square, std::uint64_t samples);

// Unbiased for shares of any sizes. With A = rank_terms / B, g = total / B and n ranks,
//   E[A] = |G|^2 + n tr(Sigma) / B   and   E|g|^2 = |G|^2 + tr(Sigma) / B,
// solved for the two unknowns: appendix A.1 of McCandlish et al. for shares that differ. Nothing from
// fewer than two ranks, or from gradients that are not finite.
[[nodiscard]] std::optional<NoiseSample> noise_across_ranks(const RankGradients& gradients);

// Gradients of two steps in a row, as sums over their samples.
struct StepGradients {
  double before_square = 0;  // |G_1|^2, of the earlier step
  double square = 0;         // |G_2|^2, of the later step
  double dot = 0;            // G_1 . G_2
  std::uint64_t before_samples = 0;
  std::uint64_t samples = 0;
};

// For a lone worker: E|g_1 - g_2|^2 = tr(Sigma) (1/b_1 + 1/b_2) and E[g_1 . g_2] = |G|^2, as in AdaptDL. The change of
// the parameters between the steps counts as noise, so the trace is too large.
[[nodiscard]] std::optional<NoiseSample> noise_across_steps(const StepGradients& gradients);

// Exponentially weighted averages of both parts, without bias towards the initial zero. Plain data: it travels with a
// replica's progress, and the same samples give the same bits on every rank.
struct NoiseAverage {
  double trace = 0;  // weighted sums; divide by `weight` to get the averages
  double square = 0;
  double weight = 0;
  std::int64_t count = 0;
  bool biased = false;  // contains biased samples only; the first unbiased sample restarts the average

  void add(const NoiseSample& sample);
  // None before kNoiseCountMin samples, or while the gradient cannot be distinguished from its noise.
  [[nodiscard]] std::optional<double> noise_scale() const;

  bool operator==(const NoiseAverage&) const = default;
};
inline constexpr double kNoiseDecay = 0.95;  // factor of a sample's weight for each later sample: a memory of 20
inline constexpr std::int64_t kNoiseCountMin = 5;

// The progress per sample in steps of `batch` samples, relative to steps of `base`: (phi + M0) / (phi + M), Pollux
// (Qiao et al., OSDI 2021). Above 1 for a batch smaller than the base.
[[nodiscard]] double statistical_efficiency(double noise_scale, std::uint64_t base, std::uint64_t batch);

// AdaScale's gain r = (tr(Sigma)/M0 + |G|^2) / (tr(Sigma)/M + |G|^2), between 1 and M/M0: the number of base-batch
// steps that one step of `batch` samples replaces, and the learning rate's factor.
[[nodiscard]] double adascale_gain(double noise_scale, std::uint64_t base, std::uint64_t batch);

}  // namespace tidepool::runtime
