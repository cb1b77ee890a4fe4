// Which seeds of a property a run takes.
#include "tests/support/seeds.hpp"

#include <cstdint>
#include <set>

#include <catch2/catch.hpp>

namespace tidepool::test {
namespace {

std::set<std::uint64_t> seeds_in(const SeedRange& range) {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t seed = range.first; seed <= range.last; seed += range.stride) seeds.insert(seed);
  return seeds;
}

TEST_CASE("five fifths in a row run every seed, each at least four of them") {
  for (const std::uint64_t count : {1U, 5U, 20U, 25U, 40U, 99U, 100U, 200U, 501U}) {
    std::set<std::uint64_t> all;
    for (std::uint64_t fifth = 7; fifth < 12; ++fifth) {
      const auto seeds = seeds_in(fifth_of(count, fifth));
      CHECK(seeds.size() >= std::min<std::uint64_t>(count, 4));
      CHECK(*seeds.rbegin() <= count);
      all.insert(seeds.begin(), seeds.end());
    }
    CHECK(all.size() == count);
    if (count >= 20) CHECK(seeds_in(fifth_of(count, 3)).size() <= count / 5 + 1);
  }
}

}  // namespace
}  // namespace tidepool::test
