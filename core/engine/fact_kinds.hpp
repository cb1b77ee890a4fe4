// Kinds of facts that the engine treats alike. The compiler does not check these lists when a fact is added: add it to
// each list whose comment applies to it.
#pragma once

#include <concepts>
#include <variant>

#include "core/state/fact.hpp"

namespace tidepool::core {

template <class F, class... Facts>
concept OneOf = (std::same_as<F, Facts> || ...);

// Reports of workers about their job, as opposed to requests of users: for an ended job they arrive too late to change
// anything.
template <class F>
concept WorkersReport = OneOf<F, GenerationSwitched, StepsMeasured, SharesChanged, DataEpochAudited, TrainingFinished,
                              StateParked, CheckpointTaken, CheckpointFailed, StateRestored, StateBrought, StateLeft>;

// Requests of users, and changes of jobs and nodes, after which other nodes of pools may be needed. Whether a joining
// or leaving node counts depends on the state (apply_fact.cpp).
template <class F>
concept OutsideChange =
    OneOf<F, JobSubmitted, JobCancelRequested, JobResizeRequested, JobSuspendRequested, JobResumeRequested, JobChanged,
          TrainingFinished, NodeCordonChanged, NodeLabelled, NodeDrainRequested, NodeDrainCancelled, NodeReclaimNoticed,
          NodeFaultsCleared, SlotsReleased, MaintenanceAdded, MaintenanceRemoved, TenantsConfigured>;

// It may change which nodes a plan can use, or how tenants share them.
template <class F>
concept NodesChange =
    OneOf<F, NodeJoined, NodeLost, NodeCordonChanged, NodeLabelled, NodeDrainRequested, NodeDrainCancelled,
          NodeReclaimNoticed, PoolListed, MaintenanceAdded, MaintenanceRemoved, UtcSet, TenantsConfigured>;

[[nodiscard]] inline bool may_change_nodes(const Fact& fact) {
  return std::visit([]<class F>(const F&) { return NodesChange<F>; }, fact);
}

}  // namespace tidepool::core
