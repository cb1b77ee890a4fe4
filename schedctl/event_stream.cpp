#include "schedctl/event_stream.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/session.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// One connection's worth of reading; keeps the place for the next one.
class Reading {
 public:
  Reading(std::uint64_t after, const std::function<bool(const json&)>& on_event) : after_(after), on_event_(on_event) {}

  bool take_line(std::string_view line) {
    const auto message = sse_.take(line);
    if (!message) return true;
    if (message->data.empty()) {
      after_ = std::max(after_, message->id);
      return true;
    }
    const auto event = parse_json(message->data);
    if (!event.ok()) fail(kExitApi, "an event of the daemon is " + event.error().message);
    if (message->event == "reset") {
      gap_ = StreamGap{after_, number_of(*event, "/oldest_seq"), number_of(*event, "/latest_seq")};
      ended_ = FollowEnd::kReset;
      return false;
    }
    const std::uint64_t seq = number_of(*event, "/seq");
    if (seq <= after_) return true;
    after_ = seq;
    if (on_event_(*event)) return true;
    ended_ = FollowEnd::kStopped;
    return false;
  }

  void begin_connection() { sse_ = SseReader(); }
  // After a gap: continues where `on_gap` says.
  void pass_gap(const std::function<std::optional<std::uint64_t>(const StreamGap&)>& on_gap) {
    if (ended_ != FollowEnd::kReset || !on_gap) return;
    const auto after = on_gap(gap_);
    if (!after) return;
    after_ = *after;
    ended_.reset();
  }
  [[nodiscard]] std::uint64_t after() const { return after_; }
  [[nodiscard]] std::optional<FollowEnd> ended() const { return ended_; }

 private:
  static std::uint64_t number_of(const json& value, const char* pointer) {
    return static_cast<std::uint64_t>(number_at(value, pointer).value_or(0));
  }

  std::uint64_t after_;
  const std::function<bool(const json&)>& on_event_;
  SseReader sse_;
  std::optional<FollowEnd> ended_;
  StreamGap gap_;
};

// 0 = without end.
long seconds_left(const FollowOptions& options) {
  if (!options.until) return 0;
  const auto left = std::chrono::ceil<std::chrono::seconds>(*options.until - Clock::now()).count();
  return static_cast<long>(std::max<std::int64_t>(1, left));
}

}  // namespace

std::optional<SseMessage> SseReader::take(std::string_view line) {
  if (line.empty()) {
    SseMessage done = std::exchange(message_, {});
    const bool is_number = std::exchange(has_id_, false);
    return std::exchange(has_data_, false) || is_number ? std::optional(done) : std::nullopt;
  }
  const auto colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "event") message_.event = value;
  if (name == "id") {
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), message_.id);
    has_id_ = error == std::errc() && end == value.data() + value.size();
  }
  if (name == "data") {
    if (has_data_) message_.data += '\n';
    message_.data += value;
    has_data_ = true;
  }
  return std::nullopt;
}

FollowEnd follow_events(const Endpoint& endpoint, const FollowOptions& options,
                        const std::function<bool(const json&)>& on_event) {
  HttpClient client(endpoint);
  Reading reading(options.after, on_event);
  std::optional<Clock::time_point> away_since = Clock::now();  // until the first line
  for (bool first = true;; first = false) {
    reading.begin_connection();
    HttpReply reply;
    try {
      reply = client.stream(
          "/v1/events/stream?after=" + std::to_string(reading.after()) + options.filter,
          [&](std::string_view line) {
            away_since.reset();
            return reading.take_line(line);
          },
          seconds_left(options));
    } catch (const Failure& failure) {
      const bool is_away = away_since && Clock::now() - *away_since < options.patience;
      const bool may_come_back = is_away && (!first || failure.may_pass);
      if (failure.exit_code == kExitUsage || !may_come_back) throw;
    }
    const bool may_pass = is_retryable(reply) && away_since && Clock::now() - *away_since < options.patience;
    if (reply.status != 0 && !may_pass) require_success(reply);
    reading.pass_gap(options.on_gap);
    if (reading.ended()) return *reading.ended();
    if (options.until && Clock::now() >= *options.until) return FollowEnd::kTimeout;
    if (!away_since) away_since = Clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(250));  // the pause between two attempts
  }
}

}  // namespace tidepool::ctl
