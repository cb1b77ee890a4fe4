// The start of a job that waits: whole or not at all.
#pragma once

#include <map>
#include <tuple>

#include "core/decide/decision_draft.hpp"
#include "core/state/node_constraints.hpp"

namespace tidepool::core {

// Starts a waiting job at the largest allowed size up to its target that there is room for and that its price cap
// allows. False if it cannot start now.
bool start_job(DecisionDraft& draft, const Job& job, const Target& target);

// The same of jobs with a price cap, within one decision: one like another that found no room is not tried, unless more
// has become usable since. Slots that are free do not become more within a decision.
class CappedStarts {
 public:
  // `demand`: what the job asks of nodes with its cap, at its smallest size.
  bool start(DecisionDraft& draft, const Job& job, const Target& target, const NodeDemand& demand);

 private:
  using Like = std::tuple<int, int, bool, NodeDemand>;  // smallest size, slots of a worker, mixes types, nodes
  std::map<Like, int> usable_in_vain_;                  // slots that were usable when the last such job could not start
};

}  // namespace tidepool::core
