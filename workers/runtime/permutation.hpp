// A seeded order of the samples of one epoch, computed position by position without a table. It depends on seed, epoch
// and count only, never on the number of workers.
#pragma once

#include <cstdint>

namespace tidepool::runtime {

// A Feistel network over the next even power of two, walked until it lands inside the range
// (Black and Rogaway: "Ciphers with Arbitrary Finite Domains", CT-RSA 2002, sections 3 and 4).
class Permutation {
 public:
  Permutation(std::uint64_t seed, std::uint64_t epoch, std::uint64_t count);

  // The sample at `position`; a bijection of [0, count). It runs fewer than four passes of the network on average.
  [[nodiscard]] std::uint64_t at(std::uint64_t position) const;

 private:
  static constexpr int kRounds = 6;

  [[nodiscard]] std::uint64_t encipher(std::uint64_t value) const;

  std::uint64_t count_;
  unsigned half_bits_ = 1;
  std::uint64_t keys_[kRounds] = {};
};

}  // namespace tidepool::runtime
