// How many jobs have at least as much left to do as a given one: what a job's weight depends on beside its own row.
// Counted by classes of time left (each a twentieth above the one before) and told in few different numbers (exact to
// 16, then in steps of a sixteenth), so that a job that comes or goes changes the weight of few others.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace tidepool::policies::tidal {

class Standing {
 public:
  using Class = std::size_t;
  static constexpr Class kClasses = 512;
  // Of a time left in seconds, > 0.
  [[nodiscard]] static Class class_of(double seconds_left);

  void add(Class of) { ++counts_.at(of); }
  void remove(Class of) { --counts_.at(of); }
  // Jobs in this class or a higher one, rounded; at least 1. By class; O(classes).
  [[nodiscard]] std::vector<double> behind() const;

 private:
  std::array<int, kClasses> counts_{};
};

}  // namespace tidepool::policies::tidal
