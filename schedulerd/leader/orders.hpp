// What an agent is told. Orders name jobs and workers; what goes over the wire is written out from them and the state
// by their sender (start_order.hpp), so that deciding what to say costs the same in the daemon and in a
// simulation, which says it to modelled nodes.
#pragma once

#include <variant>
#include <vector>

#include "api/worker_protocol.hpp"
#include "base/ids.hpp"

namespace tidepool::leader {

// The worker's process is to be started; its job's document says what to run.
struct StartOrder {
  WorkerId worker;
};
using Order = std::variant<StartOrder, api::StopWorker, api::ToWorkerOrder, api::ProbeNode, api::ForgetJob,
                           api::OfferState, api::FetchState, api::NoState>;

// Dropped if the node is not connected: what still applies is sent again when it is.
struct NodeOrder {
  NodeId node;
  Order order;
};

}  // namespace tidepool::leader
