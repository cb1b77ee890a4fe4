// Why a waiting job does not get free slots: the sentence of its reason has one phrase for all causes, because a
// decision does not distinguish them.
#pragma once

#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"
#include "core/state/reason.hpp"

namespace tidepool::core {

// "of the 4 free slots 3 are kept for guarantees that are not lent (rule: lend), 1 is kept for job-2 (before it in
// line)". Other causes are nodes that are exclusive to other jobs, which are named, and nodes with too few free slots
// for a worker.
// No slot is counted twice, and a slot without a known cause is not counted. Empty: fewer slots are free than the job
// needs, or none of these is the cause. `kept_by_guarantees`: from the job's tenant (slots_kept_from()).
[[nodiscard]] std::vector<std::string> free_slots_evidence(const ClusterState& state, const Job& job, const Reason& why,
                                                           int kept_by_guarantees);

// "2 free slots are on nodes that take no new workers: node-1 (cordoned)", for nodes where a worker of the job would
// have room. Empty: there are none, or the job does not wait for slots.
[[nodiscard]] std::vector<std::string> closed_slots_evidence(const ClusterState& state, const Job& job,
                                                             const Reason& why);

}  // namespace tidepool::core
