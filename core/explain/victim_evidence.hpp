// Which jobs give up slots for a job that waits, as evidence.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// What the jobs that were preempted or shrunk for this one give up and have not left yet.
struct GivenUp {
  std::string words;          // "job-1 and job-4 release 4 slots for it"
  int slots = 0;              // where the job may run
  std::optional<Instant> by;  // all of them have left by then; none: no time was set
};
// None: no job gives up slots for it.
[[nodiscard]] std::optional<GivenUp> given_up_for(const ClusterState& state, const Job& job);

// "job-1 and job-4 release 4 slots for it": of jobs that were preempted or shrunk for this one, and of slots
// that they have not left yet.
[[nodiscard]] std::vector<std::string> victim_evidence(const ClusterState& state, const Job& job);

// "job-2, of a lower priority, keeps 1 slot until 14:02:10 UTC, when its minimum run time ends", or its cooldown: of
// jobs that cannot be preempted before for this one, which waits for slots.
[[nodiscard]] std::vector<std::string> bound_job_evidence(const ClusterState& state, const Job& job);

// By its workers where `job` may run, that come free when it ends: those of a node that is away or takes no workers, or
// in quarantine, are of no use.
[[nodiscard]] int slots_held_for(const ClusterState& state, const Job& holder, const Job& job);

}  // namespace tidepool::core
