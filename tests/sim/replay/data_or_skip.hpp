// The published measurements for a test case, which is skipped where they are absent.
#pragma once

#include "tests/sim/replay/published_data.hpp"
#include "tests/support/skips.hpp"

namespace tidepool::test {

inline std::optional<std::filesystem::path> data_or_skip(const std::string& folder) {
  auto data = published_data(folder);
  if (!data) skip_case("it needs the published data, folder " + folder);
  return data;
}

}  // namespace tidepool::test
