#include "workers/runtime/permutation.hpp"

#include "base/check.hpp"
#include "base/rng.hpp"

namespace tidepool::runtime {

Permutation::Permutation(std::uint64_t seed, std::uint64_t epoch, std::uint64_t count) : count_(count) {
  TP_CHECK(count > 0 && count <= (1ULL << 62U), "an epoch has between 1 and 2^62 samples");
  while ((1ULL << (2 * half_bits_)) < count) ++half_bits_;
  Rng keys(Rng(seed).next() ^ epoch);
  for (std::uint64_t& key : keys_) key = keys.next();
}

std::uint64_t Permutation::encipher(std::uint64_t value) const {
  const std::uint64_t mask = (1ULL << half_bits_) - 1;
  std::uint64_t left = value >> half_bits_;
  std::uint64_t right = value & mask;
  for (const std::uint64_t key : keys_) {
    const std::uint64_t mixed = left ^ (Rng(key ^ right).next() & mask);
    left = right;
    right = mixed;
  }
  return (left << half_bits_) | right;
}

std::uint64_t Permutation::at(std::uint64_t position) const {
  TP_CHECK(position < count_, "a position lies inside the epoch");
  std::uint64_t value = encipher(position);
  while (value >= count_) value = encipher(value);
  return value;
}

}  // namespace tidepool::runtime
