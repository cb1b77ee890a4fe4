// Empties nodes that are being drained, each until its deadline.
//
// Safe rules. Whatever else a decision does, these jobs come first: their workers have to go. A worker that has still
// to come up there was given up with the drain (core/facts/drain_facts.cpp) and is stopped at once. Of a job that runs,
// one worker after another is replaced on another node, so that one of its members always hands the state on; where
// there is no room, or no time for that, the job shrinks to an allowed size; neither cooldown nor minimum run time
// holds it. A job that can do neither waits for room, and saves its state and releases its slots early enough to have
// its grace until the deadline. What is left there then is stopped.
#pragma once

#include <optional>

#include "base/id_set.hpp"
#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

[[nodiscard]] IdSet<NodeId> draining_nodes(const ClusterState& state);
// Jobs with a worker on one of these nodes.
[[nodiscard]] IdSet<JobId> jobs_on(const ClusterState& state, const IdSet<NodeId>& nodes);

// Some member of the job is on a node that is being drained; nothing but leaving changes its size until then.
[[nodiscard]] bool leaves_node(const DecisionDraft& draft, const Job& job);

// A worker of the job that was stopped there is not gone yet; until then nothing else is changed.
[[nodiscard]] bool awaits_stopped(const DecisionDraft& draft, const Job& job);

// Why the job gives up all its slots now, if it does. Requires: it is active.
[[nodiscard]] std::optional<Reason> suspended_by_drain(const DecisionDraft& draft, const Job& job);
// Why the worker may not stay where it is; none: its node is not drained.
[[nodiscard]] std::optional<Reason> stopped_by_drain(const DecisionDraft& draft, const Worker& worker);
// Stops those of its workers whose time there has ended.
void stop_on_drained(DecisionDraft& draft, const Job& job);

// One change for each of the jobs that can change now, towards leaving these nodes.
void plan_drains(DecisionDraft& draft, const IdSet<JobId>& jobs);

// The first time after `after` at which time alone makes something of the above due.
[[nodiscard]] std::optional<Instant> next_drain_due(const ClusterState& state, const IdSet<NodeId>& nodes,
                                                    std::optional<Instant> after);

}  // namespace tidepool::core
