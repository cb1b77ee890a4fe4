// What has been learnt about how much work jobs of one kind turn out to be: a job is expected to take as much as those
// that have ended and were not done by then; before one has ended, twice as much as the one that has come farthest, so
// that among jobs of a kind the one that has come farthest has the least left. Live knowledge: a daemon has it as soon
// as jobs of the kind have run. A plain value.
#pragma once

#include <optional>
#include <vector>

namespace tidepool::policies {

class LearntWork {
 public:
  // A job has ended after so much useful work, > 0.
  void ended(double total);
  // A job has done so much and goes on.
  void reached(double done);

  // How much a job that has done `done` is expected to have left: the mean over all ended jobs that took more, of what
  // they had left by then. A job that has done more than any of them is expected to do as much again as it exceeds the
  // longest by, and at least a part of it. Nothing before a job has done anything.
  [[nodiscard]] std::optional<double> left(double done) const;

 private:
  double farthest_ = 0;         // that any job has come, ended or not
  std::vector<double> totals_;  // rising
  std::vector<double> sums_;    // of totals_[i..]
};

}  // namespace tidepool::policies
