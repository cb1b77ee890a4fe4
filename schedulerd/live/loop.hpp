// The one thread that owns the engine. A turn takes what has come in, lets the engine learn and
// decide, writes all of it as one batch, and only after the commit answers clients, publishes the
// picture and sends orders. See docs/adr/0002-step-then-commit.md for why learning may run ahead of the commit.
//
// An error of turn() means that the disk and the engine may differ: drop the loop, exit, recover.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/decide/engine.hpp"
#include "schedulerd/leader/executor.hpp"
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
  // How long a turn took.
  struct TurnTimes {
    Duration round;   // to learn and to decide
    Duration commit;  // to write it down
    const core::StageTimes& stages;
  };
  using OnTurn = std::function<void(const TurnTimes&)>;

  // Publishes the recovered picture at once. `policy` is the name shown as the active one.
  Loop(Recovered recovered, std::string policy, const Links& links);
  // For measurements; called on the loop's thread. Set it before the first turn.
  void observe(OnTurn on_turn) { on_turn_ = std::move(on_turn); }

  // Turns until the inbox is closed and empty, then stores a snapshot.
  [[nodiscard]] Status run();
  // One turn; waits at most `patience` for something to do.
  [[nodiscard]] Status turn(std::chrono::microseconds patience);

  [[nodiscard]] const core::ClusterState& state() const { return engine_.view(); }
  // When the engine wants to be asked again though nothing comes in.
  [[nodiscard]] std::optional<Instant> next_due() const { return engine_.next_due(); }

 private:
  [[nodiscard]] Inbox::Gathering gathering() const;
  // What one turn owes to others once it is durable.
  struct Turn {
    Instant now;
    std::vector<std::function<void()>> answers;
    std::vector<OutboxItem> orders;
    std::vector<core::Event> events;
    bool changed = false;
    bool planned = false;  // something was decided
  };

  // Each returns an error only if the journal failed; a refused fact is answered to its sender.
  [[nodiscard]] Status take(InboxItem item, Turn& turn);
  [[nodiscard]] Status on_command(CommandItem item, Turn& turn);
  [[nodiscard]] Status on_hello(const AgentHelloItem& item, Turn& turn);
  [[nodiscard]] Status on_lost(const AgentLostItem& item, Turn& turn);
  [[nodiscard]] Status on_exit(const WorkerExitedItem& item, Turn& turn);
  [[nodiscard]] Status on_worker(const FromWorkerItem& item, Turn& turn);
  [[nodiscard]] Status on_stuck(const WorkerStuckItem& item, Turn& turn);
  [[nodiscard]] Status on_kept_jobs(const KeptJobsItem& item, Turn& turn);
  [[nodiscard]] Status on_probed(const NodeProbedItem& item, Turn& turn);
  [[nodiscard]] Status on_round(PolicyRoundItem item, Turn& turn);
  [[nodiscard]] Status on_compared(const PolicyComparedItem& item, Turn& turn);
  // The engine's refusal, if it refused; otherwise the fact is learnt and in the batch.
  using Refused = std::optional<Error>;
  [[nodiscard]] Result<Refused> learn(core::Fact fact, Turn& turn);
  [[nodiscard]] Result<Receipt> carry_out(const Command& command, Turn& turn, Status& journal);
  [[nodiscard]] Status carry_out_policy(const Command& command, Turn& turn, Status& journal);
  [[nodiscard]] Status let_ended_go();
  [[nodiscard]] Result<std::optional<EndedNote>> ended_note(JobId job);
  [[nodiscard]] Status after_fact(const core::Fact& fact, Turn& turn);
  [[nodiscard]] Status decide(Turn& turn);
  [[nodiscard]] Status keep(const core::Decision& decision, Turn& turn);
  // These go out after the commit.
  void tell(const std::vector<leader::NodeOrder>& orders, Turn& turn) const;
  [[nodiscard]] Status commit_and_tell(Turn& turn);
  void publish(Instant now);
  // Policy files: asks what is to be asked, after the commit; gives up what has taken too long, before the next one.
  void ask_policies(const Turn& turn);
  void ask_shadow(const Turn& turn);
  [[nodiscard]] Status give_up_late_round(Turn& turn);
  [[nodiscard]] std::shared_ptr<const RunnablePolicy> runnable(const core::PolicyFileRef& ref,
                                                               std::shared_ptr<const RunnablePolicy>& kept);
  [[nodiscard]] Result<core::PolicyFileRef> stored(const core::PolicyFileRef& ref);
  [[nodiscard]] Status change_shadow(const std::optional<core::PolicyFileRef>& file, Turn& turn, Status& journal);
  [[nodiscard]] std::chrono::microseconds time_to_wait(std::chrono::microseconds patience) const;

  core::Engine engine_;
  leader::Executor executor_;
  std::string policy_;
  Links links_;
  OnTurn on_turn_ = [](const TurnTimes&) {};
  core::StageTimes stages_{[this] { return links_.clock.now(); }};  // of this turn
  Instant published_at_;
  Duration commit_took_;      // the newest one
  std::size_t answered_ = 0;  // clients, with the newest commit
  std::map<JobId, LatestMetrics> latest_metrics_;
  std::map<WorkerId, double> compute_ms_;
  std::string last_invalid_;  // so that one bad plan is logged once
  // The question whose answer is awaited.
  struct Awaited {
    std::int64_t number = 0;
    Instant until;
  };
  std::optional<Awaited> awaited_;
  std::shared_ptr<const RunnablePolicy> active_file_, shadow_file_;  // as last asked
  std::shared_ptr<const ShadowReport> shadow_;
  bool shadow_due_ = false;   // there is something new to ask it about
  bool shadow_busy_ = false;  // its answer is on the way
  Instant shadow_asked_at_;
  Instant shadow_rests_until_;  // it was at its deadline
  bool more_to_decide_ = true;  // the last turn ran out of rounds, or this is the first
};

}  // namespace tidepool::live
