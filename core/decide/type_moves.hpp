// Makes room for a job that waits for particular nodes, such as nodes with a slot type (state/node_constraints.hpp):
// workers of jobs that may also run elsewhere move off.
//
// Rules. Successors boot elsewhere first, and the job is never smaller than before. A job is on slots of one type, so
// all its workers move together; the one that leaves last hands over the state, and a live job of a single worker that
// may not have two stays. A job that mixes types moves one worker at a time, like a replacement. A job does not move
// while it changes, cools down or is about to end, or if it has a topology rule (place/gang_rules.hpp). Only as many
// workers move as the smallest size of the waiting job lacks, those first whose moves cost least by the measured cost
// of their jobs' replacements. They move once the job has waited for as long, in slot-seconds, as all these moves cost:
// no job pauses for longer than another has waited, and no job waits for much longer than that either. Slots that
// become free meanwhile are reserved: no job behind this one takes slots of its nodes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/id_set.hpp"
#include "core/decide/decision_draft.hpp"
#include "core/place/move_costs.hpp"

namespace tidepool::core {

struct TypeRoom {
  bool coming = false;           // enough slots are free, or become free without a move
  std::vector<WorkerId> movers;  // otherwise must move; none = moves alone are not enough
  double cost_s = 0;             // of all of them, slot-seconds
  JobId holder;                  // the job with most slots on these nodes
};
// `leaving`: workers whose slots count as free. Requires: the job waits and requests particular nodes. For a job with a
// topology rule no worker moves: domain_wait.hpp names the nodes of one domain for it.
[[nodiscard]] TypeRoom room_of_type(DecisionDraft& draft, const Job& waiting, const IdSet<WorkerId>& leaving);

// Moves the workers that must move and can; returns how many slots the others lack elsewhere.
int move_away(DecisionDraft& draft, const Job& waiting, const TypeRoom& room);

// The reason of a job that waits for particular nodes. It is recorded again each time its waiting time has doubled,
// because what is in its way may have changed.
[[nodiscard]] Reason reason_with_room(const DecisionDraft& draft, const TypeRoom& room, const Job& waiting,
                                      reason::WaitingForSlots lacks);

// When workers may move for the job, or leave nodes for it (reconcile/node_clearing.hpp), without a new fact: its
// waiting is examined again each time it has doubled.
[[nodiscard]] std::optional<Instant> next_look_for_room(const Job& waiting, Instant after);

}  // namespace tidepool::core
