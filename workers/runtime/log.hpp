// The runtime's log: lines on standard error, of which the agent keeps the last one as the reason of an exit. Standard
// output belongs to the training program.
#pragma once

#include <string>

namespace tidepool::runtime {

void log_info(const std::string& line);
void log_warning(const std::string& line);

}  // namespace tidepool::runtime
