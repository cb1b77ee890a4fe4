// The fields of the pool's account. Private to the core's codecs.
#pragma once

#include "core/codec/account_fields.hpp"
#include "core/money/pool_ledger.hpp"

namespace tidepool::core {

void fields(auto& archive, codec::Like<UnheldSlots> auto& held) {
  archive("slots", held.slots);
  archive("rate", held.rate);
}

void fields(auto& archive, codec::Like<PoolPart> auto& part) {
  archive("now", part.now);
  archive("used", part.used);
  archive("remainder", part.remainder);
}

void fields(auto& archive, codec::Like<ByPoolClass<Used>> auto& classes) {
  for (const PoolClass each : kPoolClasses) archive(to_text(each), classes[each]);
}

void fields(auto& archive, codec::Like<ByPoolClass<PoolPart>> auto& classes) {
  for (const PoolClass each : kPoolClasses) archive(to_text(each), classes[each]);
}

void fields(auto& archive, codec::Like<PoolDay> auto& day) {
  archive("id", day.id);
  archive("types", day.types);
}

// Without the past days, which are rows.
void fields(auto& archive, codec::Like<PoolLedger> auto& ledger) {
  archive("counted_until", ledger.counted_until);
  archive("day", ledger.day);
  archive("types", ledger.types);
}

}  // namespace tidepool::core
