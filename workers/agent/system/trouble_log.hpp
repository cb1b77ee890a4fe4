// Problems of workers, for the agent's log. Programs of jobs can cause them as often as they like, so one line a minute
// is logged for each source, which says how many were left out before it.
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

  // `source`: which worker, or which user, it is about. False: it was left out.
  bool warn(const std::string& source, const std::string& sentence);
  // warn() as what others call; it does not outlive the log.
  [[nodiscard]] std::function<void(const std::string& source, const std::string& sentence)> as_handler() {
    return [this](const std::string& source, const std::string& sentence) { warn(source, sentence); };
  }
  // The line as it is to be logged; nothing: it is left out.
  [[nodiscard]] std::optional<std::string> admit(const std::string& source, const std::string& sentence, Instant now);

 private:
  struct Source {
    Instant logged_at;
    std::int64_t left_out = 0;  // since
  };
  std::map<std::string, Source> sources_;  // of which something was logged lately
};

}  // namespace tidepool::agent
