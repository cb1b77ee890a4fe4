// The leader's orders as the modelled nodes hear them. What every member of a job is told, each by its own agent, is
// passed on once a turn: the modelled agents share what they know of a job.
#pragma once

#include <vector>

#include "core/state/cluster_state.hpp"
#include "schedulerd/leader/orders.hpp"
#include "sim/messages.hpp"

namespace tidepool::sim {

// Adds what a worker of the job is told, unless the job has been told so in this turn.
void tell_job(const core::Job& job, const api::ToWorker& message, std::vector<Outgoing>& out);

// Adds what the order comes to, if anything. `state` is the one that the order was made from.
void tell_nodes(const leader::NodeOrder& order, const core::ClusterState& state, std::vector<Outgoing>& out);

}  // namespace tidepool::sim
