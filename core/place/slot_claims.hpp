// Which jobs in line receive the slots that other jobs release. A job that releases slots comes after these in line
// until they have received them (decide/claimants.hpp); everything else here is only for explanations.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"
#include "core/state/reasons/parts.hpp"

namespace tidepool::core {

struct GivenSlots {
  JobId from = {};   // the job that releases them and continues; none = they become free anyway
  NodeId node = {};  // none = free slots anywhere, for jobs of single slots without constraints
  int slots = 0;
  JobId for_job = {};  // the job for which others are preempted, served first; none = any
};
struct LackingJob {
  const Job* job = nullptr;
  int slots = 0;
  std::optional<std::string> type = {};  // the slot type on which it runs and must stay
};

// By the releasing job, never empty. Slots given first are taken first. Jobs are served in order; jobs for which all
// remaining slots are too few come after the others.
[[nodiscard]] std::map<JobId, std::vector<JobId>> claimants_of(const ClusterState& state, std::vector<GivenSlots> given,
                                                               const std::vector<LackingJob>& lacking);

// It has neither started nor changed its size since the slots were released for it. Requires: it is the job for which
// they were released.
[[nodiscard]] bool still_lacks(const Job& claimant, const ReleasedSlots& slots);

}  // namespace tidepool::core
