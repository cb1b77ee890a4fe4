// The timing of the agent's link to the daemon: when it is opened again, how long the daemon may take to answer the
// hello, and when a heartbeat is due.
//
// Rule: each of these has at most one time, set only while it matters. After a lost link the waits between attempts
// double, with jitter, so that a thousand agents do not return in the same instant. A daemon that refuses is tried less
// often, because each attempt is in its log.
#pragma once

#include <cstdint>
#include <optional>

#include "base/rng.hpp"
#include "base/time.hpp"

namespace tidepool::agent {

struct AgentTimes {
  Duration backoff_min = Duration::millis(50);
  Duration backoff_max = Duration::seconds(2);
  Duration refused_max = Duration::seconds(30);  // between attempts at a daemon that refuses
  Duration welcome_patience = Duration::seconds(10);
  Duration silence_max = Duration::seconds(10);  // between two pulses; shorter if a worker says so
  Duration stop_grace = Duration::seconds(10);   // for workers when the agent itself is asked to stop them
  std::optional<Duration> exit_when_idle;        // ends after that long without daemon and without worker
};

class LinkState {
 public:
  // The link is down at first and is opened at once.
  LinkState(const AgentTimes& times, std::uint64_t seed, Instant now);

  [[nodiscard]] bool welcomed() const { return at_ == At::kWelcomed; }

  // Call when the link is open and the hello is sent.
  void opened(Instant now);
  void welcome(Instant now, Duration heartbeat);
  // The daemon has refused this agent; the link is closed next.
  void refuse() { refused_ = true; }
  void closed(Instant now);

  // What is due now. heartbeat and gives_up are reported once, connects until connect() is called.
  struct Due {
    bool heartbeat = false;
    bool gives_up = false;  // because the daemon has not answered the hello
    bool connects = false;
  };
  [[nodiscard]] Due take_due(Instant now);
  void connect();
  // The earliest of the due times; none = nothing is due.
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
