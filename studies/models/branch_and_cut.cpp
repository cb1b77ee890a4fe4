#include "studies/models/branch_and_cut.hpp"

#include <CbcHeuristic.hpp>
#include <CbcModel.hpp>
#include <CglKnapsackCover.hpp>

namespace tidepool::policies {

void relax(CbcModel& model, const BranchLimits& limits) {
  model.setLogLevel(0);
  model.setAllowableFractionGap(limits.gap);
  model.setMaximumNodes(limits.nodes_max);
  if (limits.passes_max) model.setMaximumCutPassesAtRoot(*limits.passes_max);
  CbcRounding rounding(model);
  model.addHeuristic(&rounding);
  CglKnapsackCover covers;
  model.addCutGenerator(&covers, -1, "knapsack covers");
  model.initialSolve();
}

}  // namespace tidepool::policies
