#include "workers/agent/system/trouble_log.hpp"

#include <spdlog/spdlog.h>

#include "base/utf8.hpp"
#include "workers/agent/system/monotonic.hpp"

namespace tidepool::agent {
namespace {

// How long a source is remembered after its last line, with the number of lines left out.
constexpr Duration kKnownFor = TroubleLog::kEvery * 10;

}  // namespace

bool TroubleLog::warn(const std::string& source, const std::string& sentence) {
  const auto line = admit(source, sentence, monotonic_now());
  if (line) spdlog::warn("{}", *line);
  return line.has_value();
}

std::optional<std::string> TroubleLog::admit(const std::string& source, const std::string& sentence, Instant now) {
  std::erase_if(sources_, [&](const auto& known) { return known.second.logged_at + kKnownFor <= now; });
  const auto [known, is_new] = sources_.try_emplace(source, Source{.logged_at = now});
  if (!is_new && now < known->second.logged_at + kEvery) {
    ++known->second.left_out;
    return std::nullopt;
  }
  std::string line = cut_to(sentence, kLineMax);
  const std::int64_t left_out = known->second.left_out;
  if (left_out > 0) line += " (" + std::to_string(left_out) + " more of " + source + " were not logged)";
  known->second = {.logged_at = now};
  return line;
}

}  // namespace tidepool::agent
