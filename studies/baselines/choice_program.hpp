// At most one of several options for each job, under a capacity per kind of slot, at the least cost together: a binary
// program, solved by Cbc (COIN-OR branch and cut). One thread and a limit by nodes, none by time: equal programs have
// equal answers.
//   minimize sum_ij cost_ij x_ij   subject to  sum_j x_ij <= 1,  sum_ij slots_ij x_ij <= capacity of kind,  x in {0, 1}
#pragma once

#include <optional>
#include <vector>

namespace tidepool::policies::cluster {

struct ChoiceProgram {
  struct Option {
    double cost = 0;  // finite; no option costs 0
    int slots = 0;
    std::size_t kind = 0;  // index into capacity
  };
  std::vector<std::vector<Option>> jobs;
  std::vector<int> capacity;
  double gap = 1e-4;  // relative, at which a solution is good enough
  int nodes_max = 2'000;
};

struct ChoiceAnswer {
  std::vector<std::optional<std::size_t>> chosen;  // index of the option, by job
  double cost = 0;
  double bound = 0;  // no choice costs less
};

[[nodiscard]] ChoiceAnswer solve(const ChoiceProgram& program);

}  // namespace tidepool::policies::cluster
