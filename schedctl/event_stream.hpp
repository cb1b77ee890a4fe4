// Follows /v1/events/stream from an event number, without gaps: a broken connection is resumed where it ended, also
// over a restart of the daemon.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "schedctl/http_client.hpp"

namespace tidepool::ctl {

struct SseMessage {
  std::string event;  // empty = "message"
  std::string data;   // empty: only the number of a heartbeat
  std::uint64_t id = 0;
};

// Converts lines of text/event-stream (WHATWG HTML, section 9.2.6) to messages; comments are skipped. A number without
// data is a message, too: it tells the reader of a filtered stream how far it has come.
class SseReader {
 public:
  // The message that this line completes, if it does.
  [[nodiscard]] std::optional<SseMessage> take(std::string_view line);

 private:
  SseMessage message_;
  bool has_data_ = false;
  bool has_id_ = false;
};

enum class FollowEnd {
  kStopped,  // on_event returned false
  kReset,    // the daemon no longer keeps events that far back: list again, then follow from there
  kTimeout,
};

inline constexpr std::chrono::seconds kPatience{30};  // how long a daemon may be away after it answered

// The daemon no longer keeps events as far back as `after`, or its newest event is older: it has another state.
struct StreamGap {
  std::uint64_t after = 0;
  std::uint64_t oldest = 0;
  std::uint64_t latest = 0;
};

struct FollowOptions {
  std::uint64_t after = 0;
  std::string filter = {};  // more of the query, as "&node=node-1"
  std::optional<std::chrono::steady_clock::time_point> until;
  std::chrono::seconds patience = kPatience;
  // Returns the number of the event after which to continue; nullopt, or no function: the stream ends with kReset.
  std::function<std::optional<std::uint64_t>(const StreamGap&)> on_gap = {};
};

// Calls `on_event` for each event, in order, until it returns false. Requires: the daemon has answered just before.
// Throws Failure if it is away for longer than `patience`, or refuses.
FollowEnd follow_events(const Endpoint& endpoint, const FollowOptions& options,
                        const std::function<bool(const nlohmann::json&)>& on_event);

}  // namespace tidepool::ctl
