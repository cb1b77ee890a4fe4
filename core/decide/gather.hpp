// Keeps the workers of a job together: on as few nodes as its size allows. A job grows on the nodes that it already
// uses, or moves together in the same change. A job on more nodes than it needs moves together when that pays, and
// where a node would have room if another job left it, the other job moves away.
//
// Rules. Successors boot first, on free slots, so no job is ever smaller than before. No worker moves while its job
// changes, cools down, has a price cap or is about to end, while any job waits for slots, or back to the node of a slow
// worker that it replaced. A move pays if its cost to all moving jobs, as measured for such changes, does not exceed
// the assumed loss of spread workers within kGatherWithin. A job with `topology.pack: node` is gathered whatever that
// costs; a job that requests spread workers or exclusive domains is never gathered. A job that packs by a label other
// than the node stays within its present domains. A job whose workers are spread waits for slots that become free on
// its nodes, and for jobs that are leaving them, before more jobs are moved.
#pragma once

#include <optional>

#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

// The share of work that workers are assumed to lose on more nodes than they need.
inline constexpr double kLostApart = 0.05;
inline constexpr Duration kGatherWithin = Duration::seconds(350);

// Whether the size `together`, with all workers together, is as good as the larger size `apart`.
[[nodiscard]] constexpr bool is_as_good_together(int size, int apart) {
  return size >= apart * (1 - kLostApart);
}

// It runs on more than one node.
[[nodiscard]] bool is_spread(const ClusterState& state, const Job& job);
// Its workers are on more nodes than they need.
[[nodiscard]] bool is_apart(DecisionDraft& draft, const Job& job);

// Why a job changes, and what its policy weighed, which is recorded with it; null = nothing.
struct Cause {
  Reason reason;
  const Target* weighed = nullptr;
};
// Grows the job to this size, all its workers together; false if they find no room.
bool grow_together(DecisionDraft& draft, const Job& job, int to, const Cause& why);

// Workers are gathered only on free slots that no waiting job needs.
[[nodiscard]] bool may_gather(DecisionDraft& draft);
// The job does not cool down, and moving at least one of its workers, which is needed with or without room, pays.
[[nodiscard]] bool gathering_pays(const DecisionDraft& draft, const Job& job);
// Moves the workers together at the present size, or makes another job leave room for them. False if the job itself
// does not change.
bool gather(DecisionDraft& draft, const Job& job);

// Makes other jobs move away so that the job's workers find room together at this size, or waits if enough slots are
// about to become free. False if neither applies, or it does not pay.
bool make_room_together(DecisionDraft& draft, const Job& job, int size);

}  // namespace tidepool::core
