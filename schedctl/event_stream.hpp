// Follows /v1/events/stream from a number on, without gaps: a broken connection is taken up again where it
// ended, also over a restart of the daemon.
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

// Lines of text/event-stream (WHATWG HTML, section 9.2.6) into messages; comments are left out. A number without data
// is a message, too: a reader of a few events learns by it how far it has come.
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
  kStopped,  // on_event said so
  kReset,    // the daemon no longer keeps events that far back: list again, then follow from there
  kTimeout,
};

inline constexpr std::chrono::seconds kPatience{30};  // how long a daemon that was there may be away

// The daemon keeps no events as far back as `after`, or none so new: its state is another one.
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

// Calls `on_event` for each event, in order, until it returns false. The caller has spoken with the daemon just
// before. Throws Failure when it stays away longer than `patience`, or refuses.
FollowEnd follow_events(const Endpoint& endpoint, const FollowOptions& options,
                        const std::function<bool(const nlohmann::json&)>& on_event);

}  // namespace tidepool::ctl
