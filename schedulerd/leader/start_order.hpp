// What an agent is sent: the leader's orders written out, and a start from its job's document.
#pragma once

#include <optional>

#include "api/worker_protocol.hpp"
#include "base/result.hpp"
#include "core/state/cluster_state.hpp"
#include "schedulerd/leader/orders.hpp"

namespace tidepool::leader {

// A job that names no program gives an error.
[[nodiscard]] Result<api::StartWorker> start_order(const core::Worker& worker, const core::Job& job,
                                                   const core::Node& node);

// `state` is the one that the order was made from. None if the worker to start has gone since; an error as above.
[[nodiscard]] Result<std::optional<api::DaemonToAgent>> write_message(const Order& order,
                                                                      const core::ClusterState& state);

}  // namespace tidepool::leader
