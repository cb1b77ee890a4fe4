#include "workers/runtime/data_ledger.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/rng.hpp"

namespace tidepool::runtime {

void AuditSum::add(std::uint64_t sample) {
  ++count;
  checksum += Rng(sample).next();
}

DataLedger::DataLedger(LedgerOptions options) : options_(options), order_(options.seed, 0, options.samples) {
  set_global_batch(options.global_batch);
}

Lease DataLedger::lease() const {
  // Not cursor + batch, which could overflow.
  const std::uint64_t end = state_.cursor + std::min(options_.global_batch, options_.samples - state_.cursor);
  return {.epoch = state_.epoch, .begin = state_.cursor, .end = end};
}

Lease DataLedger::lease_after(const Lease& lease) const {
  const bool next_epoch = lease.end == options_.samples;
  const std::uint64_t begin = next_epoch ? 0 : lease.end;
  return {.epoch = lease.epoch + (next_epoch ? 1 : 0),
          .begin = begin,
          .end = begin + std::min(options_.global_batch, options_.samples - begin)};
}

std::vector<std::uint64_t> DataLedger::share(const Lease& lease, int rank, const SampleWeights& shares) const {
  TP_CHECK(rank >= 0 && rank < shares.size(), "a rank lies inside its generation");
  TP_CHECK(lease.epoch == state_.epoch || lease.epoch == state_.epoch + 1, "only this epoch and the next are leased");
  const auto epoch = static_cast<std::uint64_t>(lease.epoch);
  const Permutation order = lease.epoch == state_.epoch ? order_ : Permutation(options_.seed, epoch, options_.samples);
  const std::uint64_t begin = lease.begin + shares.begin_of(rank, lease.end - lease.begin);
  const std::uint64_t end = lease.begin + shares.begin_of(rank + 1, lease.end - lease.begin);
  std::vector<std::uint64_t> samples;
  samples.reserve(end - begin);
  for (std::uint64_t position = begin; position < end; ++position) samples.push_back(order.at(position));
  return samples;
}

std::optional<EpochAudit> DataLedger::commit(AuditSum fed) {
  state_.cursor = lease().end;
  state_.used.count += fed.count;
  state_.used.checksum += fed.checksum;
  if (state_.cursor < options_.samples) return std::nullopt;
  const EpochAudit audit = audit_so_far();
  adopt({.epoch = state_.epoch + 1, .cursor = 0, .used = {}});
  return audit;
}

EpochAudit DataLedger::audit_so_far() const {
  const AuditSum expected = expected_up_to(state_.cursor);
  return {.epoch = state_.epoch,
          .expected = expected.count,
          .used = state_.used.count,
          .checksum_ok = expected == state_.used};
}

AuditSum DataLedger::expected_up_to(std::uint64_t end) const {
  AuditSum expected;
  // A whole epoch contains every sample once, in any order: the order need not be computed again.
  const bool whole = end == options_.samples;
  for (std::uint64_t position = 0; position < end; ++position) expected.add(whole ? position : order_.at(position));
  return expected;
}

void DataLedger::set_global_batch(std::uint64_t samples) {
  TP_CHECK(samples > 0, "a step uses at least one sample");
  options_.global_batch = samples;
}

void DataLedger::adopt(const State& state) {
  TP_CHECK(state.cursor < options_.samples, "the cursor stays inside its epoch");
  if (state.epoch != state_.epoch) {
    order_ = Permutation(options_.seed, static_cast<std::uint64_t>(state.epoch), options_.samples);
  }
  state_ = state;
}

}  // namespace tidepool::runtime
