// Notices to leave: which workers get one, the answers of their programs, and how far an answer postpones their end.
//
// Safe rules. A notice is a promise: its deadline only ever moves to a later time, and only because of an answer. All
// answers together add at most what the limits of the job's tenant allow at the time (`notice_extension`), and none
// extends past the deadline of a node that is being drained. A program that refuses must leave nevertheless, unless it
// was asked (AskIntent): then its first answer decides, for all workers of its job.
#pragma once

#include "base/result.hpp"
#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

// Gives the worker, or only its program, a notice to end `within` that time. Requires: the worker exists, and a
// decision is being carried out.
const LeaveNotice& give_notice(StateChange& change, WorkerId id, const Reason& reason, Duration within);

[[nodiscard]] Status apply(StateChange& change, const NoticeAnswered& fact);

// The job's workers whose notice belongs to that decision.
[[nodiscard]] std::vector<WorkerId> noticed_by(const ClusterState& state, const Job& job, DecisionId decision);

}  // namespace tidepool::core
