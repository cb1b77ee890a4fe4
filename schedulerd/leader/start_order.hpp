// Writes the leader's orders as messages, and a start order from its job's document.
#pragma once

#include <optional>

#include "api/worker_protocol.hpp"
#include "base/result.hpp"
#include "core/state/cluster_state.hpp"
#include "schedulerd/leader/orders.hpp"

namespace tidepool::leader {

// A job without a program gives an error.
[[nodiscard]] Result<api::StartWorker> start_order(const core::Worker& worker, const core::Job& job,
                                                   const core::Node& node);

// `state`: the one from which the order was made. None if the worker to start no longer exists; an error as above.
[[nodiscard]] Result<std::optional<api::DaemonToAgent>> write_message(const Order& order,
                                                                      const core::ClusterState& state);

}  // namespace tidepool::leader
