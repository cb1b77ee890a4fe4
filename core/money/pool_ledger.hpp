// The pool's account: the cost of slots while no worker holds them, by slot type and class. It belongs to no tenant.
//
// Rule: each slot of a node that is up is charged to exactly one account at any moment, at the node's price: to the job
// whose worker holds it, or to a class of this account. So the total of all accounts is exactly slots x time x price.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/id_table.hpp"
#include "base/money.hpp"
#include "base/strong_id.hpp"
#include "base/time.hpp"
#include "core/money/overheads.hpp"

namespace tidepool::core {

enum class PoolClass {
  kFree,           // no waiting job would take them
  kFragmentation,  // a waiting job may run on their type, but the free slots have no room for it
  kUnavailable,    // on nodes that accept no workers, and quarantined slots
};
inline constexpr std::array kPoolClasses{PoolClass::kFree, PoolClass::kFragmentation, PoolClass::kUnavailable};
[[nodiscard]] const char* to_text(PoolClass of);  // "free", "fragmentation", "unavailable"

template <class T>
class ByPoolClass {
 public:
  [[nodiscard]] T& operator[](PoolClass of) { return parts_[static_cast<std::size_t>(of)]; }
  [[nodiscard]] const T& operator[](PoolClass of) const { return parts_[static_cast<std::size_t>(of)]; }
  bool operator==(const ByPoolClass&) const = default;

 private:
  std::array<T, kPoolClasses.size()> parts_;
};

// Slots not held by any worker that counts as available, and their cost per hour.
struct UnheldSlots {
  std::int64_t slots = 0;
  Money rate;
  bool operator==(const UnheldSlots&) const = default;
};

// The account of one type and class.
struct PoolPart {
  UnheldSlots now;             // since PoolLedger::counted_until
  Used used;                   // on PoolLedger::day, up to then
  std::int64_t remainder = 0;  // of the cost of all days, in units of 1 / kUsPerHour millionths
  bool operator==(const PoolPart&) const = default;
};

struct PoolDayTag {
  static constexpr const char* kPrefix = "day";
};
using PoolDayId = StrongId<PoolDayTag>;  // days since 1970, UTC, plus 1

// A past day; it is written once.
struct PoolDay {
  PoolDayId id;
  std::map<std::string, ByPoolClass<Used>> types;
};

struct PoolLedger {
  Instant counted_until;
  std::int64_t day = 0;                                // since 1970, UTC: the day of counted_until
  std::map<std::string, ByPoolClass<PoolPart>> types;  // every type that ever existed
  SharedIdTable<PoolDayId, PoolDay> days;              // past days with any use

  // Does nothing if that time was counted already. `utc_us_at_zero`: as in the state.
  void count_until(Instant until, std::int64_t utc_us_at_zero);
};

// Calls on_use(day, type, class, used) for each in the days from `from` to `to`, in order.
void for_each_use(const PoolLedger& ledger, std::int64_t from, std::int64_t to, auto&& on_use) {
  const auto tell = [&](std::int64_t day, const std::string& type, const auto& used_in) {
    for (const PoolClass each : kPoolClasses) {
      if (const Used used = used_in(each); used != Used()) on_use(day, type, each, used);
    }
  };
  for (const auto& [id, row] : ledger.days) {
    const auto day = static_cast<std::int64_t>(id.number()) - 1;
    if (day < from || day > to) continue;
    for (const auto& [type, used] : row.types) tell(day, type, [&used](PoolClass each) { return used[each]; });
  }
  if (ledger.day < from || ledger.day > to) return;
  for (const auto& [type, parts] : ledger.types) {
    tell(ledger.day, type, [&parts](PoolClass each) { return parts[each].used; });
  }
}

}  // namespace tidepool::core
