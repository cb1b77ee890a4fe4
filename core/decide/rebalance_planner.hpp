// What is tried before a slow worker is replaced: it gets a smaller share of each step, so that all members finish
// together. N workers of which one takes x times as long per sample then do (N - 1) + 1/x times what one does,
// instead of N/x. Nothing stops: the members change over at a step that they agree on, over the same communicator.
//
// A worker's weight w goes to w x (median compute time of the others) / (its own), both as measured by the present
// shares: after that it would finish with them if its time went with its samples. If part of its time is fixed the
// next change brings it nearer, since only equal times are at rest. A worker that is fast again waits for the others;
// when that has cost as much as a change of shares does, its weight grows by the same rule, up to a full share.
// On a busy machine with steps of a millisecond a worker can be slow with a full share and fast with a small one, so
// that each change calls for the opposite one (a turn). From the second turn on a change goes half the way, then a
// third and a quarter, and waiting has to have cost twice as much each time, up to an eighth of a replacement; two
// changes of one kind in a row halve the count. Safe rule: a change must move a weight by kMoveMin, rest on
// kStepsToWeigh steps, and leave every member a sample.
#pragma once

#include <optional>

#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

inline constexpr double kMoveMin = 0.07;            // of the weight; less is noise
inline constexpr std::int64_t kStepsToWeigh = 8;    // of the present shares, until a smaller share is weighed
inline constexpr std::int64_t kStepsToRegain = 20;  // until a larger one is
inline constexpr std::int64_t kShareMin = 50;       // of kFullShare: a slower worker is replaced or given up

// Slot-seconds that a change of shares costs all members: as measured, and a tenth of a second each until then.
[[nodiscard]] double cost_of_rebalancing(const Job& job);

// Slot-seconds that waiting must have cost before the worker's share is made larger, or smaller.
[[nodiscard]] double due_after(const Job& job, WorkerId worker, bool grows);

// A smaller share for this slow member; nothing if none would help, or none can be had now. `reason`'s numbers are
// those of a straggler and the shares.
[[nodiscard]] std::optional<RebalanceIntent> ease(const DecisionDraft& draft, const Job& job, const Worker& slow);

// A larger share for a rebalanced member that has waited for the others for too long; the first by id.
[[nodiscard]] std::optional<RebalanceIntent> regain(const DecisionDraft& draft, const Job& job);

// The weight of a member by what the job has been told.
[[nodiscard]] std::int64_t share_of(const Job& job, WorkerId worker);

// The speed of a rebalanced member as a share of the others', by the shares and times measured; nothing if unknown.
[[nodiscard]] std::optional<double> eased_speed(const ClusterState& state, const Job& job, WorkerId worker);

}  // namespace tidepool::core
