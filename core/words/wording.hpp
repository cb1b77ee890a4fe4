// Numbers as people read them: "9,121", "62 %", "12 s", "3 workers". Used by explain only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/state/reasons/parts.hpp"

namespace tidepool::core {

// Rounded to a whole number with commas: 9121.4 -> "9,121".
[[nodiscard]] std::string grouped(double value);
// At most two decimals, no trailing zeros: 0.5 -> "0.5", 12 -> "12".
[[nodiscard]] std::string decimal(double value);
// For any magnitude, three digits: 0.01234 -> "0.0123".
[[nodiscard]] std::string three_digits(double value);
// 0.042 -> "4.2 %", 0.62 -> "62 %".
[[nodiscard]] std::string percent(double share);
// Rounded up, so that a wait is never understated: 11.2 -> "12 s", 300 -> "5 min".
[[nodiscard]] std::string waiting_time(double seconds);
// The same for a span that may be days: 604'800 -> "7 days".
[[nodiscard]] std::string span_text(double seconds);
// "1 worker", "3 workers".
[[nodiscard]] std::string counted(double count, std::string_view noun);
// "a second", "a third", "an 8th": the n-th worker.
[[nodiscard]] std::string an_ordinal(int n);
// Of throughput: 950 -> "950", 26'400 -> "26.4 k".
[[nodiscard]] std::string thousands(double value);
// The text of a policy file: "Capped (most 4, over 2)".
[[nodiscard]] std::string policy_words(const std::string& word, const std::vector<ReasonNumber>& numbers);
// " (rule: guarantee)"; empty if no rule is set.
[[nodiscard]] std::string by_rule(const reason::ShareRule& rule);
// The jobs that will get the slots that a job releases: " for job-7 and 2 more jobs", with the rule; empty if there is
// no particular job.
[[nodiscard]] std::string for_claimants(const reason::Claimants& claimants);

// Two numbers that a sentence compares, with as many digits as needed to distinguish them. Alike: no number of digits
// does, and the sentence must say that they are the same.
struct Compared {
  std::string left;
  std::string right;
  bool alike = false;
};
enum class NumberStyle { kDecimal, kPercent, kThreeDigits, kTime, kThousands };
[[nodiscard]] Compared compared(double left, double right, NumberStyle style);

// "tenant vision has spent 95 % of its budget of 100.00, which is renewed at 2026-12-01 00:00 UTC".
[[nodiscard]] std::string spent_text(const reason::OfBudget& why);

}  // namespace tidepool::core
