// Starts a waiting job: whole or not at all.
#pragma once

#include <map>
#include <tuple>

#include "core/decide/decision_draft.hpp"
#include "core/state/node_constraints.hpp"

namespace tidepool::core {

// Starts a waiting job at the largest allowed size up to its target that fits and that its price cap allows. False if
// it cannot start now.
bool start_job(DecisionDraft& draft, const Job& job, const Target& target);

// The same for jobs with a price cap, within one decision: a job equal to one that found no room is not tried again
// unless more slots have become usable since. The number of free slots does not grow within a decision.
class CappedStarts {
 public:
  // `demand`: the job's node constraints with its cap, at its smallest size.
  bool start(DecisionDraft& draft, const Job& job, const Target& target, const NodeDemand& demand);

 private:
  using Like = std::tuple<int, int, bool, NodeDemand>;  // smallest size, slots of a worker, mixes types, nodes
  std::map<Like, int> usable_in_vain_;                  // usable slots when the last such job could not start
};

}  // namespace tidepool::core
