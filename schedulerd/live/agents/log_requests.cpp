#include "schedulerd/live/agents/log_requests.hpp"

#include <utility>

namespace tidepool::live {

std::uint64_t LogRequests::add(NodeId node, Done done) {
  const std::uint64_t number = next_++;
  waiting_.emplace(number, Waiting{node, std::move(done), 0});
  return number;
}

void LogRequests::answer(NodeId node, api::LogChunk chunk) {
  const auto asked = waiting_.find(chunk.request);
  if (asked == waiting_.end() || asked->second.node != node) return;
  finish(chunk.request, LogPage{std::move(chunk.data), chunk.offset, chunk.next_offset, chunk.eof});
}

void LogRequests::tick(const std::function<bool(NodeId)>& is_connected) {
  const auto asked = waiting_;
  for (const auto& [number, request] : asked) {
    if (++waiting_[number].ticks > kLogTicksMax || !is_connected(request.node)) {
      finish(number, Error{ErrorCode::kUnavailable, "the worker's node does not answer; try again later"});
    }
  }
}

void LogRequests::give_up(const std::string& why) {
  const auto asked = waiting_;
  for (const auto& [number, request] : asked) finish(number, Error{ErrorCode::kUnavailable, why});
}

void LogRequests::finish(std::uint64_t number, Result<LogPage> page) {
  const auto found = waiting_.find(number);
  if (found == waiting_.end()) return;  // answered or given up before
  const auto done = std::move(found->second.done);
  waiting_.erase(found);
  done(std::move(page));
}

}  // namespace tidepool::live
