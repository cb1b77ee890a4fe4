// Groups of a job's workers (ElasticSpec::group): in rank order the first g members are one, the next g another.
//
// Rule: what takes workers from a job takes whole groups, so every generation has whole ones. Of groups that have lost
// a worker, others are made only within a domain: a group is never split.
#pragma once

#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

[[nodiscard]] inline bool has_groups(const JobSpec& spec) {
  return spec.elastic.group > 1;
}

// These members and all others of their groups: these alone, as they are, or with groups in rank order.
[[nodiscard]] std::vector<WorkerId> with_groups(const Job& job, const std::vector<WorkerId>& members);
// They are all workers of their groups.
[[nodiscard]] bool are_whole_groups(const Job& job, const std::vector<WorkerId>& members);

// Those of these workers that can go on: groups of members that are whole first, then others made of what is left.
// In the order of their ranks then. All of them if the job has no groups.
[[nodiscard]] std::vector<WorkerId> in_whole_groups(const ClusterState& state, const Job& job,
                                                    const std::vector<WorkerId>& workers);

}  // namespace tidepool::core
