// Reads a whole text file: a certificate, a token, a record of the agent.
//
// Rule: an error names the file and the reason, "cannot read /etc/ca.pem: No such file or directory"; the caller adds
// what to do about it.
#pragma once

#include <string>

#include "base/result.hpp"

namespace tidepool {

[[nodiscard]] Result<std::string> read_whole_file(const std::string& path);

}  // namespace tidepool
