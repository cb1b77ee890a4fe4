// The expected work of jobs of one kind: a job is expected to take as much as the ended jobs that were not done at its
// present progress; before any job has ended, twice as much as the job that has come farthest, so that among jobs of a
// kind that job has the least left. Live knowledge: a daemon has it as soon as jobs of the kind have run. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/id_table.hpp"
#include "base/ids.hpp"

namespace tidepool::policies {

class LearntWork {
 public:
  LearntWork() = default;
  // As if all this had been reported one by one: what ended jobs took, each > 0, and how far any job has come.
  LearntWork(std::vector<double> totals, double farthest);

  // A job has ended after this much useful work, > 0.
  void ended(double total);
  // A job has done this much and goes on.
  void reached(double done);

  // How much a job that has done `done` is expected to have left: the mean over all ended jobs that took more, of what
  // they had left at that point. A job that has done more than any of them is expected to do as much again as its
  // excess over the longest, and at least a part of the longest. None before a job has done anything.
  [[nodiscard]] std::optional<double> left(double done) const;

 private:
  void sum_up();

  double farthest_ = 0;         // that any job has come, ended or not
  std::vector<double> totals_;  // rising
  std::vector<double> sums_;    // of totals_[i..]
};

// The same where the kind of a job is unknown: its kin are the jobs with similar measurements, for which one slot takes
// about as long for a sample. A daemon measures that on any job; programs that happen to be as fast are one kind here.
// The answers follow from what was last reported of each job and from the order in which jobs ended.
//
// Paces are counted in classes, each a quarter slower than the one before. Kin are the jobs of a job's own class and of
// the two beside it: all that differ from it by a factor of 1.25 or less, none by more than 1.57.
//
// Whether a pace predicts the work is measured, too: it does only while at least half of the ended jobs took as much,
// within a factor of 1.5, as the job of their class that ended before them, and eight such pairs were seen.
//
// Few answers change at once: ends count individually up to the 16th of a kin, then every 2nd, from 32 every 4th and so
// on, since one more of many changes less than the remaining uncertainty. A job's progress counts in half doublings.
class SimilarJobWork {
 public:
  using Class = int;
  // Requires: seconds a sample on one slot, > 0 and finite.
  [[nodiscard]] static Class class_of(double pace_s);

  // A job has come this far, in samples, > 0; replaces its earlier report. `job`: any number that identifies it.
  void reached(std::uint64_t job, Class pace, double samples);
  // The job's progress is dropped, whatever was reported of it.
  void withdraw(std::uint64_t job);
  // The next job has ended, after this many samples, > 0.
  void ended(Class pace, double samples);
  // Drops all ends: for callers that report them again, in another order.
  void forget_ends();

  // How many samples a job of this pace and progress is expected to have left. None before any similar job has done
  // anything, and while paces predict nothing. O(log jobs), and once O(jobs log jobs) after a change.
  [[nodiscard]] std::optional<double> left(Class pace, double samples);

  // The number of ended jobs that left() uses; 0 = none, or paces predict nothing.
  [[nodiscard]] std::size_t ended_kin(Class pace) const;

  // The classes for which left() or ended_kin() may answer differently than at the last call.
  struct Changes {
    bool all = false;
    std::set<Class> classes;
  };
  [[nodiscard]] Changes take_changes() { return std::exchange(changes_, {}); }

 private:
  struct Kin {
    std::vector<double> totals;  // in the order of ending
    std::size_t counted = 0;     // the number of the first ones that count
    std::optional<LearntWork> work;
  };
  struct Reach {
    Class pace = 0;
    int doublings = 0;  // halves of them
  };
  struct Mates {
    std::size_t pairs = 0;         // jobs that ended after another of their class
    std::size_t alike = 0;         // of them, those that took about as much
    std::map<Class, double> last;  // of the class, what the newest to end took
    bool tell = false;             // enough pairs, and enough of them alike
  };
  [[nodiscard]] std::optional<int> farthest(Class pace) const;  // of the class alone
  void put(const Reach& reach, bool is_there);
  void note_mate(Class pace, double samples);

  IdTable<JobId, Reach> reach_;
  std::map<Class, std::map<int, int>> reached_;  // by class and doublings, the number of jobs that have come that far
  std::map<Class, Kin> kin_;                     // by class, of a job in it
  Mates mates_;
  Changes changes_;
};

}  // namespace tidepool::policies
