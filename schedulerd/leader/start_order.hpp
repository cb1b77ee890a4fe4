// What an agent is sent to start a worker, written out from its job's specification.
#pragma once

#include "api/worker_protocol.hpp"
#include "base/result.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::leader {

// A job that names no program gives an error.
[[nodiscard]] Result<api::StartWorker> start_order(const core::Worker& worker, const core::Job& job,
                                                   const core::Node& node);

}  // namespace tidepool::leader
