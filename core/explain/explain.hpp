// Why a job is in its present state and size, with the evidence and possible remedies.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/plan.hpp"
#include "core/words/sentence.hpp"
#include "core/words/unblock.hpp"

namespace tidepool::core {

struct Explanation {
  std::string summary;  // the verdict in one sentence
  Reason reason;
  std::vector<std::string> evidence;  // numbers in words, most relevant first
  std::vector<Advice> advice;         // what would change the verdict
  std::optional<Alternative> chosen;  // the size that its policy wants, with the reason for it
  std::vector<Alternative> lost;      // best first
  std::vector<JobId> ahead;           // jobs before it in line, if it waits
  int kept_by_guarantees = 0;         // additional slots that its tenant would have if all guarantees were lent

  [[nodiscard]] std::vector<std::string> unblocks() const { return texts_of(advice); }
};

// Explains the job's present state and size; a job that has left the state is explained as of its end.
[[nodiscard]] Explanation explain(const ClusterState& state, const Job& job);
// Requires: the state contains the job.
[[nodiscard]] Explanation explain(const ClusterState& state, JobId job);

}  // namespace tidepool::core
