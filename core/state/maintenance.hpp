// Windows in which nodes are worked on: they are to be empty when one begins, and take workers again when it has ended.
// Plain data; only Engine::step changes it.
//
// Rule: a window's times are UTC, as an operator means them. It closes the nodes that match it from its lead before it
// begins until it ends, whatever has become of them meanwhile; which those are follows from their labels at each
// moment.
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
  Selector selector;         // of nodes; one alone is selected by its name (kNodeLabel)
  std::int64_t from_us = 0;  // microseconds since 1970; of a window that comes again, the one that is or comes next
  std::int64_t to_us = 0;    // above from_us
  Duration lead;             // for so long before it begins its nodes are drained
  std::optional<Duration> every;  // it comes again so long after it began; none: it ends for good
  std::string reason;             // as its operator gave it; may be empty
  bool begun = false;             // it is under way, and an event has said so
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
