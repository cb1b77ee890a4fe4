// What a report of steps says about its workers' pace: the detector's findings, and how long the others have waited.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/facts/state_change.hpp"
#include "core/facts/straggler_detector.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

// A step of a job, as one of its workers had it.
struct RankStep {
  const std::vector<std::int64_t>& compute_us;  // microseconds, by rank
  std::size_t rank = 0;                         // the worker's
  int slots_per_worker = 1;

  [[nodiscard]] double own_us() const { return static_cast<double>(compute_us[rank]); }
};

// Brings the worker's track up to date by one step and what the detector has found of it.
//
// While a worker is slow, each step adds to its track what the others have waited for it: the sum over the other
// ranks of how much longer it computed than they, times the slots of a worker. The steps that it was found by count
// as if each had been like the last of them, which counts at most twice its usual time. With the finding the account
// is closed.
void take_in(StragglerTrack& track, const StragglerFinding& found, const RankStep& step);

// Judges the newest `counted` steps of the report, one by one, and brings the tracks of the job's members up to date.
// Requires: the report's steps went by the shares that the job uses.
//
// The account of a rebalanced worker stays open: what the others wait for it, and the samples that they have taken over
// from it at what a sample takes them.
void judge_members(StateChange& change, Job& job, const StepsMeasured& report, std::int64_t counted,
                   const StragglerDetector& detector);

// What another detector has remembered of workers counts as nothing.
[[nodiscard]] Status apply(StateChange& change, const DetectorConfigured& fact, const StragglerDetectors& detectors);

}  // namespace tidepool::core
