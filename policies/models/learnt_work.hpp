// What has been learnt about how much work jobs of one kind turn out to be: a job is expected to take as much as those
// that have ended and were not done by then; before one has ended, twice as much as the one that has come farthest, so
// that among jobs of a kind the one that has come farthest has the least left. Live knowledge: a daemon has it as soon
// as jobs of the kind have run. Plain values.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace tidepool::policies {

class LearntWork {
 public:
  LearntWork() = default;
  // As if all this had been told one by one: what those took that have ended, each > 0, and how far any job has come.
  LearntWork(std::vector<double> totals, double farthest);

  // A job has ended after so much useful work, > 0.
  void ended(double total);
  // A job has done so much and goes on.
  void reached(double done);

  // How much a job that has done `done` is expected to have left: the mean over all ended jobs that took more, of what
  // they had left by then. A job that has done more than any of them is expected to do as much again as it exceeds the
  // longest by, and at least a part of it. Nothing before a job has done anything.
  [[nodiscard]] std::optional<double> left(double done) const;

 private:
  void sum_up();

  double farthest_ = 0;         // that any job has come, ended or not
  std::vector<double> totals_;  // rising
  std::vector<double> sums_;    // of totals_[i..]
};

// The same where nobody says of what kind a job is: its kin are the jobs that measure alike, so that one slot takes
// them about as long for a sample. A daemon measures that on any job; programs that happen to be as fast are one kind
// here. What it answers follows from what was told of each job last, in whatever order.
class KinWork {
 public:
  struct Told {
    double pace_s = 0;   // seconds a sample on one slot, > 0
    double samples = 0;  // useful ones so far: each counts as one at the job's initial batch
    bool ended = false;
  };
  // In place of what was told of this job before. `job`: any number of its own.
  void tell(std::size_t job, const Told& told) { told_[job] = told; }

  // How many useful samples a job of this pace that has done so many is expected to have left. Nothing while no job of
  // about this pace has done anything. O(jobs log jobs).
  [[nodiscard]] std::optional<double> left(double pace_s, double samples) const;

 private:
  std::map<std::size_t, Told> told_;
};

}  // namespace tidepool::policies
