#include "schedulerd/live/http/server/open_streams.hpp"

#include <algorithm>

namespace tidepool::live::http {

std::optional<Problem> OpenStreams::why_no_more(const std::string& token_id) {
  std::erase_if(held_, [](const Held& held) {
    const auto writer = held.writer.lock();
    return writer == nullptr || !writer->open();
  });
  const auto is_own = [&](const Held& held) { return held.token_id == token_id; };
  const auto own = static_cast<std::size_t>(std::count_if(held_.begin(), held_.end(), is_own));
  if (own >= limits_.per_token) {
    return Problem{.status = 429,
                   .code = "TooManyStreams",
                   .detail = "this token has " + std::to_string(own) +
                             " event streams and followed logs open, as many as one token may",
                   .hint = "close one, or ask an admin for a token for each program: schedctl token create"};
  }
  if (held_.size() < limits_.all) return std::nullopt;
  return Problem{.status = 503,
                 .code = "TooManyStreams",
                 .detail = std::to_string(held_.size()) +
                           " event streams and followed logs are open, as many as the daemon keeps for all together",
                 .hint = "try again later; without follow, events and logs are still read page by page"};
}

void OpenStreams::add(const std::string& token_id, const std::shared_ptr<StreamWriter>& writer) {
  held_.push_back({.token_id = token_id, .writer = writer});
}

}  // namespace tidepool::live::http
