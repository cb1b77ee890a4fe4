// The end that a notice announces: the machine is reclaimed then.
#pragma once

#include <string_view>

#include "base/time.hpp"

namespace tidepool::agent {

struct NoticeEnd {
  Instant at;              // by the wall clock
  bool understood = true;  // false: the text is neither a time nor empty, and the lead is used
};

// If the text is empty or TRUE: `lead` after `since`. Seconds, or a duration such as 90s: that long after `since`. A
// time in UTC or with an offset (2026-11-20T22:03:20Z), seconds since 1970, or a JSON object with such a "time": that
// time.
[[nodiscard]] NoticeEnd read_notice(std::string_view text, Instant since, Duration lead);

}  // namespace tidepool::agent
