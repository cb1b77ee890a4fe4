// The log of a program: one line an event on stderr. Control characters are escaped, so that no client, job or peer can
// forge a line or steer a terminal; a sentence is formatted with {:?}, which puts it in quotes and escapes those
// within. Secrets are never passed to it.
#pragma once

#include <string>

namespace tidepool {

struct LogStyle {
  std::string name;  // of the program
  // As spdlog has them, with %* for the message.
  std::string pattern = "time=%Y-%m-%dT%H:%M:%S.%eZ level=%l %*";
  bool colour = false;  // where it goes to a terminal
};

// `level` is one of trace, debug, info, warn, error.
void start_logging(const std::string& level, const LogStyle& style);

// The text with control characters as \xNN.
[[nodiscard]] std::string escape_controls(const std::string& text);

}  // namespace tidepool
