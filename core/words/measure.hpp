// The measure by which a policy judges, with its numbers and its unit, as clauses of a sentence. A policy with a new
// measure adds a Measure and a row here, and every surface shows it.
//
// There are two kinds of measures:
//   of turns   jobs wait in line. Numbers: own = the value that determines the job's place; rival = the next job on the
//              other side of the line between served and waiting jobs, 0 = none; bar = the rival's own value.
//   of merit   sizes are compared. Numbers: merit = the gain per slot of a change, or of the next size; rival = the job
//              with which it is compared, 0 = none; asked = for a size that is not taken, the least gain per slot of
//              any other job, the gain for the rival, or a threshold of the policy; for a change, the most that a slot
//              would gain for the rival.
#pragma once

#include <optional>
#include <string>

#include "core/state/reasons/parts.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core::measure {

// Of turns; in brackets the unit of own and bar.
inline constexpr Measure kArrival = Measure::kArrival;    // first come, first served
inline constexpr Measure kService = Measure::kService;    // least service first [slot-seconds]
inline constexpr Measure kTimeLeft = Measure::kTimeLeft;  // least time left first [s; -1 = not known]
inline constexpr Measure kQueue = Measure::kQueue;  // queues by service, each in order of arrival [number, from 1]
inline constexpr Measure kIndex = Measure::kIndex;  // the largest first [1 / slot-hour]
inline constexpr Measure kDeadline = Measure::kDeadline;    // the earliest first [s from now; -1 = none]
inline constexpr Measure kTimeShare = Measure::kTimeShare;  // [priority]; and target, received: shares of the time
inline constexpr Measure kSlices = Measure::kSlices;        // turns in a group; ahead: jobs that come before it
inline constexpr Measure kRounds = Measure::kRounds;        // the most rounds of a plan first [number]
inline constexpr Measure kLease = Measure::kLease;          // own = seconds until the lease ends, no rival
// Of merit.
inline constexpr Measure kSpeedup = Measure::kSpeedup;        // over one worker
inline constexpr Measure kShortening = Measure::kShortening;  // share of the time that its smallest size would take
inline constexpr Measure kTimeSaved = Measure::kTimeSaved;    // [h] of its remaining time
inline constexpr Measure kFairness = Measure::kFairness;      // logarithm of how much fairer its finish is
inline constexpr Measure kGoodput = Measure::kGoodput;        // against its smallest size
inline constexpr Measure kFitness = Measure::kFitness;  // Pollux's; and goodput, next_goodput: against its fair share
// Of promises; numbers: ends_s, and spare_s where it has a deadline (below 0 = late); of a job that waits also
// starts_s.
inline constexpr Measure kPromise = Measure::kPromise;

// The activity of the job that a clause describes.
enum class Step { kWaits, kHolds, kStarts, kGrows, kShrinks };
struct Setting {
  Step step = Step::kWaits;
  int size = 0;
  int next = 0;   // the size that is considered, if the job waits or holds
  int free = 0;   // slots
  int ahead = 0;  // jobs that have their turns before it
};

// The continuation of "waits", "keeps 2 workers", "growing 2 -> 4" or "started with 2 workers", with the punctuation
// mark before it; empty if the policy's measure is not known here.
[[nodiscard]] std::string clause(const reason::Judgement& by, const Setting& setting);
// A measure known here; kOwn = none.
[[nodiscard]] Measure measure_of(const reason::Judgement& by);

// "0.3 of speed-up", "an end 12 min sooner": two merits in words, for a comparison.
[[nodiscard]] Compared amounts(Measure measure, double left, double right);

// For turns: how far `own` is ahead of `bar`, in the unit of scores; 0 if one of the two is unknown. None if the
// measure has only places.
[[nodiscard]] std::optional<double> lead(Measure measure, double own, double bar);

// "slot-hours of service": the unit of a score by this measure; empty if it is not known here.
[[nodiscard]] std::string unit(Measure measure);

}  // namespace tidepool::core::measure
