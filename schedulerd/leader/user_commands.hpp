// Carries out requests of users: as facts where the engine decides, as rows where only readers are concerned.
#pragma once

#include <cstddef>

#include "schedulerd/leader/turn_batch.hpp"

namespace tidepool::leader {

// Adds the answer for the command at this index. A key that was used before returns its receipt again and changes
// nothing; with another request it is refused.
void take_command(std::size_t item, const Command& command, TurnBatch& batch);

// Refuses a time limit that the job has already exceeded, because a change must not end a job.
[[nodiscard]] Status check_time_left(const core::Job& job, const core::JobSpec& to, Instant now);

// Refuses to end the drain of a node whose provider has been told to end it.
[[nodiscard]] Status check_undrain(const core::ClusterState& state, NodeId node);

// Why a change is refused that the engine itself would accept.
[[nodiscard]] Status check_change(const core::ClusterState& state, const core::Job& job, const core::JobSpec& to,
                                  Instant now);

// The complete tree after setting the part below one tenant; an error says why it is refused. core::TenantsConfigured
// decides whether the engine accepts the tree.
[[nodiscard]] Result<core::TenantTree> tree_with(const core::ClusterState& state, const ConfigureTenantsBelow& change);

}  // namespace tidepool::leader
