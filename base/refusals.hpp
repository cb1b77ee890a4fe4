// What is wrong with one thing that is checked in several ways, told together, so that all of it can be corrected at
// once.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace tidepool {

class Refusals {
 public:
  // Nothing if it is in order, or has been refused in these words already.
  void add(const Status& status);
  // The first error with what the others say after it, "...; also ...": as many as a person reads. Ok: none was added.
  [[nodiscard]] Status status() const;

 private:
  std::set<std::string> known_;  // their messages
  std::vector<Error> told_;      // the first of them
};

}  // namespace tidepool
