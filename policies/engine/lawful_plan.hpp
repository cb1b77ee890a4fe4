// What a policy's answer becomes before the engine follows it. The policy may know nothing of allowed sizes, of jobs
// that may not be preempted, of workers that need several slots of a node or of jobs that may be on some nodes only;
// here its sizes are cut to what can be carried out, never raised above what it granted but for jobs that must keep
// what they have.
#pragma once

#include "core/decide/policy.hpp"
#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::cluster {

// One target per row, in workers, together no more than the nodes hold. Slots go in the policy's order; first to
// jobs that may not be preempted, as far as they must keep them. Numbers that are not finite become 0. `capacity`: all
// slots, those of jobs that the view leaves out among them; what does not fit there never fits.
// Requires: check_allocation() holds.
[[nodiscard]] std::vector<core::Target> lawful_plan(const View& view, const Allocation& allocation, int capacity);

}  // namespace tidepool::policies::cluster
