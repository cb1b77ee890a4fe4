// Shockwave (Zheng et al., "Shockwave: Fair and Efficient Cluster Scheduling for Dynamic Adaptation in Machine
// Learning", NSDI 2023, sections 4 to 6, and its published scheduler): jobs keep the size their users want, and a plan
// says which of them run in which of the next T rounds. With G slots, N jobs, y_j rounds for job j and p_j its progress
// (the share of its work that is done) when they are over,
//   maximize   1 / (N T) sum_j w_j log p_j  -  k max_j (seconds that j still has to run)
//   subject to sum_j slots_j y_j <= G T,   0 <= y_j <= T,   end_j <= rho_max * fair_j.
// log is interpolated at p = 0, 0.2 .. 1, with log 1e-6 at 0. fair_j is when j would end, counted from its submission,
// on a share of min(1, G / N) of a cluster of its own; nine tenths of it is the mean over the job's life and one tenth
// the newest. end_j takes what is left after the window at the present share. If some job cannot end in time, none
// must, and w_j = rho_j^lambda for those behind (else 1). Slots left over in a round go to the jobs with most left to
// run. Made anew when jobs have come or gone, or the window is over.
//
// Departs from it in that: rounds are alike, so the program has one whole number for each job in place of a binary for
// each job and round (within as many nodes Cbc finds no answer to those at 64 slots and 50 jobs:
// tests/bench/shockwave_bench.cpp), and the rounds are filled afterwards, those behind first, as the published second
// program ranks jobs, each as early as there is room; what a gang finds no room for is lost. A job that can end within
// the window is in time if it does. w is at most 1e6. Changes of the batch are not foreseen: a job is as fast as it is
// now. One of unknown length counts as being half done.
// A job's mark: level 1 = it is in the plan, numbers = Entry. The cluster's mark: level = jobs in the plan, since =
// when it was made.
#pragma once

#include <cstdint>
#include <vector>

#include "policies/cluster/allocation_policy.hpp"
#include "studies/models/integer_program.hpp"

namespace tidepool::policies::cluster {

// One job's side of the program.
struct WelfareJob {
  int slots = 1;
  double left_s = 0;    // seconds it still has to run
  double all_s = 1;     // seconds from its first step to its last; >= left_s
  double weight = 1;    // of its logarithm
  double needed_s = 0;  // seconds that it must run in the window to end in time; at most left_s
};

struct WelfareProgram {
  std::vector<WelfareJob> jobs;
  int slots = 0;
  int rounds = 1;
  double round_s = 1;
  double makespan_weight = 0;  // k
  BranchLimits limits;
};

struct WelfareAnswer {
  std::vector<int> rounds;  // by job; empty if the solver gave up
  double welfare = 0;       // the objective, with its constant part
  bool in_time = true;      // false: needed_s was not met
};
// Without `needed_s` of any job if they cannot all be met.
[[nodiscard]] WelfareAnswer solve(const WelfareProgram& program);

// log p as the program sees it.
[[nodiscard]] double log_of_progress(double progress);

class Shockwave final : public AllocationPolicy {
 public:
  static constexpr Duration kRound = Duration::seconds(120);
  static constexpr int kRounds = 20;          // T
  static constexpr double kMakespan = 1e-3;   // k
  static constexpr double kUrgency = 12;      // lambda
  static constexpr double kFairnessMost = 1;  // rho_max
  static constexpr double kWeightMost = 1e6;

  [[nodiscard]] Allocation allocate(const View& view, core::StepBudget& budget) const override;
};

}  // namespace tidepool::policies::cluster
