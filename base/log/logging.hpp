// The log of a program: one line per event on stderr. Control characters are escaped, so that no client, job or peer
// can forge a line or control a terminal; a sentence is formatted with {:?}, which quotes it and escapes its quotes.
// Never pass secrets to it.
#pragma once

#include <string>

namespace tidepool {

struct LogStyle {
  std::string name;  // of the program
  // In spdlog's format, with %* for the message.
  std::string pattern = "time=%Y-%m-%dT%H:%M:%S.%eZ level=%l %*";
  bool colour = false;  // used if the output is a terminal
};

// `level` is one of trace, debug, info, warn, error.
void start_logging(const std::string& level, const LogStyle& style);

// The text with control characters written as \xNN.
[[nodiscard]] std::string escape_controls(const std::string& text);

}  // namespace tidepool
