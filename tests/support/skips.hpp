// A test case that needs what is absent here is skipped, and does not count as passed. A program of which every case
// was skipped ends with kSkipExit, which ctest shows as Skipped; one that skipped some names them when it ends.
#pragma once

#include <string>

namespace tidepool::test {

// Exit status; tests/CMakeLists tells it to ctest. A failure never ends with it: programs fail with 1.
inline constexpr int kSkipExit = 77;

// Notes that the case that runs is skipped, and why. The case then returns without a check.
void skip_case(const std::string& why);

}  // namespace tidepool::test
