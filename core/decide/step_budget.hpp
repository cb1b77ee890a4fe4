// The bound on a policy's work: counted steps instead of wall time, so that a decision is the same on every machine.
#pragma once

#include <cstdint>

namespace tidepool::core {

class StepBudget {
 public:
  explicit StepBudget(std::int64_t limit) : limit_(limit) {}
  // False once the budget is spent; the caller then returns what it has.
  bool spend(std::int64_t steps = 1) { return (used_ += steps) <= limit_; }
  [[nodiscard]] std::int64_t used() const { return used_; }

 private:
  std::int64_t limit_;
  std::int64_t used_ = 0;
};

}  // namespace tidepool::core
