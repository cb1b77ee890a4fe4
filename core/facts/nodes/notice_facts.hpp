// Notices to leave: which workers are given one, what their programs answer, and by how much that puts off their end.
//
// Safe rules. A notice is a promise: the time that it names only ever moves to a later one, and only by an answer. All
// answers together add at most what the limits of the job's tenant allow at the time (`notice_extension`), and none
// goes beyond the deadline of a node that is being drained. A program that refuses leaves all the same, unless it was
// asked (AskIntent): then its first answer decides, for all workers of its job.
#pragma once

#include "base/result.hpp"
#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

// The worker, or its program, is to end `within` that time: its notice says so. Requires: the worker exists, and a
// decision is being carried out.
const LeaveNotice& give_notice(StateChange& change, WorkerId id, const Reason& reason, Duration within);

[[nodiscard]] Status apply(StateChange& change, const NoticeAnswered& fact);

// The job's workers whose notice is of that decision.
[[nodiscard]] std::vector<WorkerId> noticed_by(const ClusterState& state, const Job& job, DecisionId decision);

}  // namespace tidepool::core
