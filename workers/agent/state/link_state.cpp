#include "workers/agent/state/link_state.hpp"

#include <algorithm>
#include <utility>

#include "base/first_after.hpp"

namespace tidepool::agent {

LinkState::LinkState(const AgentTimes& times, std::uint64_t seed, Instant now)
    : times_(times), rng_(seed), connect_at_(now) {}

void LinkState::opened(Instant now) {
  at_ = At::kGreeted;
  give_up_at_ = now + times_.welcome_patience;
}

void LinkState::welcome(Instant now, Duration heartbeat) {
  at_ = At::kWelcomed;
  failed_attempts_ = 0;
  give_up_at_.reset();
  heartbeat_ = heartbeat;
  heartbeat_at_ = now + heartbeat_;
}

void LinkState::closed(Instant now) {
  at_ = At::kDown;
  give_up_at_.reset();
  heartbeat_at_.reset();
  const bool refused = std::exchange(refused_, false);
  refusals_ = refused ? refusals_ + 1 : 0;
  const int doublings = std::min(refused ? refusals_ : failed_attempts_++, 20);
  const Duration longest = refused ? times_.refused_max : times_.backoff_max;
  const Duration full = std::min(times_.backoff_min * (std::int64_t{1} << doublings), longest);
  connect_at_ = now + Duration::micros(rng_.between(full.count_us() / 2, full.count_us()));
}

LinkState::Due LinkState::take_due(Instant now) {
  const auto is_due = [now](const std::optional<Instant>& at) { return at && *at <= now; };
  const Due due{.heartbeat = is_due(heartbeat_at_), .gives_up = is_due(give_up_at_), .connects = is_due(connect_at_)};
  if (due.heartbeat) heartbeat_at_ = now + heartbeat_;
  if (due.gives_up) give_up_at_.reset();
  return due;
}

void LinkState::connect() {
  connect_at_.reset();
  at_ = At::kConnecting;
}

std::optional<Instant> LinkState::deadline() const {
  FirstAfter earliest;
  earliest.consider(connect_at_);
  earliest.consider(give_up_at_);
  earliest.consider(heartbeat_at_);
  return earliest.found();
}

}  // namespace tidepool::agent
