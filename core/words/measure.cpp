#include "core/words/measure.hpp"

#include <cmath>
#include <variant>

#include "core/words/wording.hpp"

namespace tidepool::core::measure {
namespace {

using reason::ByMerit;
using reason::ByPromise;
using reason::ByTurn;

// "; job-4, the last that is served before it, "
std::string other_side(const ByTurn& by, bool waits) {
  return "; " + by.rival->text() + (waits ? ", the last that is served before it, " : ", the first that waits, ");
}

// One end of the line; `own` shows how to render the measure.
std::string value_in_words(Measure measure, double value) {
  if (measure == kService) return "has had " + three_digits(value / 3600) + " slot-hours";
  if (measure == kTimeLeft) return value < 0 ? "has no known length" : "has " + waiting_time(value) + " left";
  if (measure == kQueue) return "is in queue " + grouped(value);
  if (measure == kRounds) return "will run in " + counted(value, "more round") + " of its policy's plan";
  if (measure == kIndex) return "has the index " + three_digits(value) + " per slot-hour";
  if (measure == kDeadline) {
    if (value == -1) return "has no deadline";
    return value < 0 ? "missed its deadline " + waiting_time(-value) + " ago"
                     : "has its deadline in " + waiting_time(value);
  }
  return "";
}

std::string by_share(const ByTurn& by, bool waits) {
  const reason::TimeShare share = by.share.value_or(reason::TimeShare{});
  const Compared run = compared(share.received, share.target, NumberStyle::kPercent);
  std::string text =
      "it has run " + run.left + " of the time" + (run.alike ? ", its target" : ", with a target of " + run.right);
  if (!by.rival) return text;
  return text + "; " + by.rival->text() +
         (waits ? ", the last that is served before it, is further behind"
                : ", the first that waits, is less far behind");
}

std::string by_line(const ByTurn& by, const Setting& setting) {
  const bool waits = setting.step == Step::kWaits;
  const bool alone = !by.rival;
  const double own_place = by.own.value_or(0);
  if (by.measure == kTimeShare) return by_share(by, waits);
  if (by.measure == kLease) return "its lease ends in " + waiting_time(own_place);
  if (by.measure == kSlices) {
    return setting.ahead == 0 ? "it is its turn"
                              : "jobs take turns, and " + counted(setting.ahead, "job") + " come before it";
  }
  if (by.measure == kArrival) {
    if (alone) return waits ? "no job is before it" : "no job waits behind it";
    return waits ? by.rival->text() + " came before it" : "it came before " + by.rival->text() + ", which waits";
  }
  const std::string own = value_in_words(by.measure, own_place);
  const std::string bar = value_in_words(by.measure, by.bar.value_or(0));
  if (alone) return "it " + own + (waits ? "; no job is before it" : "; no job waits behind it");
  if (own != bar) return "it " + own + other_side(by, waits) + bar;
  if (own_place != by.bar.value_or(0)) return "it " + own + other_side(by, waits) + "about as much";
  return "it " + own + other_side(by, waits) + (waits ? "too, and came there first" : "too, and came there later");
}

// Two merits as plain numbers.
Compared figures(Measure measure, double left, double right) {
  const bool is_time = measure == kTimeSaved;
  const auto style = is_time                  ? NumberStyle::kTime
                     : measure == kShortening ? NumberStyle::kPercent
                                              : NumberStyle::kThreeDigits;
  const double scale = is_time ? 3'600 : 1;
  Compared out = compared(std::fabs(left) * scale, std::fabs(right) * scale, style);
  if (left < 0) out.left = "-" + out.left;
  if (right < 0) out.right = "-" + out.right;
  out.alike = out.left == out.right;
  return out;
}

// A number with its unit.
std::string amount(Measure measure, const std::string& number) {
  if (measure == kSpeedup) return number + " of speed-up";
  if (measure == kShortening) return "a " + number + " shorter time";
  if (measure == kTimeSaved) return "an end " + number + " sooner";
  if (measure == kFitness) return number + " of fitness";
  if (measure == kFairness) return number + " of fairness";
  return number + " of goodput";
}

// "its goodput is 1.8 times that of its fair share, with 4 it would be 1.9 times"
std::string goodputs(const ByMerit& by, int next_size) {
  const double next = by.next_goodput.value_or(0);
  const double now = by.goodput.value_or(0);
  std::string text;
  const Compared both = compared(now, next, NumberStyle::kThreeDigits);
  if (now > 0) text = "its goodput is " + (next > 0 ? both.left : three_digits(now)) + " times that of its fair share";
  if (next <= 0) return text;
  const std::string with = "with " + grouped(next_size) + " it would be ";
  return text + (text.empty() ? "" : ", ") + with + (both.alike ? "the same" : both.right + " times");
}

std::string each_slot(const Setting& setting) {
  switch (setting.step) {
    case Step::kWaits: return "each slot would bring it ";
    case Step::kHolds: return "each slot of " + grouped(setting.next) + " would bring it ";
    case Step::kShrinks: return "each released slot brought it ";
    case Step::kGrows: return "each additional slot brings it ";
    case Step::kStarts: break;
  }
  return "each slot brings it ";
}

std::string by_merit(const ByMerit& by, const Setting& setting) {
  const bool rises = setting.step == Step::kGrows || setting.step == Step::kStarts;
  const bool taken = rises || setting.step == Step::kShrinks;
  const Compared both = figures(by.measure, by.merit, by.asked);
  std::string text = each_slot(setting) + amount(by.measure, both.left);
  if (by.measure == kFitness) text = goodputs(by, setting.next) + "; " + text;
  // Numbers that seem to contradict the decision were not its cause.
  const bool bears_out = rises ? by.merit >= by.asked : by.merit <= by.asked;
  if (by.rival && bears_out) {
    if (both.alike) return text + "; one would bring " + by.rival->text() + " as much";
    return text + (taken ? "; the most that one would bring another is " : "; the least that a slot brings is ") +
           both.right + ", to " + by.rival->text();
  }
  if (by.asked > 0 && bears_out) return text + (both.alike ? ", the threshold" : "; the threshold is " + both.right);
  const int short_by = setting.next - setting.size - setting.free;
  return !taken && by.merit > 0 && short_by > 0 ? text + "; too few slots are free" : text;
}

std::string by_promise(const ByPromise& by) {
  std::string text;
  if (by.starts_s.value_or(0) > 0) text = "it is planned to start in " + waiting_time(*by.starts_s) + "; ";
  text += "it ends in " + waiting_time(by.ends_s);
  if (!by.spare_s) return text;
  return text + (*by.spare_s < 0 ? ", " + waiting_time(-*by.spare_s) + " after its deadline"
                                 : ", " + waiting_time(*by.spare_s) + " before its deadline");
}

}  // namespace

std::string clause(const reason::Judgement& by, const Setting& setting) {
  if (measure_of(by) == Measure::kOwn) return "";
  if (const auto* promise = std::get_if<ByPromise>(&by)) return ": " + by_promise(*promise);
  if (const auto* turn = std::get_if<ByTurn>(&by)) return ": " + by_line(*turn, setting);
  return ": " + by_merit(std::get<ByMerit>(by), setting);
}

Measure measure_of(const reason::Judgement& by) {
  if (const auto* merit = std::get_if<ByMerit>(&by)) return merit->measure;
  if (const auto* turn = std::get_if<ByTurn>(&by)) return turn->measure;
  return std::holds_alternative<ByPromise>(by) ? kPromise : Measure::kOwn;
}

Compared amounts(Measure measure, double left, double right) {
  Compared out = figures(measure, left, right);
  out.left = amount(measure, out.left);
  out.right = amount(measure, out.right);
  return out;
}

std::optional<double> lead(Measure measure, double own, double bar) {
  constexpr double kHour = 3600;
  const bool unknown = (measure == kTimeLeft || measure == kDeadline) && (own == -1 || bar == -1);
  if (unknown) return 0;
  if (measure == kService || measure == kTimeLeft || measure == kDeadline) return (bar - own) / kHour;
  if (measure == kIndex || measure == kTimeShare) return own - bar;
  return std::nullopt;
}

std::string unit(Measure measure) {
  if (measure == kService) return "slot-hours of service";
  if (measure == kTimeLeft) return "hours left";
  if (measure == kIndex) return "its index per slot-hour";
  if (measure == kDeadline) return "hours to the deadline";
  if (measure == kQueue || measure == kArrival || measure == kSlices || measure == kRounds) return "places in line";
  if (measure == kTimeShare) return "its policy's priority";
  if (measure == kSpeedup) return "speed-up";
  if (measure == kShortening) return "shares of its smallest size's time";
  if (measure == kTimeSaved) return "hours sooner";
  if (measure == kFitness) return "fitness";
  if (measure == kFairness) return "the logarithm of fairness";
  if (measure == kGoodput) return "goodput";
  if (measure == kPromise) return "slot-hours";
  return "";
}

}  // namespace tidepool::core::measure
