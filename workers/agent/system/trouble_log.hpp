// Problems of workers, for the agent's log. Programs of jobs can cause them without limit, so one line per minute is
// logged for each source; the line says how many were left out before it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/time.hpp"

namespace tidepool::agent {

class TroubleLog {
 public:
  static constexpr Duration kEvery = Duration::seconds(60);
  static constexpr std::size_t kLineMax = 1'024;  // bytes of a sentence; the rest is cut off

  // `source`: the worker or the user concerned. False: the sentence was left out.
  bool warn(const std::string& source, const std::string& sentence);
  // warn() as a handler; it must not outlive the log.
  [[nodiscard]] std::function<void(const std::string& source, const std::string& sentence)> as_handler() {
    return [this](const std::string& source, const std::string& sentence) { warn(source, sentence); };
  }
  // The line to log; nothing: the sentence is left out.
  [[nodiscard]] std::optional<std::string> admit(const std::string& source, const std::string& sentence, Instant now);

 private:
  struct Source {
    Instant logged_at;
    std::int64_t left_out = 0;  // since logged_at
  };
  std::map<std::string, Source> sources_;  // sources with recent log lines
};

}  // namespace tidepool::agent
