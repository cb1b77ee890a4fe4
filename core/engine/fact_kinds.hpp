// Kinds of facts that the engine treats alike. These lists are all that the compiler does not ask for when a fact is
// added: it belongs into each list whose sentence is true of it.
#pragma once

#include <concepts>
#include <variant>

#include "core/state/fact.hpp"

namespace tidepool::core {

template <class F, class... Facts>
concept OneOf = (std::same_as<F, Facts> || ...);

// What workers report of their job, as against what users ask of it: of a job that has ended it comes too late to
// change anything.
template <class F>
concept WorkersReport = OneOf<F, GenerationSwitched, StepsMeasured, SharesChanged, DataEpochAudited, TrainingFinished,
                              StateParked, CheckpointTaken, CheckpointFailed, StateRestored, StateBrought, StateLeft>;

// What users ask for, and what becomes of jobs and nodes by itself: other nodes of pools may be needed since. Whether
// a node that comes or goes is one, too, depends on the state (apply_fact.cpp).
template <class F>
concept OutsideChange =
    OneOf<F, JobSubmitted, JobCancelRequested, JobResizeRequested, JobSuspendRequested, JobResumeRequested, JobChanged,
          TrainingFinished, NodeCordonChanged, NodeLabelled, NodeDrainRequested, NodeDrainCancelled, NodeReclaimNoticed,
          NodeFaultsCleared, SlotsReleased, MaintenanceAdded, MaintenanceRemoved, TenantsConfigured>;

// It may change which nodes a plan can count with, or how tenants share them.
template <class F>
concept NodesChange =
    OneOf<F, NodeJoined, NodeLost, NodeCordonChanged, NodeLabelled, NodeDrainRequested, NodeDrainCancelled,
          NodeReclaimNoticed, PoolListed, MaintenanceAdded, MaintenanceRemoved, UtcSet, TenantsConfigured>;

[[nodiscard]] inline bool may_change_nodes(const Fact& fact) {
  return std::visit([]<class F>(const F&) { return NodesChange<F>; }, fact);
}

}  // namespace tidepool::core
