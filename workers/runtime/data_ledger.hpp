// Decides which samples each step uses, and proves that each sample was used exactly once. A step leases its samples
// when it starts and acknowledges them when it commits; samples that were never acknowledged are leased again.
//
// The k-th sample of an epoch is the same for every number of workers; only the split of a step's range over the ranks
// depends on the size and on the shares. The ledger's state is part of the replicated state.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "workers/runtime/permutation.hpp"
#include "workers/runtime/share_table.hpp"

namespace tidepool::runtime {

// The number of samples, and the sum of their marks modulo 2^64. The sums of two ranks can be added.
struct AuditSum {
  std::uint64_t count = 0;
  std::uint64_t checksum = 0;

  void add(std::uint64_t sample);
  bool operator==(const AuditSum&) const = default;
};

// Positions [begin, end) of an epoch's order: all ranks' samples of one step.
struct Lease {
  std::int64_t epoch = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct EpochAudit {
  std::int64_t epoch = 0;
  // Samples that should have been used: all samples, or in an unfinished epoch all leased ones.
  std::uint64_t expected = 0;
  std::uint64_t used = 0;    // samples that the committed steps used
  bool checksum_ok = false;  // the samples used are exactly the expected ones
};

struct LedgerOptions {
  std::uint64_t samples = 1;       // in one epoch, > 0
  std::uint64_t global_batch = 1;  // samples per step over all ranks, > 0; an epoch's last step may be shorter
  std::uint64_t seed = 1;
};

class DataLedger {
 public:
  struct State {
    std::int64_t epoch = 0;
    std::uint64_t cursor = 0;  // first position that no committed step has used
    AuditSum used;             // of this epoch's committed steps, over all ranks

    bool operator==(const State&) const = default;
  };

  explicit DataLedger(LedgerOptions options);

  // The range of the step in progress: the same answer until the step commits.
  [[nodiscard]] Lease lease() const;

  // The range after `lease`, if `lease` commits and the batch does not change.
  [[nodiscard]] Lease lease_after(const Lease& lease) const;

  // The samples of `rank` in a range of the current epoch or the next one. The ranks' shares cover the range exactly,
  // whatever the table is; even shares differ by at most one sample.
  [[nodiscard]] std::vector<std::uint64_t> share(const Lease& lease, int rank, const SampleWeights& shares) const;

  // Acknowledges the lease; `fed` counts the samples that all ranks together used. Returns the audit at an epoch's end.
  std::optional<EpochAudit> commit(AuditSum fed);

  // The audit of the current epoch, up to the cursor.
  [[nodiscard]] EpochAudit audit_so_far() const;

  // Sets the size of all later leases, > 0; it may differ from generation to generation. Samples that were leased but
  // not committed are leased again, so every sample is still used once.
  void set_global_batch(std::uint64_t samples);
  [[nodiscard]] std::uint64_t global_batch() const { return options_.global_batch; }

  // Samples of all committed steps since the training began.
  [[nodiscard]] std::uint64_t samples_committed() const {
    return static_cast<std::uint64_t>(state_.epoch) * options_.samples + state_.cursor;
  }

  [[nodiscard]] const State& state() const { return state_; }
  void adopt(const State& state);

 private:
  [[nodiscard]] AuditSum expected_up_to(std::uint64_t end) const;

  LedgerOptions options_;
  State state_;
  Permutation order_;
};

}  // namespace tidepool::runtime
