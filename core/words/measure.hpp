// By what a policy judges: the word of a reason, its numbers and its unit, as clauses of a sentence. A policy that
// judges by something new adds a row here, and every surface tells it.
//
// A measure is of one of two kinds:
//   of turns   jobs stand in line. Numbers: own = what the job's place goes by; rival = the next job on the other side
//              of the line between those that are served and those that wait, 0 = there is none; bar = the rival's own.
//   of merit   sizes are weighed. Numbers: merit = what each slot of a change, or of the next size, brings; rival = the
//              job that it is held against, 0 = none; asked = of a size that is not taken, the least that a slot brings
//              anybody else, to the rival, or a bar of the policy's; of a change, the most that one would bring him.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/state/reason.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core::measure {

// Of turns; in brackets the unit of own and bar.
inline constexpr std::string_view kArrival = "arrival";     // who came first
inline constexpr std::string_view kService = "service";     // least service first [slot-seconds]
inline constexpr std::string_view kTimeLeft = "time_left";  // who ends first [s; -1 = not known]
inline constexpr std::string_view kQueue = "queue";  // queues by service, each in order of arrival [number, from 1]
inline constexpr std::string_view kIndex = "gittins_index";   // the largest first [1 / slot-hour]
inline constexpr std::string_view kDeadline = "deadline";     // the earliest first [s from now; -1 = none]
inline constexpr std::string_view kTimeShare = "time_share";  // [priority]; and target, received: shares of the time
inline constexpr std::string_view kSlices = "slices";         // turns in a group; ahead: jobs that come before it
inline constexpr std::string_view kRounds = "rounds";         // the most rounds of a plan first [number]
inline constexpr std::string_view kLease = "lease";           // own = seconds until the lease ends, no rival
// Of merit.
inline constexpr std::string_view kSpeedup = "speedup";        // over one worker
inline constexpr std::string_view kShortening = "shortening";  // share of the time that its smallest size would take
inline constexpr std::string_view kTimeSaved = "time_saved";   // [h] of its remaining time
inline constexpr std::string_view kFairness = "fairness";      // logarithm of how much fairer its finish is
inline constexpr std::string_view kGoodput = "goodput";        // against its smallest size
inline constexpr std::string_view kFitness = "fitness";  // Pollux's; and goodput, next_goodput: against its fair share
// Of promises; numbers: ends_s, and spare_s where it has a deadline (below 0 = late); of a job that waits also
// starts_s.
inline constexpr std::string_view kPromise = "promise";

// What stands behind "waits", "keeps 2 workers", "growing 2 -> 4" or "started with 2 workers", with the mark before it;
// empty if the reason has no measure known here.
[[nodiscard]] std::string clause(const Reason& reason);

// "0.3 of speed-up", "an end 12 min sooner": two merits in words, held against each other.
[[nodiscard]] Compared amounts(std::string_view word, double left, double right);

// Of turns: how far `own` is ahead of `bar`, in the unit of scores; 0 if one of the two is not known. None where the
// measure tells places only.
[[nodiscard]] std::optional<double> lead(std::string_view word, double own, double bar);

// "slot-hours of service": what a score by this measure is in; empty if that is not known here.
[[nodiscard]] std::string unit(std::string_view word);

}  // namespace tidepool::core::measure
