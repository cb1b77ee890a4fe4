// A variable of the environment; empty if it is not set.
#pragma once

#include <cstdlib>
#include <string>

namespace tidepool::ctl {

[[nodiscard]] inline std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace tidepool::ctl
