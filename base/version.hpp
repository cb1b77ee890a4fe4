// The version of the programs, which --version prints. CMakeLists.txt says the same, and configuring checks it.
#pragma once

namespace tidepool {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace tidepool
