// One question to a policy file about a state of the cluster: the rows that the engine would plan with go to the host,
// its answer becomes a round, and a round can be compared with what the state gives the jobs now. The state is a copy;
// nothing here changes it. Waits for the host, so it belongs on a thread of its own.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "policies/host/policy_host.hpp"
#include "schedulerd/core/engine.hpp"

namespace tidepool::policies::host {

struct RoundAsked {
  core::ClusterState state;  // who decides in it does not matter
  Instant now;               // not before the state's own time
  core::PolicyFileRef file;
  std::int64_t number = 0;
};

// `parts` are the engine's. A fault is a round, too.
[[nodiscard]] core::PolicyRound ask_round(PolicyHost& host, std::span<const Param> params, const RoundAsked& asked,
                                          const core::Engine::Parts& parts);

// A round that failed before it was asked.
[[nodiscard]] core::PolicyRound failed_round(const RoundAsked& asked, const PolicyFault& fault);

// A job that would get another size. Sizes are in workers.
struct RoundDifference {
  JobId job;
  int live = 0;
  int candidate = 0;
  core::Reason reason;  // of the candidate
};
struct RoundComparison {
  Instant at;
  int jobs = 0;        // that were compared
  int slots_live = 0;  // given to them
  int slots_candidate = 0;
  std::vector<RoundDifference> differences;  // by job
  std::string fault;                         // then nothing was compared
  std::string message;
};
// What the round, were it the active file's, would give the jobs, against what they are given in `asked.state`: by its
// plan, or where there is none by what they hold and are on the way to.
[[nodiscard]] RoundComparison compare_round(const core::PolicyRound& round, const RoundAsked& asked,
                                            const core::Engine::Parts& parts);

}  // namespace tidepool::policies::host
