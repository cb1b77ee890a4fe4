// How the samples of a step are split over a job's members: what they have been told, and what they do.
// Safe rule: shares hold within one generation only. Each begins with even ones, so a worker that missed an order is
// never fed by another table than the others; rebalanced ones are told again right after a switch is committed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

inline constexpr double kIdleAllowed = 0.05;  // of the others' time: so much waiting of a rebalanced worker is noise

// The samples of each rank in a step of so many: consecutive pieces in proportion to the weights, as the workers' data
// ledger cuts them. Requires: weights >= 0, and a sum > 0.
[[nodiscard]] std::vector<std::int64_t> shares_of(std::int64_t samples, const std::vector<std::int64_t>& weights);

// The table's weights for so many ranks: even ones where it has none.
[[nodiscard]] std::vector<std::int64_t> weights_of(const SampleWeights& table, std::size_t ranks);

// By rank, from the members that are rebalanced; empty if none is.
[[nodiscard]] std::vector<std::int64_t> eased_weights(const Job& job);

// The worker's turns once its share has changed so.
[[nodiscard]] ShareTurns turns_after(const Job& job, WorkerId worker, bool grows);

// After the job's members have been set to those of a new generation: those that have left are forgotten, and those
// that are rebalanced are told so in it.
void begin_shares(Job& job);

// The newest table that has been told is used: what has been measured by the one before says nothing about it.
void use_told_shares(StateChange& change, Job& job);

[[nodiscard]] Status apply(StateChange& change, const SharesChanged& fact);

}  // namespace tidepool::core
