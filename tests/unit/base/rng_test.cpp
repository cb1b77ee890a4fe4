#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/digest.hpp"
#include "base/rng.hpp"

using namespace tidepool;

TEST_CASE("The generator gives the published numbers of SplitMix64 for seed 1234567") {
  Rng rng(1234567);
  CHECK(rng.next() == 6457827717110365317ULL);
  CHECK(rng.next() == 3203168211198807973ULL);
  CHECK(rng.next() == 9817491932198370423ULL);
}

TEST_CASE("Bounded draws stay in their range and reach both ends") {
  Rng rng(1);
  std::vector<int> seen(6, 0);
  for (int i = 0; i < 10'000; ++i) ++seen.at(static_cast<std::size_t>(rng.between(-2, 3) + 2));
  for (const int count : seen) CHECK(count > 1'400);
}

TEST_CASE("Uniform, exponential and normal draws have the moments they should") {
  Rng rng(2);
  double uniform = 0;
  double exponential = 0;
  double normal_squares = 0;
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    uniform += rng.uniform();
    exponential += rng.exponential(3.0);
    const double z = rng.normal();
    normal_squares += z * z;
  }
  CHECK(uniform / kDraws == Approx(0.5).epsilon(0.01));
  CHECK(exponential / kDraws == Approx(3.0).epsilon(0.02));
  CHECK(normal_squares / kDraws == Approx(1.0).epsilon(0.02));
}

TEST_CASE("A shuffle keeps every element and depends on nothing but the seed") {
  std::vector<int> first(100);
  std::iota(first.begin(), first.end(), 0);
  std::vector<int> second = first;
  Rng(9).shuffle(first);
  Rng(9).shuffle(second);
  CHECK(first == second);
  CHECK_FALSE(std::is_sorted(first.begin(), first.end()));
  std::sort(first.begin(), first.end());
  for (int i = 0; i < 100; ++i) CHECK(first[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("A digest of a number is that of its eight bytes, the lowest first") {
  Rng rng(5);
  for (int round = 0; round < 2'000; ++round) {
    const std::uint64_t number = rng.below(UINT64_MAX) >> rng.below(64);
    std::uint64_t expected = Digest().mix("before").value();
    for (unsigned shift = 0; shift < 64; shift += 8)
      expected = (expected ^ (number >> shift & 0xffU)) * 0x100000001b3ULL;
    REQUIRE(Digest().mix("before").mix(number).value() == expected);
  }
  CHECK(Digest().mix(std::uint64_t{0}).value() != Digest().value());
}

TEST_CASE("A digest tells apart what concatenation would not") {
  CHECK(Digest().mix("ab").mix("c").value() != Digest().mix("a").mix("bc").value());
  CHECK(Digest().mix(std::uint64_t{1}).text().size() == 16);
}
