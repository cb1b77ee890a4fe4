#include "core/money/pool_ledger.hpp"

#include <algorithm>
#include <utility>

#include "base/accrual.hpp"
#include "base/calendar.hpp"

namespace tidepool::core {
namespace {

bool has_slots(const PoolLedger& ledger) {
  return std::any_of(ledger.types.begin(), ledger.types.end(), [](const auto& type) {
    return std::any_of(kPoolClasses.begin(), kPoolClasses.end(),
                       [&](PoolClass each) { return type.second[each].now.slots > 0; });
  });
}

void count_part(PoolLedger& ledger, Duration passed) {
  for (auto& [type, parts] : ledger.types) {
    for (const PoolClass each : kPoolClasses) {
      PoolPart& part = parts[each];
      part.used.slot_time += passed * part.now.slots;
      accrue(part.now.rate, passed, part.used.cost, part.remainder);
    }
  }
}

// Stores the account of the day, and begins the next day at zero.
void turn_to(PoolLedger& ledger, std::int64_t day) {
  const std::int64_t over = std::exchange(ledger.day, day);
  const PoolDayId id(static_cast<std::uint64_t>(over) + 1);
  for (auto& [type, parts] : ledger.types) {
    for (const PoolClass each : kPoolClasses) {
      const Used used = std::exchange(parts[each].used, {});
      if (used == Used()) continue;
      PoolDay& row = ledger.days[id];
      row.id = id;
      row.types[type][each] = row.types[type][each] + used;  // the calendar may have been set back
    }
  }
}

}  // namespace

const char* to_text(PoolClass of) {
  switch (of) {
    case PoolClass::kFree: return "free";
    case PoolClass::kFragmentation: return "fragmentation";
    case PoolClass::kUnavailable: return "unavailable";
  }
  return "";
}

void PoolLedger::count_until(Instant until, std::int64_t utc_us_at_zero) {
  if (until <= counted_until) return;
  const auto day_at = [&](Instant at) { return std::max<std::int64_t>(0, day_of(at.count_us() + utc_us_at_zero)); };
  while (has_slots(*this)) {
    if (const std::int64_t today = day_at(counted_until); today != day) turn_to(*this, today);
    const Instant end = Instant::from_micros((day + 1) * kDayMicros - utc_us_at_zero);
    const Instant next = std::min(until, end);
    count_part(*this, next - counted_until);
    counted_until = next;
    if (next == until) return;
  }
  counted_until = until;
}

}  // namespace tidepool::core
