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
  const Compared run = compared(why.number("received"), why.number("target"), NumberStyle::kPercent);
  std::string text =
      "it has run " + run.left + " of the time" + (run.alike ? ", as much as it is to" : " and is to run " + run.right);
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
  const std::string own = value_in_words(why.word, why.number("own"));
  const std::string bar = value_in_words(why.word, why.number("bar"));
  if (alone) return "it " + own + (is_waiting(why) ? "; nobody is before it" : "; nobody waits behind it");
  if (own != bar) return "it " + own + other_side(why) + bar;
  if (why.number("own") != why.number("bar")) return "it " + own + other_side(why) + "about as much";
  return "it " + own + other_side(why) + (is_waiting(why) ? "too, and came there first" : "too, and came there later");
}

// Two merits as bare figures.
Compared figures(std::string_view word, double left, double right) {
  const bool is_time = word == kTimeSaved;
  const auto style = is_time               ? NumberStyle::kTime
                     : word == kShortening ? NumberStyle::kPercent
                                           : NumberStyle::kThreeDigits;
  const double scale = is_time ? 3'600 : 1;
  Compared out = compared(std::fabs(left) * scale, std::fabs(right) * scale, style);
  if (left < 0) out.left = "-" + out.left;
  if (right < 0) out.right = "-" + out.right;
  out.alike = out.left == out.right;
  return out;
}

// A figure in its unit.
std::string amount(std::string_view word, const std::string& number) {
  if (word == kSpeedup) return number + " of speed-up";
  if (word == kShortening) return "a " + number + " shorter time";
  if (word == kTimeSaved) return "an end " + number + " sooner";
  if (word == kFitness) return number + " of fitness";
  if (word == kFairness) return number + " of fairness";
  return number + " of goodput";
}

// "its goodput is 1.8 times that of its fair share, with 4 it would be 1.9 times"
std::string goodputs(const Reason& why) {
  const double next = why.number("next_goodput");
  const double now = why.number("goodput");
  std::string text;
  const Compared both = compared(now, next, NumberStyle::kThreeDigits);
  if (now > 0) text = "its goodput is " + (next > 0 ? both.left : three_digits(now)) + " times that of its fair share";
  if (next <= 0) return text;
  const std::string with = "with " + grouped(why.number("next", why.number("needed"))) + " it would be ";
  return text + (text.empty() ? "" : ", ") + with + (both.alike ? "the same" : both.right + " times");
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
  const bool rises = why.code == ReasonCode::kMeritGrow || why.code == ReasonCode::kStarted;
  const bool taken = rises || why.code == ReasonCode::kMeritShrink;
  const Compared both = figures(why.word, merit, asked);
  std::string text = each + amount(why.word, both.left);
  if (why.word == kFitness) text = goodputs(why) + "; " + text;
  // What would speak against the decision did not make it.
  const bool bears_out = rises ? merit >= asked : merit <= asked;
  if (rival && bears_out) {
    if (both.alike) return text + "; one would bring " + rival_of(why) + " as much";
    return text + (taken ? "; the most that one would bring another is " : "; the least that a slot brings is ") +
           both.right + ", to " + rival_of(why);
  }
  if (asked > 0 && bears_out) return text + (both.alike ? ", as is asked for" : "; " + both.right + " is asked for");
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

Compared amounts(std::string_view word, double left, double right) {
  Compared out = figures(word, left, right);
  out.left = amount(word, out.left);
  out.right = amount(word, out.right);
  return out;
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
