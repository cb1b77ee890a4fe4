// The real daemon loop in the place of the simulated one: real journal on a temporary disk, real engine,
// executor and recovery. Between it and the simulated agents runs the worker protocol, each message encoded and decoded
// as on a wire; the clock is the simulator's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schedulerd/live/journal_reads.hpp"
#include "schedulerd/live/loop.hpp"
#include "schedulerd/live/store/history.hpp"
#include "sim/daemon.hpp"
#include "sim/turn_messages.hpp"
#include "tests/support/manual_clock.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tidepool::test {

class LiveDaemon final : public sim::Daemon {
 public:
  struct Options {
    // Before every n-th turn the daemon is dropped without a word and recovered from its files, which must change
    // nothing. 0 = never.
    std::uint64_t recover_every = 0;
    // A fault planted by a test: the loop gets what arrived together in the opposite order.
    bool turns_batches_round = false;
  };
  LiveDaemon(sim::DaemonParts ground, Options options);
  ~LiveDaemon() override;

  [[nodiscard]] std::vector<sim::Outgoing> receive(const std::vector<sim::Incoming>& batch, Instant now) override;
  [[nodiscard]] Status recover() override;
  [[nodiscard]] bool alive() const override { return loop_ != nullptr; }
  [[nodiscard]] const core::ClusterState& state() const override { return loop_->state(); }
  [[nodiscard]] std::shared_ptr<const core::Job> ended(JobId job) const override { return history_->ended_job(job); }
  [[nodiscard]] std::optional<Instant> next_due() const override { return loop_->next_due(); }
  [[nodiscard]] Books books() const override;

 private:
  class Post final : public live::Outbox {
   public:
    void post(std::vector<live::OutboxItem> items) override;
    std::vector<live::OutboxItem> items;
  };

  // With a key it is passed on.
  [[nodiscard]] std::function<void(Result<live::Receipt>)> answer_to(std::string key);
  void tell_decisions();

  sim::DaemonParts ground_;
  Options options_;
  TemporaryFolder folder_;
  ManualClock clock_;
  live::Publisher publisher_;
  Post post_;
  std::unique_ptr<live::Journal> journal_;
  std::unique_ptr<live::DaemonClock> daemon_clock_;
  std::unique_ptr<live::Inbox> inbox_;
  std::unique_ptr<live::Loop> loop_;
  std::unique_ptr<live::SqliteHistory> history_;
  std::unique_ptr<live::JournalReads> reads_;
  sim::NodeIds ids_;
  Instant clock_at_;  // of the daemon's own line
  DecisionId told_;   // the newest decision that was passed on
  std::uint64_t turns_ = 0;
  int lives_ = 0;
  std::vector<sim::Outgoing> answers_;  // of this turn
  std::vector<std::string> refused_;
};

}  // namespace tidepool::test
