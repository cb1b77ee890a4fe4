#include "studies/replay/pool_text.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "base/number_text.hpp"
#include "base/word_list.hpp"
#include "sim/text_lines.hpp"

namespace tidepool::sim {
namespace {

constexpr std::int64_t kWorthPerPrice = 2;  // where the text says none

template <class Number>
bool read_number(std::string_view text, Number low, Number high, Number& into) {
  const auto value = parse_number<Number>(text);
  if (!value || !(*value >= low && *value <= high)) return false;
  into = *value;
  return true;
}

bool read_time(std::string_view text, Duration low, Duration& into) {
  const auto time = parse_duration(text);
  if (time.ok() && *time >= low) into = *time;
  return time.ok() && *time >= low;
}

bool read_money(std::string_view text, Money& into) {
  const auto money = parse_price(text);
  if (money.ok()) into = *money;
  return money.ok();
}

bool read_name(std::string_view text, std::string& into) {
  into = text;
  return !text.empty() && text != "node" && text.size() <= 40 &&
         std::ranges::all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

bool read_type(std::string_view text, std::string& into) {
  into = text;
  return !text.empty();
}

// One setting: how it is read, and what it may be.
struct Setting {
  std::string_view name;
  bool (*read)(std::string_view value, PoolModel& pool);
  const char* rule;
};
constexpr Duration kSecond = Duration::seconds(1);
constexpr const char* kMoneyRule = "an amount of money such as 2.50";
constexpr const char* kChanceRule = "a number from 0 to 0.9";
constexpr const char* kTimeRule = "a time of at least 1s, such as 10m";
constexpr Setting kSettings[] = {
    {"name", [](std::string_view v, PoolModel& p) { return read_name(v, p.spec.name); },
     "1 to 40 small letters, digits and \"-\", and not \"node\", as those of --cluster are called"},
    {"slots", [](std::string_view v, PoolModel& p) { return read_number(v, 1, 1'024, p.spec.slots_per_node); },
     "a whole number from 1 to 1024"},
    {"type", [](std::string_view v, PoolModel& p) { return read_type(v, p.spec.slot_type); }, "a type of slot"},
    {"price", [](std::string_view v, PoolModel& p) { return read_money(v, p.spec.price_per_slot_hour); }, kMoneyRule},
    {"worth", [](std::string_view v, PoolModel& p) { return read_money(v, p.spec.worth_per_slot_hour); }, kMoneyRule},
    {"min", [](std::string_view v, PoolModel& p) { return read_number(v, 0, 10'000, p.spec.min); },
     "a whole number from 0 to 10000"},
    {"max", [](std::string_view v, PoolModel& p) { return read_number(v, 1, 10'000, p.spec.max); },
     "a whole number from 1 to 10000"},
    {"idle", [](std::string_view v, PoolModel& p) { return read_time(v, kSecond, p.spec.idle); }, kTimeRule},
    {"lead", [](std::string_view v, PoolModel& p) { return read_time(v, kSecond, p.spec.lead_time); }, kTimeRule},
    {"spread", [](std::string_view v, PoolModel& p) { return read_number(v, 0.0, 0.9, p.lead_spread); }, kChanceRule},
    {"create-fails", [](std::string_view v, PoolModel& p) { return read_number(v, 0.0, 0.9, p.create_fails); },
     kChanceRule},
    {"never-joins", [](std::string_view v, PoolModel& p) { return read_number(v, 0.0, 0.9, p.never_joins); },
     kChanceRule},
    {"spot", [](std::string_view v, PoolModel& p) { return p.spec.spot = true, v.empty(); }, "alone, without a value"},
    {"reclaim-every", [](std::string_view v, PoolModel& p) { return read_time(v, kSecond, p.reclaim_every); },
     kTimeRule},
    {"notice", [](std::string_view v, PoolModel& p) { return read_time(v, Duration(), p.reclaim_notice); },
     "a time such as 2m"},
};

std::string names() {
  return word_list(kSettings, &Setting::name);
}

Status check(const PoolModel& pool, const std::set<std::string_view>& given, const std::string& text) {
  const auto wrong = [&](const std::string& why) { return invalid_argument("--pool \"" + text + "\": " + why); };
  if (!given.contains("slots")) return wrong("say how many slots a node has, such as slots=8");
  if (!given.contains("max")) return wrong("say how many nodes there may be, such as max=16");
  if (pool.spec.min > pool.spec.max) return wrong("min must not be above max");
  if (pool.spec.worth_per_slot_hour < pool.spec.price_per_slot_hour) {
    return wrong("worth must not be below price, or no node is ever worth it");
  }
  if (given.contains("reclaim-every") && !pool.spec.spot) return wrong("only nodes of a spot pool are taken back");
  if (given.contains("notice") && !given.contains("reclaim-every")) {
    return wrong("notice is given before a node is taken back; say how often that is, such as reclaim-every=12h");
  }
  return ok_status();
}

}  // namespace

Result<PoolModel> parse_pool(std::string_view text) {
  PoolModel pool;
  pool.spec = {.name = "pool",
               .price_per_slot_hour = Money::micros(1'000'000),
               .idle = Duration::seconds(600),
               .lead_time = Duration::seconds(120)};
  pool.reclaim_notice = Duration::seconds(120);
  std::set<std::string_view> given;
  for (const std::string_view part : cells_of(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? "" : part.substr(equals + 1);
    const auto* const setting = std::ranges::find_if(kSettings, [&](const Setting& any) { return any.name == name; });
    const auto wrong = [&](const std::string& why) {
      return invalid_argument("--pool \"" + std::string(text) + "\": " + why);
    };
    if (setting == std::end(kSettings)) {
      return wrong("there is no setting \"" + std::string(name) + "\"; there are: " + names());
    }
    if (!given.insert(name).second) return wrong(std::string(name) + " is given twice");
    if (!setting->read(value, pool)) return wrong(std::string(name) + " must be " + setting->rule);
  }
  if (!given.contains("worth")) {
    pool.spec.worth_per_slot_hour = Money::micros(pool.spec.price_per_slot_hour.count_micros() * kWorthPerPrice);
  }
  TP_TRY(check(pool, given, std::string(text)));
  return pool;
}

}  // namespace tidepool::sim
