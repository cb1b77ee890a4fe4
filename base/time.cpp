#include "base/time.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <string>

namespace tidepool {
namespace {

struct UnitOfTime {
  std::string_view suffix;
  std::int64_t us;
};

// Longest unit first, so that to_text finds the shortest form.
constexpr std::array kUnits = {
    UnitOfTime{"d", 86'400'000'000}, UnitOfTime{"h", 3'600'000'000}, UnitOfTime{"m", 60'000'000},
    UnitOfTime{"s", 1'000'000},      UnitOfTime{"ms", 1'000},        UnitOfTime{"us", 1},
};
constexpr double kLongestUs = 10.0 * 366 * 86'400 * 1e6;

Error bad_duration(std::string_view text) {
  return invalid_argument("\"" + std::string(text) +
                          "\" is not a duration; write a number and a unit, such as 250ms, 30s, 15m, 2h or 7d");
}

}  // namespace

Duration Duration::from_seconds(double s) {
  return Duration(std::llround(s * 1e6));
}

Result<Duration> parse_duration(std::string_view text) {
  const auto digits = text.find_first_not_of("0123456789.");
  if (digits == 0 || digits == std::string_view::npos || digits > 15) return bad_duration(text);
  const std::string number(text.substr(0, digits));
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (end != number.c_str() + number.size() || number.front() == '.') return bad_duration(text);
  for (const auto& unit : kUnits) {
    if (text.substr(digits) != unit.suffix) continue;
    const double us = value * static_cast<double>(unit.us);
    if (us > kLongestUs) return invalid_argument("\"" + std::string(text) + "\" is longer than ten years");
    return Duration::micros(std::llround(us));
  }
  return bad_duration(text);
}

std::string to_text(Duration duration) {
  const std::int64_t us = duration.count_us();
  if (us == 0) return "0s";
  for (const auto& unit : kUnits) {
    if (us % unit.us == 0) return std::to_string(us / unit.us) + std::string(unit.suffix);
  }
  return std::to_string(us) + "us";
}

}  // namespace tidepool
