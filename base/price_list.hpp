// Prices of slots over time, as an operator lists them: rules that name slots, each with prices from a moment on and
// cheaper or dearer hours. Pure: the moment is an argument, in microseconds since 1970, UTC.
//
// Rule: the first rule that names a slot, and has a price by then, sets its price; a slot that none names keeps its
// own.
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

// Hours of some days of the week. One that ends before it begins goes on into the next day.
struct PriceWindow {
  std::uint8_t days = kAllDays;  // on which it begins: bit 0 is Monday, bit 6 Sunday
  int from_minute = 0;           // of the day, 0 to 1439
  int to_minute = kDayMinutes;   // 1 to 1440, not from_minute
  Money price;
  bool operator==(const PriceWindow&) const = default;
};

struct PriceEntry {
  std::optional<std::int64_t> from_us;     // it holds from then on; none = always
  Money price;                             // outside of the windows
  std::vector<PriceWindow> schedule = {};  // the first one that it is in sets the price
  bool operator==(const PriceEntry&) const = default;
};

struct PriceRule {
  std::string name;                                // unique in the list
  std::string slot_type = {};                      // empty = any
  std::string pool = {};                           // empty = any, and nodes of no pool
  std::map<std::string, std::string> labels = {};  // that the node has
  int spot_discount = 0;                           // percent off for spot nodes
  std::vector<PriceEntry> entries = {};            // by from_us, ascending; never empty
  bool operator==(const PriceRule&) const = default;
};

struct PriceList {
  std::vector<PriceRule> rules;
  [[nodiscard]] bool empty() const { return rules.empty(); }
  bool operator==(const PriceList&) const = default;
};

// The first thing that is wrong with the list, with what to do about it.
[[nodiscard]] Status check_price_list(const PriceList& list);

// Of a slot that is not spot; none: the rule's first price holds later.
[[nodiscard]] std::optional<Money> price_at(const PriceRule& rule, std::int64_t unix_us);
// Rounded down to a millionth.
[[nodiscard]] Money with_discount(Money price, int percent);
// The first moment after this one at which a price of the rule, or of any rule, is another one. None: never.
[[nodiscard]] std::optional<std::int64_t> next_change_us(const PriceRule& rule, std::int64_t unix_us);
[[nodiscard]] std::optional<std::int64_t> next_change_us(const PriceList& list, std::int64_t unix_us);

// "22-06", "22:30-06", and what it says; the price is left alone.
[[nodiscard]] std::string hours_text(const PriceWindow& window);
[[nodiscard]] Status parse_hours(std::string_view text, PriceWindow& window);
// "mon" to "sun".
[[nodiscard]] std::vector<std::string> days_of(const PriceWindow& window);
[[nodiscard]] Result<std::uint8_t> parse_day(std::string_view word);  // its bit

}  // namespace tidepool
