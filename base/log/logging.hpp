// The daemon's log: one line an event on stderr, "time=… level=… event=…". Control characters are
// escaped, so that no client can forge a line. Secrets are never passed to it.
#pragma once

#include <string>

namespace tidepool::live {

// `level` is one of trace, debug, info, warn, error.
void start_logging(const std::string& level);

// The text with control characters as \xNN.
[[nodiscard]] std::string escape_controls(const std::string& text);

}  // namespace tidepool::live
