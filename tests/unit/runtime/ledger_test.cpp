#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>

#include "workers/runtime/data_ledger.hpp"

namespace tidepool::runtime {

TEST_CASE("a permutation is a bijection, and seeds and epochs give different ones") {
  for (const std::uint64_t count : {1ULL, 2ULL, 3ULL, 4ULL, 5ULL, 16ULL, 17ULL, 1'000ULL, 4'097ULL}) {
    CAPTURE(count);
    const Permutation order(1, 0, count);
    std::vector<std::uint64_t> seen(count);
    for (std::uint64_t i = 0; i < count; ++i) seen[i] = order.at(i);
    std::sort(seen.begin(), seen.end());
    for (std::uint64_t i = 0; i < count; ++i) REQUIRE(seen[i] == i);
  }
  const auto first_20 = [](std::uint64_t seed, std::uint64_t epoch) {
    const Permutation order(seed, epoch, 1'000);
    std::vector<std::uint64_t> samples;
    for (std::uint64_t i = 0; i < 20; ++i) samples.push_back(order.at(i));
    return samples;
  };
  CHECK(first_20(1, 0) == first_20(1, 0));
  CHECK(first_20(1, 0) != first_20(2, 0));
  CHECK(first_20(1, 0) != first_20(1, 1));
}

TEST_CASE("a permutation leaves no trace of the order it came from") {
  // Neighbours of a good shuffle are as far apart as chance has it: a third of the range on average.
  const std::uint64_t count = 10'000;
  const Permutation order(7, 3, count);
  double distance = 0;
  for (std::uint64_t i = 1; i < count; ++i) {
    distance += std::abs(static_cast<double>(order.at(i)) - static_cast<double>(order.at(i - 1)));
  }
  CHECK(distance / static_cast<double>(count) == Approx(static_cast<double>(count) / 3).epsilon(0.05));
}

TEST_CASE("an uncommitted lease is leased again, a committed one never") {
  DataLedger ledger({.samples = 10, .global_batch = 4});
  CHECK(ledger.lease().begin == 0);
  CHECK(ledger.lease().begin == 0);
  const auto commit = [&] {
    AuditSum fed;
    for (const auto sample : ledger.share(ledger.lease(), 0, SampleWeights(1))) fed.add(sample);
    return ledger.commit(fed);
  };
  CHECK(!commit());
  CHECK(ledger.lease().begin == 4);
  CHECK(!commit());
  CHECK(ledger.lease().begin == 8);
  CHECK(ledger.lease().end == 10);  // the last step of an epoch is shorter
  const auto audit = commit();
  REQUIRE(audit);
  CHECK(audit->expected == 10);
  CHECK(audit->used == 10);
  CHECK(audit->checksum_ok);
  CHECK(ledger.lease().epoch == 1);
  CHECK(ledger.lease().begin == 0);
}

TEST_CASE("the audit of an unfinished epoch expects what was leased so far") {
  DataLedger ledger({.samples = 10, .global_batch = 4});
  AuditSum fed;
  for (const auto sample : ledger.share(ledger.lease(), 0, SampleWeights(1))) fed.add(sample);
  static_cast<void>(ledger.commit(fed));
  const EpochAudit audit = ledger.audit_so_far();
  CHECK(audit.expected == 4);
  CHECK(audit.used == 4);
  CHECK(audit.checksum_ok);
}

TEST_CASE("a joining worker that adopts the state goes on where the others are") {
  DataLedger old({.samples = 100, .global_batch = 30, .seed = 5});
  for (int step = 0; step < 5; ++step) {
    AuditSum fed;
    for (const auto sample : old.share(old.lease(), 0, SampleWeights(1))) fed.add(sample);
    static_cast<void>(old.commit(fed));
  }
  DataLedger joining_worker({.samples = 100, .global_batch = 30, .seed = 5});
  joining_worker.adopt(old.state());
  CHECK(joining_worker.share(joining_worker.lease(), 1, SampleWeights(3)) ==
        old.share(old.lease(), 1, SampleWeights(3)));
}

TEST_CASE("more workers than samples leaves some with none and loses none") {
  const DataLedger ledger({.samples = 3, .global_batch = 3});
  std::size_t total = 0;
  for (int rank = 0; rank < 8; ++rank) total += ledger.share(ledger.lease(), rank, SampleWeights(8)).size();
  CHECK(total == 3);
}

}  // namespace tidepool::runtime
