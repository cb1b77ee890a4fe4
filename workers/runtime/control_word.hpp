// The few floats that ride at the end of the gradients in the same allreduce. Every rank reads the
// same sums, so all ranks decide alike without a further barrier.
//
// Whole numbers travel as limbs that are the narrower the more ranks there are: their float32 sum is below 2^24, so it
// is exact. The most ranks are not bounded by that but by their mesh (comm/gloo_comm.hpp).
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

// Beyond 2^this a float32 no longer holds every whole number.
inline constexpr int kExactBits = 24;

// Bits of a limb such that those of `size` ranks add up exactly: 16 up to 256 ranks, 14 for 1,024, 12 for 4,096.
[[nodiscard]] constexpr int control_limb_bits(int size) {
  return std::min(16, kExactBits - static_cast<int>(std::bit_width(static_cast<unsigned>(size - 1))));
}
static_assert(((std::int64_t{1} << control_limb_bits(kRanksMax)) - 1) * kRanksMax < std::int64_t{1} << kExactBits);

// What a rank says of its program's end. One that has joined with others' state may not have been asked.
enum class EndWord : std::uint8_t { kGoesOn, kEnded, kMayHave };

// What one rank says in one step.
struct ControlReport {
  GenerationNumber ready_for = 0;  // newer generation that it is ready to enter; 0 = none
  AuditSum fed;                    // samples given to the model in this step
  std::optional<double> loss_sum;  // over these samples; none: the program tells no loss
  std::int64_t compute_us = 0;     // from the step's start to the allreduce; exact below 2^24 (16 s)
  // |gradient of this rank|^2 / samples, if the step measures noise and the rank has samples.
  std::optional<double> noise_term;
  std::int64_t shares = 0;  // share table of this generation, newer than the one in use, that it knows; 0 = none
  bool ended = false;       // its program has said that the step before was the last: this one is not computed
};

// What all ranks read.
struct ControlSums {
  std::vector<GenerationNumber> ready_for;  // by rank
  std::vector<std::int64_t> compute_us;     // by rank
  AuditSum fed;
  double loss_sum = 0;               // over the ranks that told one
  std::uint64_t untold = 0;          // samples of those that did not; exact below 2^24 a rank
  double noise_terms = 0;            // over the ranks that gave one
  int noise_ranks = 0;               // how many did
  std::vector<std::int64_t> shares;  // by rank
  std::vector<EndWord> ends;         // by rank

  // The mean over the samples whose loss was told; NaN without any.
  [[nodiscard]] double mean_loss() const;
  // knows_next: how many ranks are ready to leave the present generation.
  [[nodiscard]] int knows_next() const;
  // The generation to switch to at this step's end: set when all ranks are ready for the same one.
  [[nodiscard]] std::optional<GenerationNumber> agreed_next() const;
  // The share table to split the next step by: set when all ranks know the same newer one.
  [[nodiscard]] std::optional<std::int64_t> agreed_shares() const;
};

// Floats that the word needs for `size` ranks, 1..kRanksMax.
[[nodiscard]] std::size_t control_word_floats(int size);

// `current` is the generation that the allreduce runs in; both sides must pass the same.
struct ControlPlace {
  GenerationNumber current = 0;
  int rank = 0;
  int size = 1;
};
void write_control_word(const ControlReport& report, const ControlPlace& place, std::span<float> word);
[[nodiscard]] ControlSums read_control_word(std::span<const float> word, const ControlPlace& place);

}  // namespace tidepool::runtime
