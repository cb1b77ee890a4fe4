// How the samples of a step are split over a job's members: what they were ordered, and what they do. Safe rule: shares
// are valid within one generation only. Each generation begins with even shares, so a worker that missed an order never
// uses another table than the others; rebalanced shares are ordered again right after a switch is committed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

inline constexpr double kIdleAllowed = 0.05;  // of the others' time: shorter waits of a rebalanced worker are noise

// The samples of each rank in a step of `samples`: consecutive pieces in proportion to the weights, as the workers'
// data ledger cuts them. Requires: weights >= 0, and a sum > 0.
[[nodiscard]] std::vector<std::int64_t> shares_of(std::int64_t samples, const std::vector<std::int64_t>& weights);

// The table's weights for `ranks` ranks: even weights if it has none.
[[nodiscard]] std::vector<std::int64_t> weights_of(const SampleWeights& table, std::size_t ranks);

// By rank, from the rebalanced members; empty if there are none.
[[nodiscard]] std::vector<std::int64_t> eased_weights(const Job& job);

// The worker's ShareTurns after this change of its share.
[[nodiscard]] ShareTurns turns_after(const Job& job, WorkerId worker, bool grows);

// Call after the job's members were set to those of a new generation: removes the shares of members that have left, and
// orders the shares of rebalanced members again.
void begin_shares(Job& job);

// The newest ordered table is in use: measurements under the previous table do not apply to it.
void use_told_shares(StateChange& change, Job& job);

[[nodiscard]] Status apply(StateChange& change, const SharesChanged& fact);

}  // namespace tidepool::core
