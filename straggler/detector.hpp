// The interface of all straggler detectors: samples in, findings out. A detector keeps nothing itself; what it must
// remember of a worker is a row of numbers that the caller keeps, copies and stores. Safe rule: only the detector that
// wrote a memory reads it; a memory of another detector, or an empty one, counts as that of a new worker.
//
// Only sums, products, quotients, square roots and comparisons are used, so the same steps give the same findings on
// every machine.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "straggler/relative_times.hpp"

namespace tidepool::straggler {

using Memory = std::vector<double>;

struct Finding {
  double speed = 1;   // the worker's, as a share of the others': 0.5 = takes twice as long
  double bar = 0;     // a straggler is slower than this; some detectors move it with the noise
  bool slow = false;  // the worker is a straggler
  int steps = 0;      // for how many steps the slowness has lasted when it is first found; 0 while not slow
};

class Detector {
 public:
  virtual ~Detector() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;

  // Takes one more step of a job and updates the memories of its ranks. Findings by rank.
  // Requires: as many memories as times.
  [[nodiscard]] std::vector<Finding> judge(const StepTimes& step, const std::vector<Memory*>& memories) const;

 private:
  // `relative` is above 0 for every rank: a step without information about some rank is not passed on.
  [[nodiscard]] virtual std::vector<Finding> observe(const std::vector<double>& relative,
                                                     const std::vector<Memory*>& memories) const = 0;
  // The finding for a worker without a new step.
  [[nodiscard]] virtual Finding recall(const Memory& memory) const = 0;
};

}  // namespace tidepool::straggler
