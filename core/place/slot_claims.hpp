// Which jobs in line are to have the slots that other jobs give up. A job that gives up slots comes behind these in
// line until they have had them (decide/claimants.hpp); all else here is only told to people.
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

// By the job that gives them up, never empty. Slots that are given first are taken first. Jobs are served in their
// order, those for which all slots that are left are too few after the others.
[[nodiscard]] std::map<JobId, std::vector<JobId>> claimants_of(const ClusterState& state, std::vector<GivenSlots> given,
                                                               const std::vector<LackingJob>& lacking);

// It has neither started nor changed its size since they were given up for it. Requires: it is the job that they were
// given up for.
[[nodiscard]] bool still_lacks(const Job& claimant, const GaveSlots& slots);

}  // namespace tidepool::core
