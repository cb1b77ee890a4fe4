// What a user asks for, carried out: as facts where the engine has a say, as rows where only readers are concerned.
#pragma once

#include <cstddef>

#include "schedulerd/leader/turn_batch.hpp"

namespace tidepool::leader {

// Adds the answer to the command at this place. A key that has been used before gives its receipt again and changes
// nothing; with another request it is refused.
void take_command(std::size_t item, const Command& command, TurnBatch& batch);

// Refuses a limit of time that the job has passed already: a change is not to end a job.
[[nodiscard]] Status check_time_left(const core::Job& job, const core::JobSpec& to, Instant now);

// Refuses to end the drain of a node that its provider is told to end.
[[nodiscard]] Status check_undrain(const core::ClusterState& state, NodeId node);

// Why a change of the job is refused that the engine itself would take.
[[nodiscard]] Status check_change(const core::ClusterState& state, const core::Job& job, const core::JobSpec& to,
                                  Instant now);

// The whole tree that setting what lies below one tenant would make of the present one; an error says why it is
// refused. Whether the engine takes that tree is left to core::TenantsConfigured.
[[nodiscard]] Result<core::TenantTree> tree_with(const core::ClusterState& state, const ConfigureTenantsBelow& change);

}  // namespace tidepool::leader
