// How many jobs have at least as much left to do as a given one, and whether what all have left is the work of many
// long jobs: the inputs of a job's weight outside of its own row. Counted by classes of time left (each a twentieth
// above the one before) and rounded to few different numbers (exact to 16, then in steps of a sixteenth), so that a job
// that arrives or ends changes the weight of few others.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <set>
#include <vector>

namespace tidepool::policies::tidal {

// What a job's weight depends on outside of its own row.
struct Others {
  double behind = 1;     // how many jobs have at least as much left to do as this one, itself included; >= 1
  double in_turn = 1;    // the same with half of the others in its class that take turns: for a job that takes turns
  double levelling = 0;  // how far the weights of long jobs are levelled, 0 to 1 (README.md, "Levelling")
  bool operator==(const Others&) const = default;
};

class RemainingWork {
 public:
  using Class = std::size_t;
  static constexpr Class kClasses = 512;
  // Of a time left in seconds, > 0.
  [[nodiscard]] static Class class_of(double seconds_left);

  // `in_turn`: the job takes turns with the jobs of its class (utility_curve.hpp, Length).
  void add(Class of, bool in_turn = false) { count(of, in_turn, 1); }
  void remove(Class of, bool in_turn = false) { count(of, in_turn, -1); }
  struct OthersOfClass {
    Class length;
    Others others;
  };
  // The jobs in this class or a higher one, rounded, without levelling. For classes with jobs, the longest first.
  [[nodiscard]] std::vector<OthersOfClass> counted() const;
  // What all jobs have left, in jobs as long as the longest; 0 without jobs.
  [[nodiscard]] double long_jobs() const;
  // The same with levelling, which is a half at this number of long jobs. It is rounded to sixteenths, and every class
  // rounds at a different place, so that a job that arrives or ends moves few classes.
  [[nodiscard]] std::vector<OthersOfClass> others(double long_jobs_half) const;

 private:
  void count(Class of, bool in_turn, int by);

  std::array<int, kClasses> counts_{};
  std::array<int, kClasses> turns_{};         // of counts_, those that take turns
  std::set<Class, std::greater<>> occupied_;  // classes with jobs, the longest first
};

}  // namespace tidepool::policies::tidal
