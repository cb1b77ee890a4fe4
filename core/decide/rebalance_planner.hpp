// The action before a slow worker is replaced: it gets a smaller share of each step, so that all members finish
// together. N workers of which one takes x times as long per sample then do (N - 1) + 1/x times the work of one,
// instead of N/x. Training does not stop: the members change shares at an agreed step, over the same communicator.
//
// A worker's weight w becomes w x (median compute time of the others) / (its own time), both measured with the present
// shares. It would then finish with the others if its time were proportional to its samples. If part of its time is
// fixed, each change brings it nearer, because only equal times are a fixed point. A worker that is fast again waits
// for the others; when that has cost as much as a change of shares, its weight grows by the same rule, up to a full
// share.
// On a busy machine with steps of a millisecond a worker can be slow with a full share and fast with a small one, so
// that each change triggers the opposite one (a turn). From the second turn a change covers half of the distance, then
// a third and a quarter, and waiting must have cost twice as much each time, up to an eighth of a replacement; two
// changes in the same direction halve the count. Safe rule: a change must move a weight by kMoveMin, be based on
// kStepsToWeigh steps, and leave every member a sample.
#pragma once

#include <optional>

#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

inline constexpr double kMoveMin = 0.07;            // of the weight; less is noise
inline constexpr std::int64_t kStepsToWeigh = 8;    // steps with the present shares before a smaller share
inline constexpr std::int64_t kStepsToRegain = 20;  // before a larger share
inline constexpr std::int64_t kShareMin = 50;       // of kFullShare: a slower worker is replaced or removed

// Slot-seconds that a change of shares costs all members: as measured, or a tenth of a second each before that.
[[nodiscard]] double cost_of_rebalancing(const Job& job);

// Slot-seconds that waiting must have cost before the worker's share grows, or shrinks.
[[nodiscard]] double due_after(const Job& job, WorkerId worker, bool grows);

// A smaller share for this slow member; none if it would not help, or cannot be set now. `reason`'s numbers are those
// of a straggler and the shares.
[[nodiscard]] std::optional<RebalanceIntent> ease(const DecisionDraft& draft, const Job& job, const Worker& slow);

// A larger share for a rebalanced member that has waited too long for the others; the first by id.
[[nodiscard]] std::optional<RebalanceIntent> regain(const DecisionDraft& draft, const Job& job);

// The weight of a member by the newest order to the job.
[[nodiscard]] std::int64_t share_of(const Job& job, WorkerId worker);

// The speed of a rebalanced member as a share of the others' speed, from measured shares and times; none if unknown.
[[nodiscard]] std::optional<double> eased_speed(const ClusterState& state, const Job& job, WorkerId worker);

}  // namespace tidepool::core
