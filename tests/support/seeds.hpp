// Runs a property over seeds. Prints each seed before it runs, so that even a crash names it, and
// takes one back from the environment: TIDEPOOL_SEED=7 runs only that seed, TIDEPOOL_SEEDS=1000 more,
// TIDEPOOL_SEED_TIMES=5 five times as many, and TIDEPOOL_SEED_FIFTH=n the n-th fifth of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/check.hpp"
#include "base/rng.hpp"

namespace tidepool::test {

struct SeedRange {
  std::uint64_t first = 1;
  std::uint64_t last = 0;
  std::uint64_t stride = 1;
};

// One of the fifths of seeds 1 to count. Of less than twenty seeds more than a fifth: four at least, so that what a
// property has counted at its end has still come up.
inline SeedRange fifth_of(std::uint64_t count, std::uint64_t fifth) {
  const std::uint64_t stride = std::clamp<std::uint64_t>(count / 4, 1, 5);
  return {.first = 1 + fifth % stride, .last = count, .stride = stride};
}

// How often something comes up can only be asked of all seeds, and not of a fifth of them or of one.
inline bool all_seeds_run() {
  return std::getenv("TIDEPOOL_SEED_FIFTH") == nullptr && std::getenv("TIDEPOOL_SEED") == nullptr;
}

// Of cases 1 to count that draw nothing: all, or the fifth of them that this run is asked for.
inline SeedRange cases_of_this_run(std::uint64_t count) {
  const char* fifth = std::getenv("TIDEPOOL_SEED_FIFTH");
  return fifth == nullptr ? SeedRange{.last = count} : fifth_of(count, std::strtoull(fifth, nullptr, 10));
}

inline SeedRange seeds_of_this_run(std::uint64_t count) {
  if (const char* more = std::getenv("TIDEPOOL_SEEDS")) count = std::strtoull(more, nullptr, 10);
  if (const char* times = std::getenv("TIDEPOOL_SEED_TIMES")) count *= std::strtoull(times, nullptr, 10);
  if (const char* fifth = std::getenv("TIDEPOOL_SEED_FIFTH")) return fifth_of(count, std::strtoull(fifth, nullptr, 10));
  return {.last = count};
}

template <class Property>
void for_each_seed(const char* name, std::uint64_t count, Property property) {
  const auto run = [&](std::uint64_t seed) {
    std::printf("%s: seed %llu (repeat with TIDEPOOL_SEED=%llu)\n", name, static_cast<unsigned long long>(seed),
                static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    set_running_seed(std::string(name) + " " + std::to_string(seed));
    Rng rng(seed);
    property(seed, rng);
    set_running_seed("");
  };
  if (const char* only = std::getenv("TIDEPOOL_SEED")) {
    run(std::strtoull(only, nullptr, 10));
    return;
  }
  const SeedRange seeds = seeds_of_this_run(count);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; seed += seeds.stride) run(seed);
}

}  // namespace tidepool::test
