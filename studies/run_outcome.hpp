// What a run says of the jobs that did not complete, and whether its figures can be used. Every set of rules ends here,
// so that no run passes for a sound one whose jobs failed, could not run, or were left when it was cut off.
#pragma once

#include <string>
#include <vector>

#include "base/time.hpp"
#include "sim/simulator.hpp"

namespace tidepool::sim {

struct OutcomeInput {
  const std::vector<JobResult>& rows;
  std::string policy;
  bool cut_off = false;  // it came to its end of simulated time with jobs left
  Duration until;        // that end, after the first submission
  bool asked = false;    // its user has set that end, so to have jobs left is no trouble
};

struct Outcome {
  std::vector<std::string> notes;  // for people, one sentence each
  std::string trouble;             // why no policy can be judged by the run; empty = one can
};

[[nodiscard]] Outcome outcome_of(const OutcomeInput& input);

}  // namespace tidepool::sim
