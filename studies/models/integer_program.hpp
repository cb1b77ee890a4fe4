// A linear program (linear_program.hpp) of which some columns must be whole numbers, solved by Cbc (COIN-OR branch and
// cut). One thread and a limit by nodes, none by time: equal programs have equal answers.
#pragma once

#include <cstddef>
#include <vector>

#include "policies/models/linear_program.hpp"
#include "studies/models/branch_and_cut.hpp"

namespace tidepool::policies {

// `whole`: the columns that must be whole numbers. kGoodEnough: out of nodes, `values` is the best answer so far;
// kGaveUp: out of nodes before any was found.
[[nodiscard]] LinearAnswer maximize_whole(const LinearProgram& program, const std::vector<std::size_t>& whole,
                                          const BranchLimits& limits);

}  // namespace tidepool::policies
