#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "tests/support/seeds.hpp"
#include "workers/runtime/data_ledger.hpp"

namespace tidepool::runtime {

TEST_CASE("under any sizes each epoch's samples are used exactly once, in an order that the sizes do not change") {
  test::for_each_seed("ledger", 300, [](std::uint64_t seed, Rng& rng) {
    const std::uint64_t samples = 1 + rng.below(400);
    const LedgerOptions options{.samples = samples, .global_batch = 1 + rng.below(samples + 5), .seed = seed};
    DataLedger alone(options);
    DataLedger changing(options);
    std::vector<std::uint64_t> seen;
    for (int epoch = 0; epoch < 2;) {
      const Lease lease = changing.lease();
      const int size = static_cast<int>(1 + rng.below(6));
      std::vector<std::uint64_t> step;
      AuditSum fed;
      std::size_t smallest = samples;
      std::size_t largest = 0;
      for (int rank = 0; rank < size; ++rank) {
        const auto share = changing.share(lease, rank, SampleWeights(size));
        smallest = std::min(smallest, share.size());
        largest = std::max(largest, share.size());
        step.insert(step.end(), share.begin(), share.end());
      }
      REQUIRE(largest - smallest <= 1);
      REQUIRE(step == alone.share(alone.lease(), 0, SampleWeights(1)));
      for (const std::uint64_t sample : step) fed.add(sample);
      seen.insert(seen.end(), step.begin(), step.end());
      static_cast<void>(alone.commit(fed));
      const auto audit = changing.commit(fed);
      if (!audit) continue;
      REQUIRE(audit->checksum_ok);
      REQUIRE(audit->expected == samples);
      std::sort(seen.begin(), seen.end());
      for (std::uint64_t i = 0; i < samples; ++i) REQUIRE(seen.at(i) == i);
      REQUIRE(seen.size() == samples);
      seen.clear();
      ++epoch;
    }
  });
}

TEST_CASE("under any shares the ranks cover a step exactly, in order and in proportion to their weights") {
  test::for_each_seed("shares", 300, [](std::uint64_t seed, Rng& rng) {
    const std::uint64_t samples = 1 + rng.below(5'000);
    const DataLedger ledger({.samples = samples, .global_batch = 1 + rng.below(samples), .seed = seed});
    const int size = static_cast<int>(1 + rng.below(9));
    std::vector<std::uint64_t> weights;
    std::uint64_t all = 0;
    for (int rank = 0; rank < size; ++rank) all += weights.emplace_back(1 + rng.below(rng.chance(0.2) ? 1'000'000 : 4));
    const SampleWeights table(1, weights);
    const Lease lease = ledger.lease();
    const std::uint64_t batch = lease.end - lease.begin;
    std::vector<std::uint64_t> together;
    for (int rank = 0; rank < size; ++rank) {
      const auto share = ledger.share(lease, rank, table);
      together.insert(together.end(), share.begin(), share.end());
      const double exact = static_cast<double>(batch) * static_cast<double>(weights[static_cast<std::size_t>(rank)]) /
                           static_cast<double>(all);
      REQUIRE(std::abs(static_cast<double>(share.size()) - exact) < 1);
    }
    REQUIRE(together == ledger.share(lease, 0, SampleWeights(1)));
    // Equal weights are even shares, whatever their height.
    const SampleWeights equal(2, std::vector<std::uint64_t>(static_cast<std::size_t>(size), weights.front()));
    for (int rank = 0; rank < size; ++rank) {
      REQUIRE(ledger.share(lease, rank, equal) == ledger.share(lease, rank, SampleWeights(size)));
    }
  });
}

TEST_CASE("an audit notices a sample used twice, one forgotten, and one in another's place") {
  test::for_each_seed("audit", 100, [](std::uint64_t seed, Rng& rng) {
    const std::uint64_t samples = 2 + rng.below(300);
    DataLedger ledger({.samples = samples, .global_batch = samples, .seed = seed});
    auto fed = ledger.share(ledger.lease(), 0, SampleWeights(1));
    const std::uint64_t damage = rng.below(3);
    const std::size_t at = rng.below(fed.size());
    if (damage == 0) fed.push_back(fed[at]);
    if (damage == 1) fed.erase(fed.begin() + static_cast<std::ptrdiff_t>(at));
    if (damage == 2) fed[at] = (fed[at] + 1) % samples;
    AuditSum sum;
    for (const std::uint64_t sample : fed) sum.add(sample);
    const auto audit = ledger.commit(sum);
    REQUIRE(audit);
    REQUIRE(!audit->checksum_ok);
  });
}

}  // namespace tidepool::runtime
