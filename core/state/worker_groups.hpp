// Groups of a job's workers (ElasticSpec::group): in rank order the first g members are one, the next g another.
//
// Rule: everything that takes workers from a job takes whole groups, so every generation has whole groups. Groups that
// lost a worker are reassembled only within a domain: a group is never split.
#pragma once

#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

[[nodiscard]] inline bool has_groups(const JobSpec& spec) {
  return spec.elastic.group > 1;
}

// `members` and all other members of their groups: `members` unchanged if the job has no groups, else in rank order.
[[nodiscard]] std::vector<WorkerId> with_groups(const Job& job, const std::vector<WorkerId>& members);
// Whether `members` consists of complete groups.
[[nodiscard]] bool are_whole_groups(const Job& job, const std::vector<WorkerId>& members);

// Those of `workers` that can continue: first the groups whose members are complete, then groups made of the remaining
// workers. In the order of their ranks at that time. All of them if the job has no groups.
[[nodiscard]] std::vector<WorkerId> in_whole_groups(const ClusterState& state, const Job& job,
                                                    const std::vector<WorkerId>& workers);

}  // namespace tidepool::core
