// The orders of the leader as messages to agents.
#pragma once

#include <optional>
#include <vector>

#include "core/state/cluster_state.hpp"
#include "schedulerd/leader/orders.hpp"
#include "schedulerd/live/service/inbox.hpp"

namespace tidepool::live {

// `state` is the one that the order was made from. None, and a line in the log, for a job that cannot be started.
[[nodiscard]] std::optional<api::DaemonToAgent> message_of(const leader::Order& order, const core::ClusterState& state);

void append_messages(const std::vector<leader::NodeOrder>& orders, const core::ClusterState& state,
                     std::vector<OutboxItem>& out);

}  // namespace tidepool::live
