// A duration in a test that a policy's author writes, such as "10m".
#pragma once

#include "base/json.hpp"
#include "base/time.hpp"

namespace tidepool::policies::host {

// `usual` where the field is absent; a value that is not a valid duration is a finding, and gives zero.
[[nodiscard]] inline Duration read_time(ObjectReader& in, const char* name, const char* usual) {
  const auto time = parse_duration(in.text(name, usual));
  if (time) return *time;
  in.fail(name, "Invalid", time.error().message);
  return {};
}

}  // namespace tidepool::policies::host
