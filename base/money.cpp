#include "base/money.hpp"

#include <charconv>
#include <string>

#include "base/accrual.hpp"
#include "base/comma_number.hpp"

namespace tidepool {
namespace {

constexpr std::int64_t kMicrosPerUnit = 1'000'000;
constexpr std::size_t kDecimals = 6;

bool all_digits(std::string_view text) {
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

Money cost_of(Money per_slot_hour, std::int64_t slots, Duration held) {
  // 128 bits, because price times microseconds overflows 64 within days.
  __extension__ using Wide = __int128;
  const Wide product = static_cast<Wide>(per_slot_hour.count_micros()) * slots * held.count_us();
  return Money::micros(static_cast<std::int64_t>(product / kUsPerHour));
}

Result<Money> parse_money(std::string_view text) {
  const auto dot = text.find('.');
  const std::string_view whole = text.substr(0, dot);
  std::string fraction(dot == std::string_view::npos ? "" : text.substr(dot + 1));
  const bool shaped = !whole.empty() && whole.size() <= 12 && all_digits(whole) && all_digits(fraction) &&
                      fraction.size() <= kDecimals && (dot == std::string_view::npos || !fraction.empty());
  if (!shaped) {
    const std::string hint = comma_hint(text, false);
    return invalid_argument("\"" + std::string(text) + "\" is not an amount" +
                            (hint.empty() ? "; write digits with at most six decimals, such as 2.50" : hint));
  }
  fraction.resize(kDecimals, '0');
  std::int64_t units = 0;
  std::int64_t micros = 0;
  std::from_chars(whole.data(), whole.data() + whole.size(), units);
  std::from_chars(fraction.data(), fraction.data() + fraction.size(), micros);
  return Money::micros(units * kMicrosPerUnit + micros);
}

Result<Money> parse_price(std::string_view text) {
  constexpr std::int64_t kUnitsMost = 1'000'000;
  auto price = parse_money(text);
  if (price.ok() && *price > Money::micros(kUnitsMost * kMicrosPerUnit)) {
    return invalid_argument("\"" + std::string(text) +
                            "\" is more than a slot may cost an hour: " + std::to_string(kUnitsMost));
  }
  return price;
}

std::string to_text(Money money) {
  std::int64_t micros = money.count_micros();
  std::string text = micros < 0 ? "-" : "";
  if (micros < 0) micros = -micros;
  std::string fraction = std::to_string(micros % kMicrosPerUnit);
  fraction.insert(0, kDecimals - fraction.size(), '0');
  while (fraction.size() > 2 && fraction.back() == '0') fraction.pop_back();
  return text + std::to_string(micros / kMicrosPerUnit) + "." + fraction;
}

}  // namespace tidepool
