// The daemon around the engine, without threads, sockets and disk: it journals before it acts, acknowledges after
// it has committed, and recovers from snapshot and journal. The engine and the leader inside are the real ones.
//
// At each journal write it asks a crash plan whether to die there; a dead daemon answers nothing until recover().
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "core/decide/engine.hpp"
#include "schedulerd/leader/executor.hpp"
#include "sim/daemon.hpp"
#include "sim/memory_journal.hpp"
#include "sim/messages.hpp"

namespace tidepool::sim {

enum class CrashPoint {
  kBeforeWrite,   // nothing of the batch reaches the journal
  kBeforeCommit,  // appended, not durable
  kAfterCommit,   // durable, nothing has been answered or sent
};
// Whether to die at the n-th journal write (counted from 1 over the whole run), and where in it.
using CrashPlan = std::function<std::optional<CrashPoint>(std::uint64_t write)>;

// Faults planted by tests, to show that a property would find them. Never set outside tests.
enum class PlantedBug {
  kNone,
  kFreesSlotsOfLeavers,       // takes an order to leave for a proof of death: a slot is given twice
  kAcknowledgesBeforeCommit,  // answers clients before their submission is durable
  kLosesExits,                // drops every third report of an exit: its slots are never released
  kLaunchesAtOnce,            // does not wait for the end of the programs of the generation before
};

class DaemonModel final : public Daemon {
 public:
  struct Setup {
    DaemonParts ground;
    bool journaled = true;  // without a journal there is no recovery; for runs without crashes
    std::size_t records_per_snapshot = 64;
    CrashPlan crash_plan;                        // none = never dies
    std::function<std::int64_t()> stopwatch_ns;  // measures decide(); none = not measured
    PlantedBug bug = PlantedBug::kNone;
  };
  explicit DaemonModel(Setup setup);

  [[nodiscard]] std::vector<Outgoing> receive(const std::vector<Incoming>& batch, Instant now) override;
  // From snapshot and journal.
  [[nodiscard]] Status recover() override;
  [[nodiscard]] bool alive() const override { return engine_.has_value(); }
  [[nodiscard]] const core::ClusterState& state() const override { return engine_->view(); }
  [[nodiscard]] std::shared_ptr<const core::Job> ended(JobId job) const override;
  [[nodiscard]] std::optional<Instant> next_due() const override { return engine_->next_due(); }
  [[nodiscard]] Books books() const override { return {decide_ns_, writes_, refused_, invalid_decision_}; }

 private:
  void learn(const Incoming& incoming, Instant now, std::vector<Outgoing>& answers);
  void learn_submit(const Submit& submit, Instant now, std::vector<Outgoing>& answers);
  void learn_message(const FromNode& from, Instant now, std::vector<Outgoing>& answers);
  void learn_hello(int node, const api::AgentHello& hello, Instant now, std::vector<Outgoing>& answers);
  void learn_said(int node, const api::FromWorkerReport& report, Instant now, std::vector<Outgoing>& answers);
  void learn_exit(int node, const api::WorkerExitedReport& report, Instant now, std::vector<Outgoing>& answers);
  void learn_stuck(int node, const api::WorkerStuckReport& report, Instant now);
  void learn_cordon(const CordonNode& cordon, Instant now);
  bool learn_fact(core::Fact fact, Instant now, const std::string& key);
  void decide(Instant now, std::vector<Outgoing>& out);
  void act(const core::Decision& decision, std::vector<Outgoing>& out);
  void tell(const std::vector<leader::NodeOrder>& orders, std::vector<Outgoing>& out) const;
  // Null if the node speaks for a worker that is not its own.
  [[nodiscard]] const core::Worker* worker_of(int node, WorkerId worker) const;
  void launch_at_once(const core::Decision& decision, std::vector<Outgoing>& out) const;
  void free_leavers(Instant now, std::vector<Outgoing>& out);
  // One journal write of what is appended so far; false if the daemon died in it.
  bool write();
  void die();
  void keep_ended();
  [[nodiscard]] Status replay(const std::string& record);

  Setup setup_;
  MemoryJournal journal_;
  std::optional<core::Engine> engine_;
  leader::Executor executor_;
  std::map<std::string, JobId> keys_;                          // submissions already taken
  std::map<NodeId, int> connected_;                            // agents that have said hello since the start
  std::vector<std::string> batch_;                             // records for the next write
  std::vector<std::shared_ptr<const core::Job>> ended_batch_;  // beside them
  std::map<JobId, std::shared_ptr<const core::Job>> ended_;    // that have left the state, as durable as the journal
  std::uint64_t writes_ = 0;
  std::uint64_t exits_seen_ = 0;
  std::uint64_t committed_digest_ = 0;  // of the state that the journal holds
  std::vector<std::int64_t> decide_ns_;
  std::vector<std::string> refused_;
  std::optional<std::string> invalid_decision_;
};

}  // namespace tidepool::sim
