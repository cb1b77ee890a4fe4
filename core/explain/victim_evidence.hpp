// Which jobs release slots for a waiting job, as evidence.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Slots that preempted or shrunk jobs release for this one and have not left yet.
struct GivenUp {
  std::string words;          // "job-1 and job-4 give up 4 slots for it"
  int slots = 0;              // on nodes where the job may run
  std::optional<Instant> by;  // latest time by which all of them have left; none: no time was set
};
// None: no job releases slots for it.
[[nodiscard]] std::optional<GivenUp> given_up_for(const ClusterState& state, const Job& job);

// "job-1 and job-4 give up 4 slots for it": for jobs that were preempted or shrunk for this one, and for slots that
// they have not left yet.
[[nodiscard]] std::vector<std::string> victim_evidence(const ClusterState& state, const Job& job);

// "job-2, of a lower priority, keeps 1 slot until 14:02:10 UTC, when its minimum run time ends", or its cooldown: for
// jobs that cannot be preempted earlier for this job, which waits for slots.
[[nodiscard]] std::vector<std::string> bound_job_evidence(const ClusterState& state, const Job& job);

// Slots of the holder's workers where `job` may run, and that become free when the holder ends: slots on a lost node,
// on a node that accepts no workers, or in quarantine do not count.
[[nodiscard]] int slots_held_for(const ClusterState& state, const Job& holder, const Job& job);

}  // namespace tidepool::core
