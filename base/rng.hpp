// A seeded generator (SplitMix64) whose numbers are the same on every compiler and machine; the
// standard distributions are not, so none is used.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/check.hpp"

namespace tidepool {

class Rng {
 public:
  explicit constexpr Rng(std::uint64_t seed) : state_(seed) {}

  // Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014, section 3.
  constexpr std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  }

  // Uniform in [0, bound); bound > 0. Rejects the biased tail.
  std::uint64_t below(std::uint64_t bound) {
    TP_CHECK(bound > 0, "a bounded draw needs a positive bound");
    const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    std::uint64_t draw = next();
    while (draw >= limit) draw = next();
    return draw % bound;
  }

  // Uniform in [low, high], both included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    TP_CHECK(low <= high, "a range has its low end first");
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }

  // Uniform in [0, 1) with 53 random bits.
  double uniform() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

  bool chance(double probability) { return uniform() < probability; }

  // Exponential with the given mean, for arrival and failure times.
  double exponential(double mean) { return -mean * std::log1p(-uniform()); }

  // Standard normal by Box and Muller's method; discards one draw of two for simplicity.
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log1p(-uniform()));
    return radius * std::cos(2.0 * 3.14159265358979323846 * uniform());
  }

  // A separate generator for a part, so that its draws do not shift another part's.
  Rng fork() { return Rng(next()); }

  template <class Container>
  void shuffle(Container& items) {
    for (std::size_t i = items.size(); i > 1; --i) {
      using std::swap;
      swap(items[i - 1], items[below(i)]);
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace tidepool
