// Writes turns to the journal on a thread of its own, so that the next turn learns and decides while the last one is
// written. What waits is written as one commit, in order; only then readers see the picture, clients get their answers,
// subscribers the events and agents their orders (docs/adr/0039-written-behind.md).
//
// Rule: nothing of a turn goes out before it and all turns before it are durable. After a failure nothing is written
// and nothing goes out any more: drop the writer, exit, recover. From the first put() to the return of settle() the
// journal belongs to this thread.
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
  // What it needs and does not own; each outlives it.
  struct Links {
    Journal& journal;
    Outbox& outbox;
    Publisher& publisher;
  };
  // How long it took, and how many failures it has learnt of which not each is an event.
  struct TurnTimes {
    Duration round;                  // to learn and to decide
    std::optional<Duration> commit;  // to make it durable; none: it was with the turn before it
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
    // To be kept in place of the one before; null = none any more.
    std::optional<std::shared_ptr<const ShadowReport>> shadow;
    core::ClusterState state;                  // after it
    std::shared_ptr<const Published> picture;  // null: readers see nothing new
    TurnTimes took;
  };
  // Of the newest commit.
  struct Written {
    std::uint64_t turns = 0;  // that are durable, of all that were put
    Duration took;
    std::size_t answered = 0;  // clients, with it
  };

  // `on_failure` is called once, on its thread, when a write has failed.
  TurnWriter(const Links& links, std::function<void()> on_failure);
  // Writes what was put.
  ~TurnWriter();
  TurnWriter(const TurnWriter&) = delete;
  TurnWriter& operator=(const TurnWriter&) = delete;

  // For measurements; called on its thread, after the commit. Before the first put().
  void observe(OnTurn on_turn) { on_turn_ = std::move(on_turn); }

  // Waits while a few turns wait already. The error is that of a turn before.
  [[nodiscard]] Status put(Turn turn);
  // Waits until all is written and told, and the journal has no upkeep to do.
  [[nodiscard]] Status settle();
  [[nodiscard]] Written written() const;

 private:
  void run();
  // What is there to be written; none: the end. Waits for it, unless there is upkeep.
  [[nodiscard]] std::optional<std::vector<Turn>> next();
  [[nodiscard]] Status write(std::vector<Turn>& turns);
  [[nodiscard]] Status write_rows(Turn& turn);
  void tell(std::vector<Turn>& turns);

  Links links_;
  std::function<void()> on_failure_;
  OnTurn on_turn_ = [](const TurnTimes&) {};
  // Of the newest turn that was written; its thread's alone.
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
