// A job's workers together: on as few nodes as its size allows. A job that grows does so on the nodes that it has, or
// moves together in the same change; one that lies on more nodes than it needs moves together when that pays; and where
// a node would have room if another job left it, that job moves away.
//
// Rules. Successors boot first, on free slots, and no job is ever smaller than it was. No worker moves while its job
// changes, cools down, has a cap on its price or is about to end, nor while a job waits for slots, nor back to the node
// of a slow worker whose place it took. A move pays if what it costs all that move, by what such changes have cost
// them, is no more than what workers that are apart are taken to lose in kGatherWithin; a job with `topology.pack:
// node` is gathered whatever that costs, and one whose workers lie apart by its own wish, or on nodes of their own,
// never. A job that packs by another label than the node stays within the domains in which it is. A job whose workers
// are apart waits for what comes free on its nodes, and for jobs that leave them, before more jobs are moved.
#pragma once

#include <optional>

#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

// What workers that are on more nodes than they need are taken to lose of their work.
inline constexpr double kLostApart = 0.05;
inline constexpr Duration kGatherWithin = Duration::seconds(350);

// A size at which all workers are together, beside a larger one at which they are apart.
[[nodiscard]] constexpr bool is_as_good_together(int size, int apart) {
  return size >= apart * (1 - kLostApart);
}

// It runs on more than one node.
[[nodiscard]] bool is_spread(const ClusterState& state, const Job& job);
// Its workers are on more nodes than they need.
[[nodiscard]] bool is_apart(DecisionDraft& draft, const Job& job);

// Why a job changes, and what its policy weighed, which is told with it; null = nothing.
struct Cause {
  Reason reason;
  const Target* weighed = nullptr;
};
// Grows the job to this size, all its workers together; false if they find no room.
bool grow_together(DecisionDraft& draft, const Job& job, int to, const Cause& why);

// Workers come together only on slots that are free and that no waiting job needs.
[[nodiscard]] bool may_gather(DecisionDraft& draft);
// The job does not cool down, and with room or without at least one of its workers moves: that alone may cost too much.
[[nodiscard]] bool gathering_pays(const DecisionDraft& draft, const Job& job);
// The workers move together as they are, or another job makes room for them. False if the job itself does not change.
bool gather(DecisionDraft& draft, const Job& job);

// Other jobs move away, so that the job's workers find room together at this size, or what they need comes free anyway.
// False if that is not so, or it does not pay.
bool make_room_together(DecisionDraft& draft, const Job& job, int size);

}  // namespace tidepool::core
