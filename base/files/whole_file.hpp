// The text of a file that is read whole: a certificate, a token, a record of the agent.
//
// Rule: an error names the file and the reason, "cannot read /etc/ca.pem: No such file or directory"; what to do about
// it is for the caller to add.
#pragma once

#include <string>

#include "base/result.hpp"

namespace tidepool {

[[nodiscard]] Result<std::string> read_whole_file(const std::string& path);

}  // namespace tidepool
