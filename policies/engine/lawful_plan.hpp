// Turns a policy's answer into a plan that the engine can carry out. The policy may ignore allowed sizes, jobs that
// must not be preempted, workers that need several slots of a node and jobs that may use only some nodes; here its
// sizes are reduced to what can be carried out, and never raised above what it granted except for jobs that must keep
// what they have.
#pragma once

#include "core/decide/policy.hpp"
#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::cluster {

// One target per row, in workers, together no more than the nodes hold. Slots are given in the policy's order; first to
// jobs that must not be preempted, as far as they must keep them. Numbers that are not finite become 0. `capacity`: all
// slots, including those of jobs that the view leaves out; a job that does not fit in them never fits. Requires:
// check_allocation() holds.
[[nodiscard]] std::vector<core::Target> lawful_plan(const View& view, const Allocation& allocation, int capacity);

}  // namespace tidepool::policies::cluster
