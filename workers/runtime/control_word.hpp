// A few floats at the end of the gradients that are summed in the same allreduce. Every rank reads the same sums, so
// all ranks decide alike without a further barrier.
//
// Whole numbers travel as limbs, which are narrower the more ranks there are: their float32 sum stays below 2^24, so it
// is exact. The limbs do not bound the number of ranks; the mesh of connections does (comm/gloo_comm.hpp).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "workers/runtime/data_ledger.hpp"

namespace tidepool::runtime {

inline constexpr int kRanksMax = 1024;

// Above 2^24 a float32 cannot represent every whole number.
inline constexpr int kExactBits = 24;

// Bits of a limb so that the limbs of `size` ranks add up exactly: 16 up to 256 ranks, 14 for 1,024, 12 for 4,096.
[[nodiscard]] constexpr int control_limb_bits(int size) {
  return std::min(16, kExactBits - static_cast<int>(std::bit_width(static_cast<unsigned>(size - 1))));
}
static_assert(((std::int64_t{1} << control_limb_bits(kRanksMax)) - 1) * kRanksMax < std::int64_t{1} << kExactBits);

// What a rank reports about its program's end. kMayHave: a rank that joined with another rank's state, whose program
// may not have been asked.
enum class EndWord : std::uint8_t { kGoesOn, kEnded, kMayHave };

// What one rank reports in one step.
struct ControlReport {
  GenerationNumber ready_for = 0;  // newer generation that the rank is ready to enter; 0 = none
  AuditSum fed;                    // samples given to the model in this step
  std::optional<double> loss_sum;  // over these samples; none: the program reports no loss
  std::int64_t compute_us = 0;     // from the step's start to the allreduce; exact below 2^24 (16 s)
  // |gradient of this rank|^2 / samples, if the step measures noise and the rank has samples.
  std::optional<double> noise_term;
  // Newest share table of this generation that the rank knows, if newer than the one in use; 0 = none.
  std::int64_t shares = 0;
  bool ended = false;  // the program reported that the previous step was the last: this step is not computed
};

// What all ranks read after the sum.
struct ControlSums {
  std::vector<GenerationNumber> ready_for;  // by rank
  std::vector<std::int64_t> compute_us;     // by rank
  AuditSum fed;
  double loss_sum = 0;               // over the ranks that reported a loss
  std::uint64_t untold = 0;          // samples of the ranks that reported no loss; exact below 2^24 per rank
  double noise_terms = 0;            // over the ranks that reported a noise term
  int noise_ranks = 0;               // number of ranks that reported a noise term
  std::vector<std::int64_t> shares;  // by rank
  std::vector<EndWord> ends;         // by rank

  // The mean over the samples whose loss was reported; NaN if there are none.
  [[nodiscard]] double mean_loss() const;
  // `knows_next` of the worker protocol: how many ranks are ready to leave the present generation.
  [[nodiscard]] int knows_next() const;
  // The generation to switch to at this step's end: set when all ranks are ready for the same one.
  [[nodiscard]] std::optional<GenerationNumber> agreed_next() const;
  // The share table that splits the next step: set when all ranks know the same newer one.
  [[nodiscard]] std::optional<std::int64_t> agreed_shares() const;
};

// Number of floats in the word of `size` ranks, 1..kRanksMax.
[[nodiscard]] std::size_t control_word_floats(int size);

// `current` is the generation in which the allreduce runs; writer and reader must pass the same.
struct ControlPlace {
  GenerationNumber current = 0;
  int rank = 0;
  int size = 1;
};
void write_control_word(const ControlReport& report, const ControlPlace& place, std::span<float> word);
[[nodiscard]] ControlSums read_control_word(std::span<const float> word, const ControlPlace& place);

}  // namespace tidepool::runtime
