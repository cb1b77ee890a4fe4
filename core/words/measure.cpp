#include "core/words/measure.hpp"

#include <cmath>

#include "base/ids.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core::measure {
namespace {

std::string rival_of(const Reason& why) {
  return JobId(static_cast<std::uint64_t>(std::llround(why.number("rival")))).text();
}

bool is_waiting(const Reason& why) {
  const ReasonCategory category = category_of(why.code);
  return category == ReasonCategory::kWaiting || category == ReasonCategory::kPolicy;
}

// "; job-4, the last that is served before it, "
std::string other_side(const Reason& why) {
  return "; " + rival_of(why) +
         (is_waiting(why) ? ", the last that is served before it, " : ", the first that waits, ");
}

// One end of the line; `own` says how the measure reads.
std::string value_in_words(std::string_view word, double value) {
  if (word == kService) return "has had " + three_digits(value / 3600) + " slot-hours";
  if (word == kTimeLeft) return value < 0 ? "does not say how long it is" : "has " + waiting_time(value) + " left";
  if (word == kQueue) return "is in queue " + grouped(value);
  if (word == kRounds) return "is to run in " + counted(value, "more round") + " of its policy's plan";
  if (word == kIndex) return "has the index " + three_digits(value) + " per slot-hour";
  if (word == kDeadline) {
    if (value == -1) return "has no deadline";
    return value < 0 ? "missed its deadline " + waiting_time(-value) + " ago"
                     : "has its deadline in " + waiting_time(value);
  }
  return "";
}

std::string by_share(const Reason& why) {
  std::string text =
      "it has run " + percent(why.number("received")) + " of the time and is to run " + percent(why.number("target"));
  if (why.number("rival") == 0) return text;
  return text + "; " + rival_of(why) +
         (is_waiting(why) ? ", the last that is served before it, is further behind"
                          : ", the first that waits, is less far behind");
}

std::string by_line(const Reason& why) {
  const bool alone = why.number("rival") == 0;
  if (why.word == kTimeShare) return by_share(why);
  if (why.word == kLease) return "its lease ends in " + waiting_time(why.number("own"));
  if (why.word == kSlices) {
    const double ahead = why.number("ahead");
    return ahead == 0 ? "it is its turn" : "jobs take turns, and " + counted(ahead, "job") + " come before it";
  }
  if (why.word == kArrival) {
    if (alone) return is_waiting(why) ? "nobody is before it" : "nobody waits behind it";
    return is_waiting(why) ? rival_of(why) + " came before it" : "it came before " + rival_of(why) + ", which waits";
  }
  const double own = why.number("own");
  const double bar = why.number("bar");
  const std::string text = "it " + value_in_words(why.word, own);
  if (alone) return text + (is_waiting(why) ? "; nobody is before it" : "; nobody waits behind it");
  const bool same = own == bar;
  return text + other_side(why) +
         (same ? (is_waiting(why) ? "too, and came there first" : "too, and came there later")
               : value_in_words(why.word, bar));
}

std::string figure(std::string_view word, double value) {
  if (word == kTimeSaved) return (value < 0 ? "-" : "") + waiting_time(std::fabs(value) * 3600);
  return word == kShortening ? percent(value) : three_digits(value);
}

// "its goodput is 1.8 times that of its fair share, with 4 it would be 1.9 times"
std::string goodputs(const Reason& why) {
  const double next = why.number("next_goodput");
  const double now = why.number("goodput");
  std::string text;
  if (now > 0) text = "its goodput is " + three_digits(now) + " times that of its fair share";
  if (next <= 0) return text;
  const double size = why.number("next", why.number("needed"));
  return text + (text.empty() ? "" : ", ") + "with " + grouped(size) + " it would be " + three_digits(next) + " times";
}

std::string by_merit(const Reason& why) {
  const double merit = why.number("merit");
  const double asked = why.number("asked");
  const bool rival = why.number("rival") != 0;
  std::string each = "each slot ";
  switch (why.code) {
    case ReasonCode::kMeritWait: each += "would bring it "; break;
    case ReasonCode::kMeritHold: each += "of " + grouped(why.number("next")) + " would bring it "; break;
    case ReasonCode::kMeritShrink: each += "given up brought it "; break;
    case ReasonCode::kMeritGrow: each += "more brings it "; break;
    default: each += "brings it "; break;
  }
  std::string text = each + amount(why.word, merit);
  if (why.word == kFitness) text = goodputs(why) + "; " + text;
  const bool taken =
      why.code == ReasonCode::kMeritGrow || why.code == ReasonCode::kMeritShrink || why.code == ReasonCode::kStarted;
  if (rival && taken) {
    return text + "; the most that one would bring another is " + figure(why.word, asked) + ", to " + rival_of(why);
  }
  if (rival) return text + "; the least that a slot brings is " + figure(why.word, asked) + ", to " + rival_of(why);
  if (asked > 0) return text + "; " + figure(why.word, asked) + " is asked for";
  const double short_by = why.number("next", why.number("needed")) - why.number("size") - why.number("free");
  return !taken && merit > 0 && short_by > 0 ? text + "; too few slots are free" : text;
}

std::string by_promise(const Reason& why) {
  const double spare = why.number("spare_s", NAN);
  std::string text;
  if (why.number("starts_s") > 0) text = "it is planned to start in " + waiting_time(why.number("starts_s")) + "; ";
  text += "it ends in " + waiting_time(why.number("ends_s"));
  if (std::isnan(spare)) return text;
  return text + (spare < 0 ? ", " + waiting_time(-spare) + " after its deadline"
                           : ", " + waiting_time(spare) + " before its deadline");
}

bool is_of_turns(std::string_view word) {
  return word == kArrival || word == kService || word == kTimeLeft || word == kQueue || word == kIndex ||
         word == kDeadline || word == kTimeShare || word == kSlices || word == kRounds || word == kLease;
}

bool is_of_merit(std::string_view word) {
  return word == kSpeedup || word == kShortening || word == kTimeSaved || word == kFairness || word == kGoodput ||
         word == kFitness;
}

}  // namespace

std::string clause(const Reason& why) {
  if (why.word.empty()) return "";
  if (why.word == kPromise) return ": " + by_promise(why);
  if (is_of_merit(why.word)) return ": " + by_merit(why);
  return is_of_turns(why.word) ? ": " + by_line(why) : "";
}

std::string amount(std::string_view word, double value) {
  const std::string number = figure(word, value);
  if (word == kSpeedup) return number + " of speed-up";
  if (word == kShortening) return "a " + number + " shorter time";
  if (word == kTimeSaved) return "an end " + number + " sooner";
  if (word == kFitness) return number + " of fitness";
  if (word == kFairness) return number + " of fairness";
  return number + " of goodput";
}

std::optional<double> lead(std::string_view word, double own, double bar) {
  constexpr double kHour = 3600;
  const bool unknown = (word == kTimeLeft || word == kDeadline) && (own == -1 || bar == -1);
  if (unknown) return 0;
  if (word == kService || word == kTimeLeft || word == kDeadline) return (bar - own) / kHour;
  if (word == kIndex || word == kTimeShare) return own - bar;
  return std::nullopt;
}

std::string unit(std::string_view word) {
  if (word == kService) return "slot-hours of service";
  if (word == kTimeLeft) return "hours left";
  if (word == kIndex) return "its index per slot-hour";
  if (word == kDeadline) return "hours to the deadline";
  if (word == kQueue || word == kArrival || word == kSlices || word == kRounds) return "places in line";
  if (word == kTimeShare) return "its policy's priority";
  if (word == kSpeedup) return "speed-up";
  if (word == kShortening) return "shares of its smallest size's time";
  if (word == kTimeSaved) return "hours sooner";
  if (word == kFitness) return "fitness";
  if (word == kFairness) return "the logarithm of fairness";
  if (word == kGoodput) return "goodput";
  if (word == kPromise) return "slot-hours";
  return "";
}

}  // namespace tidepool::core::measure
