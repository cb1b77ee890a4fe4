// Runs a property over seeds. Prints each seed before it runs, so that even a crash names it, and
// takes one back from the environment: TIDEPOOL_SEED=7 runs only that seed, TIDEPOOL_SEEDS=1000 more.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/check.hpp"
#include "base/rng.hpp"

namespace tidepool::test {

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
  if (const char* more = std::getenv("TIDEPOOL_SEEDS")) count = std::strtoull(more, nullptr, 10);
  for (std::uint64_t seed = 1; seed <= count; ++seed) run(seed);
}

}  // namespace tidepool::test
