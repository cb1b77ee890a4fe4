// How this project runs Cbc (COIN-OR branch and cut): silent, one thread, a limit by nodes and none by time, with
// rounding for a first answer and cuts for knapsack rows, which is what capacities are.
#pragma once

#include <optional>

class CbcModel;

namespace tidepool::policies {

struct BranchLimits {
  double gap = 1e-3;                    // relative, at which an answer is good enough
  int nodes_max = 200;                  // of the search tree
  std::optional<int> passes_max = 200;  // of cuts and heuristics at its root; none = as many as Cbc itself allows
};

// The model, which holds its program already, with these settings, and its relaxation solved: branchAndBound comes
// next.
void relax(CbcModel& model, const BranchLimits& limits);

}  // namespace tidepool::policies
