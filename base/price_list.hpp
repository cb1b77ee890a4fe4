// Prices of slots over time, as an operator lists them: rules that select slots, each with prices from given moments on
// and hours with other prices. Pure: the moment is an argument, in microseconds since 1970, UTC.
//
// Rule: the first rule that matches a slot and has a price at that moment sets its price; a slot that no rule matches
// keeps its own price.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/money.hpp"
#include "base/result.hpp"

namespace tidepool {

inline constexpr int kDayMinutes = 24 * 60;
inline constexpr std::uint8_t kAllDays = 0x7F;

// Hours on some days of the week. A window whose end is before its start continues into the next day.
struct PriceWindow {
  std::uint8_t days = kAllDays;  // days on which it begins: bit 0 is Monday, bit 6 Sunday
  int from_minute = 0;           // of the day, 0 to 1439
  int to_minute = kDayMinutes;   // 1 to 1440, not from_minute
  Money price;
  bool operator==(const PriceWindow&) const = default;
};

struct PriceEntry {
  std::optional<std::int64_t> from_us;     // from when it applies; none = always
  Money price;                             // outside of the windows
  std::vector<PriceWindow> schedule = {};  // the first window that contains the moment sets the price
  bool operator==(const PriceEntry&) const = default;
};

struct PriceRule {
  std::string name;                                // unique in the list
  std::string slot_type = {};                      // empty = any
  std::string pool = {};                           // empty = any, including nodes without a pool
  std::map<std::string, std::string> labels = {};  // that the node must have
  int spot_discount = 0;                           // percent off for spot nodes
  std::vector<PriceEntry> entries = {};            // by from_us, ascending; never empty
  bool operator==(const PriceRule&) const = default;
};

struct PriceList {
  std::vector<PriceRule> rules;
  [[nodiscard]] bool empty() const { return rules.empty(); }
  bool operator==(const PriceList&) const = default;
};

// The first error in the list, with what to do about it.
[[nodiscard]] Status check_price_list(const PriceList& list);

// The price of a slot that is not spot; none: the rule's first price applies later.
[[nodiscard]] std::optional<Money> price_at(const PriceRule& rule, std::int64_t unix_us);
// Rounded down to a millionth.
[[nodiscard]] Money with_discount(Money price, int percent);
// The first later moment at which a price of the rule, or of any rule, changes. None: never.
[[nodiscard]] std::optional<std::int64_t> next_change_us(const PriceRule& rule, std::int64_t unix_us);
[[nodiscard]] std::optional<std::int64_t> next_change_us(const PriceList& list, std::int64_t unix_us);

// "22-06" or "22:30-06", as text and parsed into `window`; the window's price is not changed.
[[nodiscard]] std::string hours_text(const PriceWindow& window);
[[nodiscard]] Status parse_hours(std::string_view text, PriceWindow& window);
// "mon" to "sun".
[[nodiscard]] std::vector<std::string> days_of(const PriceWindow& window);
[[nodiscard]] Result<std::uint8_t> parse_day(std::string_view word);  // the day's bit

}  // namespace tidepool
