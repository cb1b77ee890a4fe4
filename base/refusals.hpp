// Collects all errors of one thing that is checked in several ways, so that the user can correct them all at
// once.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace tidepool {

class Refusals {
 public:
  // No effect if the status is ok or the same message has been added before.
  void add(const Status& status);
  // The first error followed by the others, "...; also ...", up to a readable number. Ok: no error was added.
  [[nodiscard]] Status status() const;

 private:
  std::set<std::string> known_;  // messages of all errors
  std::vector<Error> told_;      // the first of them, for the message
};

}  // namespace tidepool
