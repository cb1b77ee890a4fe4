// Windows in which nodes are maintained: the nodes must be empty when a window begins, and accept workers again when it
// has ended. Plain data; only Engine::step changes it.
//
// Rule: a window's times are UTC, as an operator means them. The window closes the nodes that match its selector from
// its lead before the beginning until its end, whatever happened to them meanwhile; which nodes match follows from
// their labels at each moment.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "core/state/job_spec.hpp"

namespace tidepool::core {

using WindowNumber = std::uint64_t;  // counts all windows that were ever added, from 1

struct MaintenanceWindow {
  WindowNumber number = 0;
  Selector selector;              // of nodes; a single node is selected by its name (kNodeLabel)
  std::int64_t from_us = 0;       // microseconds since 1970; of a recurring window: the present or next occurrence
  std::int64_t to_us = 0;         // above from_us
  Duration lead;                  // its nodes are drained this long before it begins
  std::optional<Duration> every;  // period of a recurring window; none: it takes place once
  std::string reason;             // as its operator gave it; may be empty
  bool begun = false;             // it has begun, and an event has reported it
  bool operator==(const MaintenanceWindow&) const = default;
};

struct Maintenance {
  std::map<WindowNumber, MaintenanceWindow> windows;
  WindowNumber next = 1;
  bool operator==(const Maintenance&) const = default;
};

inline constexpr std::size_t kWindowsMax = 256;

[[nodiscard]] inline std::string window_name(WindowNumber number) {
  return "mw-" + std::to_string(number);
}

}  // namespace tidepool::core
