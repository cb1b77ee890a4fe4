// Orders to agents. They name jobs and workers; the sender derives the message from them and the state
// (start_order.hpp), so that deciding on orders costs the same in the daemon and in a simulation, which gives them to
// modelled nodes.
#pragma once

#include <variant>
#include <vector>

#include "api/worker_protocol.hpp"
#include "base/ids.hpp"

namespace tidepool::leader {

// Start the worker's process; its job's document says what to run.
struct StartOrder {
  WorkerId worker;
};
using Order = std::variant<StartOrder, api::StopWorker, api::ToWorkerOrder, api::ProbeNode, api::ForgetJob,
                           api::OfferState, api::FetchState, api::NoState>;

// Dropped if the node is not connected: what still applies is sent again when it reconnects.
struct NodeOrder {
  NodeId node;
  Order order;
};

}  // namespace tidepool::leader
