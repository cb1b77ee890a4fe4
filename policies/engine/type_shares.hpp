// Jobs that request types of slots, under policies that treat all slots as alike: what they may have of their types is
// first divided among them, by the same policy.
//
// Rules. For each set of types that some job requests, the smaller sets first, the policy is asked about the jobs whose
// types are all in the set, and about the nodes of these types alone, as if there were no other jobs. No job may have
// more than it gets there; a job that gets nothing there holds nothing, for the reason of this answer. So jobs that
// request the same type compete for it by their policy's own rule, and they can have what they may have: all other jobs
// may run elsewhere. Sets that overlap without one containing the other are not weighed against each other.
#pragma once

#include <functional>
#include <map>

#include "core/decide/policy.hpp"
#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::cluster {

// Removes the jobs that may have nothing from the view, and returns their targets; limits the sizes of the others.
// Promises are not included: `ask` sees no deadlines. An answer that is not lawful limits nothing. `bounds`: the
// maximum of these types to divide (PlanRequest::typed_most); null = all.
[[nodiscard]] std::map<JobId, core::Target> share_types(View& view, const std::function<Allocation(const View&)>& ask,
                                                        const core::TypeBounds* bounds = nullptr);

// To sizes of at most this many slots. What it holds and cannot release now stays allowed.
void cut(JobRow& job, int most);

}  // namespace tidepool::policies::cluster
