// The one thread that owns the daemon's turn, and the shell around it: takes what has come in, lets the turn learn and
// decide (schedulerd/leader/daemon_turn.hpp), writes its rows as one batch, and only after the commit answers clients,
// publishes the picture and sends orders. See docs/adr/0002-step-then-commit.md for why learning may run ahead of the
// commit.
//
// An error of turn() means that the disk and the engine may differ: drop the loop, exit, recover.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "schedulerd/leader/daemon_turn.hpp"
#include "schedulerd/live/journal_reads.hpp"
#include "schedulerd/live/policies/policy_asker.hpp"
#include "schedulerd/live/service/clock.hpp"
#include "schedulerd/live/service/inbox.hpp"
#include "schedulerd/live/service/publisher.hpp"
#include "schedulerd/live/store/journal.hpp"
#include "schedulerd/live/store/recovery.hpp"

namespace tidepool::live {

class Loop {
 public:
  // What the loop needs and does not own; each outlives it.
  struct Links {
    Journal& journal;
    DaemonClock& clock;
    Inbox& inbox;
    Outbox& outbox;
    Publisher& publisher;
    PolicyAsker* asker = nullptr;  // null = no policy file is ever asked
  };
  // How long a turn took, and how many failures it has learnt of which not each is an event.
  struct TurnTimes {
    Duration round;   // to learn and to decide
    Duration commit;  // to write it down
    const core::StageTimes& stages;
    std::size_t checkpoint_failures = 0;
  };
  using OnTurn = std::function<void(const TurnTimes&)>;

  // Publishes the recovered picture at once. `policy` is the name shown as the active one.
  Loop(Recovered recovered, std::string policy, const Links& links);
  // How faults of nodes count. Before the first turn.
  void set_damping(const core::NodeDamping& damping) { turn_.set_damping(damping); }
  // What judges the jobs that ask for no detector of stragglers by name. Likewise.
  void set_detector(const std::string& name) { turn_.set_detector(name); }
  // For measurements; called on the loop's thread. Set it before the first turn.
  void observe(OnTurn on_turn) { on_turn_ = std::move(on_turn); }

  // Turns until the inbox is closed and empty, then stores a snapshot.
  [[nodiscard]] Status run();
  // One turn; waits at most `patience` for something to do.
  [[nodiscard]] Status turn(std::chrono::microseconds patience);

  [[nodiscard]] const core::ClusterState& state() const { return turn_.state(); }
  // When a turn is due though nothing comes in.
  [[nodiscard]] std::optional<Instant> next_due() const { return turn_.next_due(); }

 private:
  using Done = std::function<void(Result<Receipt>)>;
  // What has come in, apart: for the turn, and for the shell alone.
  struct Taken {
    std::vector<leader::TurnItem> items;
    std::vector<Done> answers;  // by item; empty where none is awaited
    std::vector<PolicyComparedItem> comparisons;
  };
  // What the turn owes to others once it is durable.
  struct Owed {
    Instant now;
    std::vector<Done> answers;
    leader::TurnResult result;
    std::vector<core::Event> events;
    std::size_t checkpoint_failures = 0;
  };
  [[nodiscard]] Inbox::Gathering gathering() const;
  [[nodiscard]] static Taken sorted(std::vector<InboxItem> items);
  // Errors of these are the journal's.
  [[nodiscard]] Status write(std::vector<leader::TurnRow>& rows, Owed& owed);
  [[nodiscard]] Status commit(const Owed& owed);
  // These go out after the commit.
  void tell(Owed& owed);
  void publish(Instant now);
  // Policy files: asks what is to be asked, after the commit.
  void ask_policies(const Owed& owed);
  void ask_shadow(const Owed& owed);
  [[nodiscard]] std::shared_ptr<const RunnablePolicy> runnable(const core::PolicyFileRef& ref,
                                                               std::shared_ptr<const RunnablePolicy>& kept);
  // True if readers see something else now.
  [[nodiscard]] Result<bool> add_comparison(const PolicyComparedItem& item, Instant now);
  [[nodiscard]] Status begin_shadow(const std::optional<core::PolicyFileRef>& file, Instant now);
  [[nodiscard]] std::chrono::microseconds time_to_wait(std::chrono::microseconds patience) const;

  leader::DaemonTurn turn_;
  std::string policy_;
  Links links_;
  JournalReads reads_;
  OnTurn on_turn_ = [](const TurnTimes&) {};
  core::StageTimes stages_{[this] { return links_.clock.now(); }};  // of this turn
  Instant published_at_;
  Duration commit_took_;                                             // the newest one
  std::size_t answered_ = 0;                                         // clients, with it
  std::shared_ptr<const RunnablePolicy> active_file_, shadow_file_;  // as last asked
  std::shared_ptr<const ShadowReport> shadow_;
  bool shadow_due_ = false;   // there is something new to ask it about
  bool shadow_busy_ = false;  // its answer is on the way
  Instant shadow_asked_at_;
  Instant shadow_rests_until_;  // it was at its deadline
};

}  // namespace tidepool::live
