#include "core/words/wording.hpp"

#include <array>
#include <cmath>
#include <cstdio>

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

std::string counted(double count, std::string_view noun) {
  return grouped(count) + " " + std::string(noun) + (std::llround(count) == 1 ? "" : "s");
}

std::string ordinal(int n) {
  constexpr std::array kWords = {"zeroth", "first", "second", "third", "fourth", "fifth", "sixth"};
  if (n >= 0 && n < static_cast<int>(kWords.size())) return kWords[static_cast<std::size_t>(n)];
  const int tens = n % 100;
  const bool teen = tens >= 11 && tens <= 13;
  const char* suffix = teen ? "th" : n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
  return std::to_string(n) + suffix;
}

}  // namespace tidepool::core
