// A scenario is a few lines that anyone can read; running it prints what the engine decided, and why,
// in the sentences that users see. The commands are listed in README.md of this folder.
#pragma once

#include <string>

#include "base/result.hpp"

namespace tidepool::test {

// The log of the scenario, or an error that names the line.
[[nodiscard]] Result<std::string> run_scenario(const std::string& commands);

}  // namespace tidepool::test
