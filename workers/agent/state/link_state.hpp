// The agent's link to the daemon as time passes: when it is opened again, how long its greeting may take, and when a
// heartbeat is due.
//
// Rule: there is one time for each of these at most, and only while it can matter. After a link that was lost the next
// try waits twice as long each time, with jitter, so that a thousand agents do not return in the same instant; a daemon
// that refuses is tried less often, as each try is in its log.
#pragma once

#include <cstdint>
#include <optional>

#include "base/rng.hpp"
#include "base/time.hpp"

namespace tidepool::agent {

struct AgentTimes {
  Duration backoff_min = Duration::millis(50);
  Duration backoff_max = Duration::seconds(2);
  Duration refused_max = Duration::seconds(30);  // between tries of one that the daemon refuses: each is in its log
  Duration welcome_patience = Duration::seconds(10);
  Duration silence_max = Duration::seconds(10);  // between two pulses; shorter if a worker says so
  Duration stop_grace = Duration::seconds(10);   // of workers when the agent itself is told to stop them
  std::optional<Duration> exit_when_idle;        // without daemon and without worker for that long
};

class LinkState {
 public:
  // It is down, and opened at once.
  LinkState(const AgentTimes& times, std::uint64_t seed, Instant now);

  [[nodiscard]] bool welcomed() const { return at_ == At::kWelcomed; }

  // The hello goes out.
  void opened(Instant now);
  void welcome(Instant now, Duration heartbeat);
  // The daemon will have none of this agent, and the link is closed next.
  void refuse() { refused_ = true; }
  void closed(Instant now);

  // What is due by now: the first two once, a connection until connect().
  struct Due {
    bool heartbeat = false;
    bool gives_up = false;  // on a daemon that has not answered the hello
    bool connects = false;
  };
  [[nodiscard]] Due take_due(Instant now);
  void connect();
  // The first of these; none = there is none.
  [[nodiscard]] std::optional<Instant> deadline() const;

 private:
  enum class At { kDown, kConnecting, kGreeted, kWelcomed };

  AgentTimes times_;
  Rng rng_;
  At at_ = At::kDown;
  int failed_attempts_ = 0;
  int refusals_ = 0;  // in a row
  bool refused_ = false;
  Duration heartbeat_ = Duration::seconds(1);
  std::optional<Instant> connect_at_;
  std::optional<Instant> give_up_at_;
  std::optional<Instant> heartbeat_at_;
};

}  // namespace tidepool::agent
