// The version of the programs, which --version prints. CMakeLists.txt has the same version; configuring checks that.
#pragma once

namespace tidepool {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace tidepool
