#include "workers/runtime/control_word.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.hpp"

namespace tidepool::runtime {
namespace {

constexpr std::size_t kLoss = 0;
constexpr std::size_t kNoise = 1;
constexpr std::size_t kNoiseRanks = 2;
constexpr std::size_t kCount = 3;
constexpr int kCountBits = 32;
constexpr int kChecksumBits = 64;
constexpr std::size_t kFloatsPerRank = 4;
constexpr std::uint32_t kExactMax = 1U << kExactBits;

// Layout: loss, noise term, number of ranks with one, limbs of the count and of the checksum, then per rank: ready_for,
// compute time, share table, and its end word: above 0 the rank has ended, below 0 it reports no loss for that many
// samples.
struct Layout {
  explicit Layout(int size)
      : limb_bits(control_limb_bits(size)),
        count_limbs(limbs_of(kCountBits)),
        checksum(kCount + count_limbs),
        checksum_limbs(limbs_of(kChecksumBits)),
        ranks(checksum + checksum_limbs) {}

  [[nodiscard]] std::size_t place_of(int rank) const { return ranks + kFloatsPerRank * static_cast<std::size_t>(rank); }

  int limb_bits;
  std::size_t count_limbs;
  std::size_t checksum;
  std::size_t checksum_limbs;
  std::size_t ranks;

 private:
  [[nodiscard]] std::size_t limbs_of(int bits) const {
    return static_cast<std::size_t>((bits + limb_bits - 1) / limb_bits);
  }
};

void write_limbs(std::uint64_t number, int bits, std::span<float> limbs) {
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  for (float& limb : limbs) {
    limb = static_cast<float>(number & mask);
    number >>= bits;
  }
}

// Modulo 2^64.
std::uint64_t read_limbs(std::span<const float> limbs, int bits) {
  std::uint64_t number = 0;
  for (std::size_t i = limbs.size(); i > 0; --i) {
    number = (number << bits) + static_cast<std::uint64_t>(std::llround(limbs[i - 1]));
  }
  return number;
}

// The number that all ranks reported, if it is the same and not 0.
template <class Number>
std::optional<Number> agreed(const std::vector<Number>& said) {
  const Number first = said.front();
  const bool same = std::all_of(said.begin(), said.end(), [&](Number number) { return number == first; });
  if (!same || first == 0) return std::nullopt;
  return first;
}

}  // namespace

double ControlSums::mean_loss() const {
  if (untold >= fed.count) return std::numeric_limits<double>::quiet_NaN();
  return loss_sum / static_cast<double>(fed.count - untold);
}

int ControlSums::knows_next() const {
  return static_cast<int>(std::count_if(ready_for.begin(), ready_for.end(), [](auto number) { return number != 0; }));
}

std::optional<GenerationNumber> ControlSums::agreed_next() const {
  return agreed(ready_for);
}

std::optional<std::int64_t> ControlSums::agreed_shares() const {
  return agreed(shares);
}

std::size_t control_word_floats(int size) {
  TP_CHECK(size >= 1 && size <= kRanksMax, "a generation has 1 to kRanksMax ranks");
  return Layout(size).place_of(size);
}

void write_control_word(const ControlReport& report, const ControlPlace& place, std::span<float> word) {
  TP_CHECK(word.size() == control_word_floats(place.size), "the control word has its exact length");
  TP_CHECK(report.fed.count < (1ULL << 32U), "one rank is fed less than 2^32 samples a step");
  const Layout at(place.size);
  std::fill(word.begin(), word.end(), 0.0F);
  word[kLoss] = static_cast<float>(report.loss_sum.value_or(0));
  if (report.noise_term) {
    word[kNoise] = static_cast<float>(*report.noise_term);
    word[kNoiseRanks] = 1;
  }
  write_limbs(report.fed.count, at.limb_bits, word.subspan(kCount, at.count_limbs));
  write_limbs(report.fed.checksum, at.limb_bits, word.subspan(at.checksum, at.checksum_limbs));
  const std::size_t mine = at.place_of(place.rank);
  // Send the distance to the next generation, which is small; the number itself may be large.
  const std::uint32_t ahead = report.ready_for > place.current ? report.ready_for - place.current : 0;
  word[mine] = ahead < kExactMax ? static_cast<float>(ahead) : 0.0F;
  word[mine + 1] = static_cast<float>(report.compute_us);
  word[mine + 2] = report.shares < kExactMax ? static_cast<float>(report.shares) : 0.0F;
  if (!report.loss_sum) word[mine + 3] = -static_cast<float>(report.fed.count);
  if (report.ended) word[mine + 3] = 1.0F;
}

ControlSums read_control_word(std::span<const float> word, const ControlPlace& place) {
  TP_CHECK(word.size() == control_word_floats(place.size), "the control word has its exact length");
  const Layout at(place.size);
  ControlSums sums;
  sums.loss_sum = static_cast<double>(word[kLoss]);
  sums.noise_terms = static_cast<double>(word[kNoise]);
  sums.noise_ranks = static_cast<int>(std::lround(word[kNoiseRanks]));
  sums.fed.count = read_limbs(word.subspan(kCount, at.count_limbs), at.limb_bits);
  sums.fed.checksum = read_limbs(word.subspan(at.checksum, at.checksum_limbs), at.limb_bits);
  for (int rank = 0; rank < place.size; ++rank) {
    const std::size_t slot = at.place_of(rank);
    const auto ahead = static_cast<GenerationNumber>(std::lround(word[slot]));
    sums.ready_for.push_back(ahead == 0 ? 0 : place.current + ahead);
    sums.compute_us.push_back(std::llround(word[slot + 1]));
    sums.shares.push_back(std::llround(word[slot + 2]));
    sums.ends.push_back(word[slot + 3] > 0 ? EndWord::kEnded : EndWord::kGoesOn);
    if (word[slot + 3] < 0) sums.untold += static_cast<std::uint64_t>(std::llround(-word[slot + 3]));
  }
  return sums;
}

}  // namespace tidepool::runtime
