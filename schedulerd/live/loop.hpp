// The thread that owns the daemon's turn, and the shell around it: it takes arrived items, lets the turn apply facts
// and decide (schedulerd/leader/daemon_turn.hpp), and hands the result to a writer (turn_writer.hpp), which makes it
// durable and only then answers clients, publishes the picture and sends orders. docs/adr/0002-step-then-commit.md
// explains why the engine may run ahead of the commit, and docs/adr/0039-written-behind.md by how much.
//
// An error of turn(), settle() or run() means that disk and engine may differ: drop the loop, exit, recover.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "schedulerd/leader/daemon_turn.hpp"
#include "schedulerd/live/pending_reads.hpp"
#include "schedulerd/live/policies/policy_asker.hpp"
#include "schedulerd/live/service/clock.hpp"
#include "schedulerd/live/service/inbox.hpp"
#include "schedulerd/live/service/publisher.hpp"
#include "schedulerd/live/store/journal.hpp"
#include "schedulerd/live/store/recovery.hpp"
#include "schedulerd/live/turn_writer.hpp"

namespace tidepool::live {

class Loop {
 public:
  // References of the loop; each outlives it.
  struct Links {
    Journal& journal;
    leader::TurnReads& reads;  // the committed journal
    DaemonClock& clock;
    Inbox& inbox;
    Outbox& outbox;
    Publisher& publisher;
    PolicyAsker* asker = nullptr;  // null = no policy file is ever asked
  };
  using TurnTimes = TurnWriter::TurnTimes;
  using OnTurn = TurnWriter::OnTurn;

  // Publishes the recovered picture at once. `policy` is the name shown as the active one.
  Loop(Recovered recovered, std::string policy, const Links& links);
  // How faults of nodes count. Call before the first turn.
  void set_damping(const core::NodeDamping& damping) { turn_.set_damping(damping); }
  // The detector of stragglers for jobs that name none. Likewise.
  void set_detector(const std::string& name) { turn_.set_detector(name); }
  // For measurements; called on the writer's thread. Set it before the first turn.
  void observe(OnTurn on_turn) { writer_.observe(std::move(on_turn)); }

  // Runs turns until the inbox is closed and empty, then stores a snapshot. A failure of the disk closes the inbox.
  [[nodiscard]] Status run();
  // Runs one turn; waits at most `patience` for input. Its output is sent once it is durable.
  [[nodiscard]] Status turn(std::chrono::microseconds patience);
  // Waits until all turns are durable and their output was sent.
  [[nodiscard]] Status settle() { return writer_.settle(); }

  [[nodiscard]] const core::ClusterState& state() const { return turn_.state(); }
  // When a turn is due without input.
  [[nodiscard]] std::optional<Instant> next_due() const { return turn_.next_due(); }

 private:
  // The arrived items, separated: for the turn, and for the shell.
  struct Taken {
    std::vector<leader::TurnItem> items;
    std::vector<TurnWriter::Done> answers;  // by item; empty where none is awaited
    std::vector<PolicyComparedItem> comparisons;
  };
  // Questions to policy files after a turn.
  struct DueRounds {
    Instant now;
    std::optional<std::int64_t> round;  // of the active file, to be asked now
    bool shadow_due = false;
  };
  using Report = std::shared_ptr<const ShadowReport>;
  [[nodiscard]] Inbox::Gathering gathering() const;
  [[nodiscard]] static Taken sorted(std::vector<InboxItem> items);
  [[nodiscard]] Status hand_over(TurnWriter::Turn turn);
  [[nodiscard]] std::shared_ptr<const Published> picture(Instant now);
  // Policy files.
  [[nodiscard]] static DueRounds rounds_due_after(const leader::TurnResult& result, Instant now);
  void ask_policies(const DueRounds& due);
  void ask_shadow(const DueRounds& due);
  [[nodiscard]] std::shared_ptr<const RunnablePolicy> runnable(const core::PolicyFileRef& ref,
                                                               std::shared_ptr<const RunnablePolicy>& kept);
  // The report to be stored; none = unchanged.
  [[nodiscard]] std::optional<Report> add_comparisons(const std::vector<PolicyComparedItem>& items, Instant now);
  [[nodiscard]] std::optional<Report> begin_shadow(const std::vector<leader::TurnRow>& rows, Instant now);
  [[nodiscard]] std::chrono::microseconds time_to_wait(std::chrono::microseconds patience) const;

  leader::DaemonTurn turn_;
  std::string policy_;
  Links links_;
  PendingReads reads_;
  core::StageTimes stages_{[this] { return links_.clock.now(); }};  // of this turn
  Instant published_at_;
  std::shared_ptr<const RunnablePolicy> active_file_, shadow_file_;  // as last asked
  Report shadow_;
  bool shadow_due_ = false;   // there are new rounds to ask it about
  bool shadow_busy_ = false;  // its answer is pending
  Instant shadow_asked_at_;
  Instant shadow_rests_until_;  // it was at its deadline
  TurnWriter writer_;           // ends first: it writes the turns that it has
};

}  // namespace tidepool::live
