// Room for a job that waits for particular nodes, such as those of a type of slot (state/node_constraints.hpp): workers
// of jobs that may be elsewhere, too, leave slots there.
//
// Rules. Successors boot elsewhere first, and the job is never smaller than it was. A job is on slots of one type, so
// all its workers move together; the one that leaves last has handed its state on, and a live job of a single worker
// that may not have two stays. A job that mixes types moves one worker at a time, as one that is replaced. None moves
// while it changes, cools down or is about to end, nor one whose workers have rules together (place/gang_rules.hpp).
// Only as many move as the smallest size of the waiting job lacks, those first whose moves cost least by what their
// jobs' replacements have cost. They move once the job has waited for as long, in slot-seconds, as all these moves
// cost: no job stands still for longer than another has waited, and none waits for much longer than that either.
// What comes free in between is kept: no job behind this one takes slots of its nodes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/id_set.hpp"
#include "core/decide/decision_draft.hpp"
#include "core/place/move_costs.hpp"

namespace tidepool::core {

struct TypeRoom {
  bool coming = false;           // enough is free, or will be without a move
  std::vector<WorkerId> movers;  // would have to move else; none = moves alone are not enough
  double cost_s = 0;             // of all of them, slot-seconds
  JobId holder;                  // holds most slots of these nodes
};
// `leaving`: workers whose slots count as free. Requires: the job waits and asks for particular nodes. For one whose
// workers have rules together none moves: domain_wait.hpp names the nodes of one domain for it.
[[nodiscard]] TypeRoom room_of_type(DecisionDraft& draft, const Job& waiting, const IdSet<WorkerId>& leaving);

// Moves the workers that are due to move and can; returns how many slots elsewhere the other due ones lack for that.
int move_away(DecisionDraft& draft, const Job& waiting, const TypeRoom& room);

// What is to be said of a job that waits for particular nodes. It is told anew with each doubling of its waiting:
// what is in its way may have changed.
[[nodiscard]] Reason told_of_room(const DecisionDraft& draft, const TypeRoom& room, const Job& waiting,
                                  reason::WaitingForSlots lacks);

// When time alone may let workers move for the job, or leave nodes for it (reconcile/node_clearing.hpp): its waiting is
// looked at again each time it has doubled.
[[nodiscard]] std::optional<Instant> next_look_for_room(const Job& waiting, Instant after);

}  // namespace tidepool::core
