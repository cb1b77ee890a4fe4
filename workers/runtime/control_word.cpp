#include "workers/runtime/control_word.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.hpp"

namespace tidepool::runtime {
namespace {

// Layout: loss, noise term, ranks with one, 2 limbs of the count, 4 limbs of the checksum, then per rank: ready_for,
// compute time, share table, and its end: above 0 it has ended, below it tells no loss of so many samples.
constexpr std::size_t kLoss = 0;
constexpr std::size_t kNoise = 1;
constexpr std::size_t kNoiseRanks = 2;
constexpr std::size_t kCount = 3;
constexpr std::size_t kCountLimbs = 2;
constexpr std::size_t kChecksum = kCount + kCountLimbs;
constexpr std::size_t kChecksumLimbs = 4;
constexpr std::size_t kRanks = kChecksum + kChecksumLimbs;
constexpr std::size_t kFloatsPerRank = 4;
// Beyond this a float32 no longer holds every whole number.
constexpr std::uint32_t kExactMax = 1U << 24U;

void write_limbs(std::uint64_t number, std::span<float> limbs) {
  for (std::size_t i = 0; i < limbs.size(); ++i) {
    limbs[i] = static_cast<float>((number >> (16 * i)) & 0xffffU);
  }
}

std::uint64_t read_limbs(std::span<const float> limbs) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < limbs.size(); ++i) {
    number += static_cast<std::uint64_t>(std::llround(limbs[i])) << (16 * i);
  }
  return number;
}

// The number that all ranks have said, if it is one and not 0.
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
  TP_CHECK(size >= 1 && size <= kRanksMax, "a generation has 1 to 256 ranks");
  return kRanks + kFloatsPerRank * static_cast<std::size_t>(size);
}

void write_control_word(const ControlReport& report, const ControlPlace& place, std::span<float> word) {
  TP_CHECK(word.size() == control_word_floats(place.size), "the control word has its exact length");
  TP_CHECK(report.fed.count < (1ULL << 32U), "one rank is fed less than 2^32 samples a step");
  std::fill(word.begin(), word.end(), 0.0F);
  word[kLoss] = static_cast<float>(report.loss_sum.value_or(0));
  if (report.noise_term) {
    word[kNoise] = static_cast<float>(*report.noise_term);
    word[kNoiseRanks] = 1;
  }
  write_limbs(report.fed.count, word.subspan(kCount, kCountLimbs));
  write_limbs(report.fed.checksum, word.subspan(kChecksum, kChecksumLimbs));
  const std::size_t mine = kRanks + kFloatsPerRank * static_cast<std::size_t>(place.rank);
  // The distance to the next generation is small, the number itself may not be.
  const std::uint32_t ahead = report.ready_for > place.current ? report.ready_for - place.current : 0;
  word[mine] = ahead < kExactMax ? static_cast<float>(ahead) : 0.0F;
  word[mine + 1] = static_cast<float>(report.compute_us);
  word[mine + 2] = report.shares < kExactMax ? static_cast<float>(report.shares) : 0.0F;
  if (!report.loss_sum) word[mine + 3] = -static_cast<float>(report.fed.count);
  if (report.ended) word[mine + 3] = 1.0F;
}

ControlSums read_control_word(std::span<const float> word, const ControlPlace& place) {
  TP_CHECK(word.size() == control_word_floats(place.size), "the control word has its exact length");
  ControlSums sums;
  sums.loss_sum = static_cast<double>(word[kLoss]);
  sums.noise_terms = static_cast<double>(word[kNoise]);
  sums.noise_ranks = static_cast<int>(std::lround(word[kNoiseRanks]));
  sums.fed.count = read_limbs(word.subspan(kCount, kCountLimbs));
  sums.fed.checksum = read_limbs(word.subspan(kChecksum, kChecksumLimbs));
  for (int rank = 0; rank < place.size; ++rank) {
    const std::size_t slot = kRanks + kFloatsPerRank * static_cast<std::size_t>(rank);
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
