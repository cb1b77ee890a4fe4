// Shares of time: which part of the time each job is to run on each slot type, and the linear programs over them that
// Gavel's policies have in common (Narayanan et al., "Heterogeneity-Aware Cluster Scheduling Policies for Deep Learning
// Workloads", OSDI 2020, sections 3.1 and 4). Every job keeps the size its user wants. A share lies in 0 .. 1, a job's
// shares add up to at most 1, and shares x sizes on a type to at most its slots.
#pragma once

#include <vector>

#include "policies/cluster/cluster_view.hpp"
#include "policies/models/linear_program.hpp"

namespace tidepool::policies::cluster {

// One row per job, one column per slot type (one column if all slots are alike).
class TypeTable {
 public:
  TypeTable(std::size_t jobs, std::size_t types, double value = 0) : types_(types), cells_(jobs * types, value) {}

  [[nodiscard]] std::size_t jobs() const { return types_ == 0 ? 0 : cells_.size() / types_; }
  [[nodiscard]] std::size_t types() const { return types_; }
  [[nodiscard]] double& at(std::size_t job, std::size_t type) { return cells_[job * types_ + type]; }
  [[nodiscard]] double at(std::size_t job, std::size_t type) const { return cells_[job * types_ + type]; }

 private:
  std::size_t types_;
  std::vector<double> cells_;
};

// How many slots of each type there are; one entry if all slots are alike.
[[nodiscard]] std::vector<double> slots_by_type(const View& view);

// Steps a second of each job at the size its user wants, on each type; 0 where it cannot run.
[[nodiscard]] TypeTable wanted_speeds(const View& view);

// What a share would be if the cluster were divided: the same part of every type, for all jobs alike.
//   kProportional: as if the job had the cluster's mix of types all the time, whatever its size
//   kIsolated: 1/n of each type's slots, over the job's size, but never more than all the time
enum class Division { kProportional, kIsolated };
// Steps a second of each job at such shares.
[[nodiscard]] std::vector<double> divided_speeds(const View& view, const TypeTable& speeds, Division division);

// A program with a column per job and type, and the rows that make its answers shares of time.
class ShareProgram {
 public:
  explicit ShareProgram(const View& view);

  // What the share of a job on a type adds to the objective.
  void reward(const TypeTable& factors);
  // One more column, to be maximized, of which every job must reach `needed` times as much:
  //   sum over types of factors x shares >= needed x column.
  // A job with needed = 0 is left out.
  void maximize_least(const TypeTable& factors, const std::vector<double>& needed);

  struct Answer {
    TypeTable shares;
    double objective = 0;
  };
  // All shares 0 if the program has no answer, which it has unless a job needs what it cannot reach.
  [[nodiscard]] Answer solve(Optimum optimum) const;
  // The shares at which the published solver's method ends (studies/models/embedded_program.hpp).
  [[nodiscard]] Answer solve_at_path_end() const;

 private:
  [[nodiscard]] LinearProgram linear() const;
  [[nodiscard]] Answer shares_of(const LinearAnswer& answer) const;
  [[nodiscard]] std::size_t column(std::size_t job, std::size_t type) const { return job * types_ + type; }

  std::size_t jobs_;
  std::size_t types_;
  std::vector<LinearProgram::Column> shares_;
  std::vector<LinearProgram::Row> rows_;
  bool least_ = false;
};

}  // namespace tidepool::policies::cluster
