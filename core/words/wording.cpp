#include "core/words/wording.hpp"

#include <array>
#include <cmath>
#include <cstdio>

#include "base/calendar.hpp"

namespace tidepool::core {

std::string grouped(double value) {
  if (!std::isfinite(value)) return "an unknown number of";
  std::string digits = std::to_string(std::llround(std::fabs(value)));
  for (std::size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return (value <= -0.5 ? "-" : "") + digits;
}

std::string decimal(double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.2f", value);
  std::string out = text.data();
  while (out.back() == '0') out.pop_back();
  if (out.back() == '.') out.pop_back();
  return out == "-0" ? "0" : out;
}

std::string three_digits(double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value);
  return text.data();
}

std::string percent(double share) {
  const double hundredths = share * 100;
  const bool small = std::fabs(hundredths) < 10;
  const double rounded = small ? std::round(hundredths * 10) / 10 : std::round(hundredths);
  return decimal(rounded) + " %";
}

std::string waiting_time(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole < 120) return std::to_string(whole) + " s";
  if (whole < 7200) return std::to_string((whole + 59) / 60) + " min";
  return decimal(std::ceil(seconds / 360) / 10) + " h";
}

std::string span_text(double seconds) {
  constexpr double kDay = 86'400;
  const double days = std::round(seconds / kDay);
  return days >= 2 && std::fabs(seconds - days * kDay) < kDay / 100 ? counted(days, "day") : waiting_time(seconds);
}

std::string counted(double count, std::string_view noun) {
  return grouped(count) + " " + std::string(noun) + (std::llround(count) == 1 ? "" : "s");
}

std::string an_ordinal(int n) {
  constexpr std::array kWords = {"a zeroth", "a first", "a second", "a third", "a fourth", "a fifth", "a sixth"};
  if (n >= 0 && n < static_cast<int>(kWords.size())) return kWords[static_cast<std::size_t>(n)];
  const int tens = n % 100;
  const bool teen = tens >= 11 && tens <= 13;
  const char* suffix = teen ? "th" : n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
  const std::string digits = std::to_string(n);
  const bool vowel = digits[0] == '8' || n == 11 || n == 18;
  return (vowel ? "an " : "a ") + digits + suffix;
}

std::string thousands(double value) {
  return std::fabs(value) < 10'000 ? grouped(value) : three_digits(value / 1'000) + " k";
}

std::string policy_words(const std::string& word, const std::vector<ReasonNumber>& numbers) {
  std::string told;
  for (const auto& [name, value] : numbers) told += (told.empty() ? "" : ", ") + name + " " + three_digits(value);
  return word + (told.empty() ? "" : " (" + told + ")");
}

std::string by_rule(const reason::ShareRule& rule) {
  if (rule.by_guarantee) return " (rule: guarantee)";
  if (rule.by_borrow) return " (rule: borrow)";
  return rule.by_weight ? " (rule: weight)" : "";
}

std::string for_claimants(const reason::Claimants& claimants) {
  if (!claimants.for_job) return "";
  const int others = claimants.for_others.value_or(0);
  return " for " + claimants.for_job->text() + (others > 0 ? " and " + counted(others, "more job") : "") +
         by_rule(claimants.rule);
}

namespace {

std::string fixed(double value, int decimals) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

std::string significant(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*g", digits, value);
  return text.data();
}

std::string plainly(double value, NumberStyle style) {
  switch (style) {
    case NumberStyle::kDecimal: return decimal(value);
    case NumberStyle::kPercent: return percent(value);
    case NumberStyle::kThreeDigits: return three_digits(value);
    case NumberStyle::kTime: return waiting_time(value);
    case NumberStyle::kThousands: return thousands(value);
  }
  return decimal(value);
}

// With `more` digits than a number on its own needs.
std::string in_detail(double value, NumberStyle style, int more) {
  switch (style) {
    case NumberStyle::kDecimal: return fixed(value, 2 + more);
    case NumberStyle::kPercent: return fixed(value * 100, 1 + more) + " %";
    case NumberStyle::kThreeDigits: return significant(value, 3 + more);
    case NumberStyle::kTime: return fixed(value, more) + " s";
    case NumberStyle::kThousands: return fixed(value, more - 1);
  }
  return fixed(value, 2 + more);
}

}  // namespace

Compared compared(double left, double right, NumberStyle style) {
  constexpr int kDigitsMore = 4;
  Compared out{.left = plainly(left, style), .right = plainly(right, style)};
  for (int more = 1; out.left == out.right && left != right && more <= kDigitsMore; ++more) {
    out = {.left = in_detail(left, style, more), .right = in_detail(right, style, more)};
  }
  out.alike = out.left == out.right;
  return out;
}

std::string spent_text(const reason::OfBudget& why) {
  const std::string part = why.percent == 100 ? "" : std::to_string(why.percent) + " % of ";
  return "tenant " + why.word + " has spent " + part + "its budget of " + to_text(why.limit) +
         ", which is renewed at " + utc_text(why.ends_unix);
}

}  // namespace tidepool::core
