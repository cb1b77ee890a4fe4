// Writes turns to the journal on its own thread, so that the next turn is computed while the last one is written.
// Waiting turns are written as one commit, in order; only then readers see the picture, clients get their answers,
// subscribers the events and agents their orders (docs/adr/0039-written-behind.md).
//
// Rule: nothing of a turn leaves before it and all earlier turns are durable. After a failure nothing is written and
// nothing is sent any more: drop the writer, exit, recover. From the first put() to the return of settle() the journal
// belongs to this thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "core/decide/stage_times.hpp"
#include "schedulerd/leader/turn_result.hpp"
#include "schedulerd/live/service/clock.hpp"
#include "schedulerd/live/service/inbox.hpp"
#include "schedulerd/live/service/publisher.hpp"
#include "schedulerd/live/store/journal.hpp"
#include "schedulerd/live/store/journal_rows.hpp"

namespace tidepool::live {

class TurnWriter {
 public:
  // References of the writer; each outlives it.
  struct Links {
    Journal& journal;
    Outbox& outbox;
    Publisher& publisher;
  };
  // Durations, and the number of failures in the turn without an event of their own.
  struct TurnTimes {
    Duration round;                  // to apply facts and to decide
    std::optional<Duration> commit;  // to make it durable; none: part of the previous turn's commit
    core::StageTimes stages;
    std::size_t checkpoint_failures = 0;
  };
  using OnTurn = std::function<void(const TurnTimes&)>;
  using Done = std::function<void(Result<Receipt>)>;

  struct Turn {
    RowTime time;
    StoredClock clock;
    leader::TurnResult result;
    std::vector<Done> answers;  // by item; empty where none is awaited
    // The shadow report to be stored; null = none any longer.
    std::optional<std::shared_ptr<const ShadowReport>> shadow;
    core::ClusterState state;                  // after it
    std::shared_ptr<const Published> picture;  // null: nothing new for readers
    TurnTimes took;
  };
  // Of the newest commit.
  struct Written {
    std::uint64_t turns = 0;  // durable turns, of all that were put
    Duration took;
    std::size_t answered = 0;  // clients answered with it
  };

  // `on_failure` is called once, on the writer's thread, when a write has failed.
  TurnWriter(const Links& links, std::function<void()> on_failure);
  // Writes all turns that were put.
  ~TurnWriter();
  TurnWriter(const TurnWriter&) = delete;
  TurnWriter& operator=(const TurnWriter&) = delete;

  // For measurements; called on its thread, after the commit. Before the first put().
  void observe(OnTurn on_turn) { on_turn_ = std::move(on_turn); }

  // Blocks while several turns are waiting. An error is that of an earlier turn.
  [[nodiscard]] Status put(Turn turn);
  // Waits until everything is written and sent, and the journal has no upkeep to do.
  [[nodiscard]] Status settle();
  [[nodiscard]] Written written() const;

 private:
  void run();
  // The next turns to write; none: the end. Waits for them, unless there is upkeep.
  [[nodiscard]] std::optional<std::vector<Turn>> next();
  [[nodiscard]] Status write(std::vector<Turn>& turns);
  [[nodiscard]] Status write_rows(Turn& turn);
  void tell(std::vector<Turn>& turns);

  Links links_;
  std::function<void()> on_failure_;
  OnTurn on_turn_ = [](const TurnTimes&) {};
  // State after the newest written turn; only for the writer's thread.
  core::ClusterState state_;
  StoredClock clock_;

  mutable std::mutex mutex_;
  std::condition_variable put_, taken_, rests_;
  std::vector<Turn> waiting_;
  bool busy_ = false;
  bool closing_ = false;
  Status outcome_ = ok_status();
  Written written_;
  std::thread thread_;
};

}  // namespace tidepool::live
