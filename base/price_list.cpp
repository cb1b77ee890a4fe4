#include "base/price_list.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

#include "base/calendar.hpp"
#include "base/number_text.hpp"

namespace tidepool {
namespace {

constexpr std::int64_t kMinuteMicros = 60'000'000;
constexpr int kDiscountMost = 100;
constexpr std::size_t kRulesMost = 500;
constexpr std::size_t kEntriesMost = 200;
constexpr std::size_t kWindowsMost = 50;
constexpr std::array<const char*, 7> kDays = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};

bool has_day(const PriceWindow& window, std::int64_t day) {
  return (window.days >> static_cast<unsigned>(day - week_of(day)) & 1U) != 0;
}

bool is_in(const PriceWindow& window, std::int64_t unix_us) {
  const std::int64_t day = day_of(unix_us);
  const std::int64_t of_day = unix_us - day * kDayMicros;
  const bool has_begun = of_day >= window.from_minute * kMinuteMicros;
  const bool goes_on = of_day < window.to_minute * kMinuteMicros;
  if (window.from_minute < window.to_minute) return has_day(window, day) && has_begun && goes_on;
  return (has_day(window, day) && has_begun) || (has_day(window, day - 1) && goes_on);
}

bool has_begun(const PriceEntry& entry, std::int64_t unix_us) {
  return !entry.from_us || *entry.from_us <= unix_us;
}

// The entry that applies; the end if none applies yet.
std::vector<PriceEntry>::const_iterator entry_at(const PriceRule& rule, std::int64_t unix_us) {
  auto holds = rule.entries.end();
  for (auto entry = rule.entries.begin(); entry != rule.entries.end() && has_begun(*entry, unix_us); ++entry) {
    holds = entry;
  }
  return holds;
}

// The next moment at which one of the entry's windows begins or ends.
std::optional<std::int64_t> next_boundary(const PriceEntry& entry, std::int64_t unix_us) {
  std::optional<std::int64_t> first;
  const std::int64_t today = day_of(unix_us);
  for (const PriceWindow& window : entry.schedule) {
    for (const int minute : {window.from_minute, window.to_minute}) {
      std::int64_t at = today * kDayMicros + minute * kMinuteMicros;
      if (at <= unix_us) at += kDayMicros;
      if (at <= unix_us) at += kDayMicros;  // 24:00 of yesterday is 00:00 of today
      first = std::min(at, first.value_or(at));
    }
  }
  return first;
}

// Within the time of one entry, up to `end`: every week repeats the same changes.
std::optional<std::int64_t> change_within(const PriceRule& rule, const PriceEntry& entry, std::int64_t from,
                                          std::optional<std::int64_t> end, std::optional<Money> before) {
  const std::int64_t week_later = from + 8 * kDayMicros;
  for (auto at = next_boundary(entry, from); at && *at <= week_later && (!end || *at < *end);
       at = next_boundary(entry, *at)) {
    if (price_at(rule, *at) != before) return at;
  }
  return std::nullopt;
}

Error wrong(const PriceRule& rule, const std::string& what) {
  return invalid_argument("price rule \"" + rule.name + "\": " + what);
}

Status check_entry(const PriceRule& rule, const PriceEntry& entry) {
  if (entry.price < Money()) return wrong(rule, "a price is not negative");
  if (entry.schedule.size() > kWindowsMost) return wrong(rule, "a schedule has at most 50 windows");
  for (const PriceWindow& window : entry.schedule) {
    const bool is_of_day = window.from_minute >= 0 && window.from_minute < kDayMinutes && window.to_minute >= 1 &&
                           window.to_minute <= kDayMinutes && window.from_minute != window.to_minute;
    if (!is_of_day) return wrong(rule, "hours of a day are such as 22-06, and end at another time than they begin");
    if (window.days == 0 || window.days > kAllDays) return wrong(rule, "a window needs days, or none for all of them");
    if (window.price < Money()) return wrong(rule, "a price is not negative");
  }
  return ok_status();
}

Status check_rule(const PriceRule& rule) {
  if (rule.name.empty()) return invalid_argument("a price rule needs a name");
  if (rule.spot_discount < 0 || rule.spot_discount > kDiscountMost) return wrong(rule, "spot_discount is 0 to 100");
  if (rule.entries.empty()) return wrong(rule, "it needs a price, such as entries: [{price: 2.50}]");
  if (rule.entries.size() > kEntriesMost) return wrong(rule, "it has at most 200 entries");
  for (std::size_t i = 0; i < rule.entries.size(); ++i) {
    TP_TRY(check_entry(rule, rule.entries[i]));
    if (i == 0) continue;
    const auto& from = rule.entries[i].from_us;
    const auto& before = rule.entries[i - 1].from_us;
    if (!from || (before && *from <= *before)) {
      return wrong(rule, "entries stand in the order of their times, and only the first may lack one");
    }
  }
  return ok_status();
}

// "22" or "22:30" as minutes.
std::optional<int> minutes_of(std::string_view text) {
  const auto number = [](std::string_view digits) {
    const auto value = parse_number<int>(digits);
    return value && *value >= 0 && digits.size() <= 2 ? value : std::nullopt;
  };
  const std::size_t colon = text.find(':');
  const auto hours = number(text.substr(0, colon));
  const auto minutes = colon == std::string_view::npos ? std::optional(0) : number(text.substr(colon + 1));
  if (!hours || !minutes || *minutes > 59 || *hours * 60 + *minutes > kDayMinutes) return std::nullopt;
  return *hours * 60 + *minutes;
}

std::string clock_text(int minutes) {
  std::array<char, 32> text{};
  const int rest = minutes % 60;
  std::snprintf(text.data(), text.size(), rest == 0 ? "%02d" : "%02d:%02d", minutes / 60, rest);
  return text.data();
}

}  // namespace

Status check_price_list(const PriceList& list) {
  if (list.rules.size() > kRulesMost) return invalid_argument("there can be at most 500 price rules");
  std::set<std::string> names;
  for (const PriceRule& rule : list.rules) {
    TP_TRY(check_rule(rule));
    if (!names.insert(rule.name).second) return wrong(rule, "there are two of this name");
  }
  return ok_status();
}

std::optional<Money> price_at(const PriceRule& rule, std::int64_t unix_us) {
  const auto entry = entry_at(rule, unix_us);
  if (entry == rule.entries.end()) return std::nullopt;
  for (const PriceWindow& window : entry->schedule) {
    if (is_in(window, unix_us)) return window.price;
  }
  return entry->price;
}

Money with_discount(Money price, int percent) {
  __extension__ using Wide = __int128;
  return Money::micros(static_cast<std::int64_t>(static_cast<Wide>(price.count_micros()) * (100 - percent) / 100));
}

std::optional<std::int64_t> next_change_us(const PriceRule& rule, std::int64_t unix_us) {
  const std::optional<Money> before = price_at(rule, unix_us);
  const auto now = entry_at(rule, unix_us);
  auto next = now == rule.entries.end() ? rule.entries.begin() : now + 1;
  if (now != rule.entries.end()) {
    const auto end = next == rule.entries.end() ? std::nullopt : next->from_us;
    if (const auto at = change_within(rule, *now, unix_us, end, before)) return at;
  }
  for (; next != rule.entries.end(); ++next) {
    const std::int64_t from = next->from_us.value();
    if (price_at(rule, from) != before) return from;
    const auto end = next + 1 == rule.entries.end() ? std::nullopt : (next + 1)->from_us;
    if (const auto at = change_within(rule, *next, from, end, before)) return at;
  }
  return std::nullopt;
}

std::optional<std::int64_t> next_change_us(const PriceList& list, std::int64_t unix_us) {
  std::optional<std::int64_t> first;
  for (const PriceRule& rule : list.rules) {
    const auto at = next_change_us(rule, unix_us);
    if (at) first = std::min(*at, first.value_or(*at));
  }
  return first;
}

std::string hours_text(const PriceWindow& window) {
  return clock_text(window.from_minute) + "-" + clock_text(window.to_minute);
}

Status parse_hours(std::string_view text, PriceWindow& window) {
  const std::size_t dash = text.find('-');
  const auto from = dash == std::string_view::npos ? std::nullopt : minutes_of(text.substr(0, dash));
  const auto to = dash == std::string_view::npos ? std::nullopt : minutes_of(text.substr(dash + 1));
  if (!from || !to || *from == kDayMinutes || *from == *to) {
    return invalid_argument("must be hours in UTC such as \"22-06\" or \"08:30-17:00\"");
  }
  window.from_minute = *from;
  window.to_minute = *to == 0 ? kDayMinutes : *to;
  return ok_status();
}

std::vector<std::string> days_of(const PriceWindow& window) {
  std::vector<std::string> days;
  for (unsigned day = 0; day < kDays.size(); ++day) {
    if ((window.days >> day & 1U) != 0) days.emplace_back(kDays.at(day));
  }
  return days;
}

Result<std::uint8_t> parse_day(std::string_view word) {
  const auto found = std::find(kDays.begin(), kDays.end(), word);
  if (found == kDays.end()) return invalid_argument("must be one of mon, tue, wed, thu, fri, sat, sun");
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(found - kDays.begin()));
}

}  // namespace tidepool
