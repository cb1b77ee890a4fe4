// Empties nodes that are being drained, each by its deadline.
//
// Safe rules. These jobs come before everything else in a decision, because their workers must leave. A worker that is
// still starting on such a node was abandoned with the drain (core/facts/drain_facts.cpp) and is stopped at once. The
// workers of a running job are replaced one after another on other nodes, so that one of its members always hands over
// the state. Where there is no room or no time for that, the job shrinks to an allowed size; neither cooldown nor
// minimum run time prevents this. A job that can do neither waits for room, and saves its state and releases its slots
// early enough to have its grace before the deadline. Workers that are left at the deadline are stopped.
#pragma once

#include <optional>

#include "base/id_set.hpp"
#include "core/decide/decision_draft.hpp"

namespace tidepool::core {

[[nodiscard]] IdSet<NodeId> draining_nodes(const ClusterState& state);
// Jobs with a worker on one of these nodes.
[[nodiscard]] IdSet<JobId> jobs_on(const ClusterState& state, const IdSet<NodeId>& nodes);

// Some member of the job is on a node that is being drained; until it has left, the job's size changes only for that.
[[nodiscard]] bool leaves_node(const DecisionDraft& draft, const Job& job);

// A worker of the job that was stopped there has not exited yet; nothing else of the job changes before that.
[[nodiscard]] bool awaits_stopped(const DecisionDraft& draft, const Job& job);

// The reason if the job must release all its slots now. Requires: it is active.
[[nodiscard]] std::optional<Reason> suspended_by_drain(const DecisionDraft& draft, const Job& job);
// The reason if the worker must not stay where it is; none: its node is not being drained.
[[nodiscard]] std::optional<Reason> stopped_by_drain(const DecisionDraft& draft, const Worker& worker);
// Stops the job's workers on drained nodes whose deadline has come.
void stop_on_drained(DecisionDraft& draft, const Job& job);

// Plans one change for each job that can change now, towards leaving these nodes.
void plan_drains(DecisionDraft& draft, const IdSet<JobId>& jobs);

// The first time after `after` at which one of the above becomes due without a fact.
[[nodiscard]] std::optional<Instant> next_drain_due(const ClusterState& state, const IdSet<NodeId>& nodes,
                                                    std::optional<Instant> after);

}  // namespace tidepool::core
