// The simulated daemon whose state is read now and then, as the real one's is by its readers.
// What is looked at has been carried out and is durable; nothing of the run depends on it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "sim/simulated_daemon.hpp"

namespace tidepool::studies {

class WatchedDaemon final : public sim::Daemon {
 public:
  using Look = std::function<void(const core::ClusterState& state, Instant now)>;
  struct Watch {
    Duration every;  // at the first turn after so long, > 0
    Look look;
  };
  WatchedDaemon(sim::SimulatedDaemon::Setup setup, Watch watch)
      : daemon_(std::move(setup)), watch_(std::move(watch)), next_(Instant() + watch_.every) {}

  [[nodiscard]] std::vector<sim::Outgoing> receive(const std::vector<sim::Incoming>& batch, Instant now) override {
    auto out = daemon_.receive(batch, now);
    if (daemon_.alive() && now >= next_) {
      watch_.look(daemon_.state(), now);
      next_ = now + watch_.every;
    }
    return out;
  }
  [[nodiscard]] Status recover() override { return daemon_.recover(); }
  [[nodiscard]] bool alive() const override { return daemon_.alive(); }
  [[nodiscard]] const core::ClusterState& state() const override { return daemon_.state(); }
  [[nodiscard]] std::shared_ptr<const core::Job> ended(JobId job) const override { return daemon_.ended(job); }
  [[nodiscard]] std::optional<Instant> next_due() const override { return daemon_.next_due(); }
  [[nodiscard]] Books books() const override { return daemon_.books(); }

 private:
  sim::SimulatedDaemon daemon_;
  Watch watch_;
  Instant next_;
};

// For SimSetup::daemon.
[[nodiscard]] inline std::function<std::unique_ptr<sim::Daemon>(const sim::DaemonParts&)> watched_daemon(
    WatchedDaemon::Watch watch, std::function<std::int64_t()> stopwatch_ns = {}) {
  return [watch = std::move(watch), stopwatch_ns = std::move(stopwatch_ns)](const sim::DaemonParts& ground) {
    return std::make_unique<WatchedDaemon>(
        sim::SimulatedDaemon::Setup{.ground = ground, .journaled = false, .stopwatch_ns = stopwatch_ns}, watch);
  };
}

}  // namespace tidepool::studies
