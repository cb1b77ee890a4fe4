// The parts of a row that come from the job's own record: what changes cost it, what work it has left, and which size
// is the next beyond its largest.
//
// All of it follows from the state; of the cluster only `room` is used here.
#pragma once

#include "core/state/cluster_state.hpp"
#include "policies/cluster/cluster_view.hpp"
#include "policies/engine/job_speed.hpp"

namespace tidepool::policies::cluster {

// `costs`, `costs_by_size` and `transition`.
void set_costs(const core::Job& job, JobRow& row);
// `steps_done` and `deadline`, and the remaining work where that is known.
void set_work(const core::Job& job, const JobSpeed& speed, JobRow& row);
// `size_beyond`, and why a job that holds slots may not have it. `room`: slots that all rows may have together.
// Requires: sizes and placement of the row.
void set_beyond(const core::ClusterState& state, const core::Job& job, int room, JobRow& row);

}  // namespace tidepool::policies::cluster
