// Jobs that ask for types of slots, under policies to which all slots are alike: what they may have of their types is
// shared out among them first, by the same policy.
//
// Rules. For each set of types that some job asks for, the smaller sets first, the policy is asked about the jobs whose
// types all lie in the set, and about the nodes of these types alone, as if there were no other jobs. No job may have
// more than it gets there; one that gets nothing there holds nothing, for the reason that this answer gives. So jobs
// that ask for the same type compete for it by their policy's own rule, and what they may have of it they can have: all
// others may be elsewhere. Sets that overlap, none within the other, are not weighed against each other.
#pragma once

#include <functional>
#include <map>

#include "core/decide/policy.hpp"
#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::cluster {

// Takes the jobs that may have nothing out of the view, and returns what they are told; cuts the sizes of the others.
// Promises are no part of it: `ask` sees no deadlines. An answer that is not lawful cuts nothing. `bounds`: of
// these types there is no more to share out (PlanRequest::typed_most); null = all.
[[nodiscard]] std::map<JobId, core::Target> share_types(View& view, const std::function<Allocation(const View&)>& ask,
                                                        const core::TypeBounds* bounds = nullptr);

// To sizes of at most so many slots. What it holds and cannot give up now stays within its reach.
void cut(JobRow& job, int most);

}  // namespace tidepool::policies::cluster
