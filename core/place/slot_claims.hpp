// For which jobs in line slots come free that others give up. Told to people; nothing is decided by it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"
#include "core/state/reasons/parts.hpp"

namespace tidepool::core {

struct GivenSlots {
  JobId from = {};   // the job that gives them up and goes on; none = they come free anyway
  NodeId node = {};  // none = free ones, wherever: of use to jobs of single slots that may be anywhere
  int slots = 0;
  JobId for_job = {};  // that other jobs are preempted for, which takes these before all others; none = for any
};
struct LackingJob {
  const Job* job = nullptr;
  int slots = 0;
  std::optional<std::string> type = {};  // of slots that it is bound to, as it runs on them
};

// By the job that gives them up. Slots that are given first are taken first. Jobs are served in their order, those for
// which all slots that are left are too few after the others.
[[nodiscard]] std::map<JobId, reason::Claimants> claimants_of(const ClusterState& state, std::vector<GivenSlots> given,
                                                              const std::vector<LackingJob>& lacking);

}  // namespace tidepool::core
