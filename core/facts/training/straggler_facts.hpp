// What a report of steps shows about its workers' pace: the detector's findings, and how long the other workers waited.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/facts/state_change.hpp"
#include "core/facts/straggler_detector.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

// A step of a job, as experienced by one of its workers.
struct RankStep {
  const std::vector<std::int64_t>& compute_us;  // microseconds, by rank
  std::size_t rank = 0;                         // the worker's rank
  int slots_per_worker = 1;

  [[nodiscard]] double own_us() const { return static_cast<double>(compute_us[rank]); }
};

// Updates the worker's track by one step and the detector's finding for it.
//
// While a worker is slow, each step adds to its track the time that the others waited for it: the sum over the other
// ranks of how much longer it computed than they did, times the slots of a worker. The steps on which the finding is
// based count as if each had been like the last of them, which counts at most twice its usual time. When the worker is
// no longer slow, the account is closed.
void take_in(StragglerTrack& track, const StragglerFinding& found, const RankStep& step);

// Judges the newest `counted` steps of the report, one by one, and updates the tracks of the job's members. Requires:
// the report's steps used the shares that the job uses.
//
// The account of a rebalanced worker stays open: it adds up the others' waiting for it, and the time that they spend on
// the samples that they took over from it.
void judge_members(StateChange& change, Job& job, const StepsMeasured& report, std::int64_t counted,
                   const StragglerDetector& detector);

// What another detector remembered of workers is ignored.
[[nodiscard]] Status apply(StateChange& change, const DetectorConfigured& fact, const StragglerDetectors& detectors);

}  // namespace tidepool::core
