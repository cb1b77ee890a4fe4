// The daemon of the simulated world: the daemon's own turn (schedulerd/leader/daemon_turn.hpp) with a journal in memory
// in place of threads, sockets and disk. Rows are written before anything is sent, and recovery uses snapshot and
// journal, as in the real one.
//
// At each journal write a crash plan decides whether it dies there; a dead daemon answers nothing until recover().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "schedulerd/leader/daemon_turn.hpp"
#include "sim/daemon.hpp"
#include "sim/memory_journal.hpp"
#include "sim/memory_reads.hpp"
#include "sim/messages.hpp"
#include "sim/turn_messages.hpp"

namespace tidepool::sim {

enum class CrashPoint {
  kBeforeWrite,   // nothing of the batch reaches the journal
  kBeforeCommit,  // appended, not durable
  kAfterCommit,   // durable, but nothing has been sent or done
};
// Whether to die at the n-th journal write (counted from 1 over the whole run), and at which point of it.
using CrashPlan = std::function<std::optional<CrashPoint>(std::uint64_t write)>;

// Bugs planted by tests, to show that a property would find them. They are around the turn, never in it, and never set
// outside tests.
enum class PlantedBug {
  kNone,
  kFreesLeavingSlots,         // treats an order to leave as proof of exit: a slot is allocated twice
  kAcknowledgesBeforeCommit,  // answers clients before their submission is durable
  kLosesExits,                // drops every third report of an exit: its slots are never released
  kLaunchesAtOnce,            // does not wait until the programs of the previous generation have exited
};

class SimulatedDaemon final : public Daemon {
 public:
  struct Setup {
    DaemonParts ground;
    bool journaled = true;  // without a journal there is no recovery; for runs without crashes
    std::size_t records_per_snapshot = 64;
    CrashPlan crash_plan;                        // none = never dies
    std::function<std::int64_t()> stopwatch_ns;  // measures decisions; none = not measured
    PlantedBug bug = PlantedBug::kNone;
  };
  explicit SimulatedDaemon(Setup setup);

  [[nodiscard]] std::vector<Outgoing> receive(const std::vector<Incoming>& batch, Instant now) override;
  // From snapshot and journal.
  [[nodiscard]] Status recover() override;
  [[nodiscard]] bool alive() const override { return turn_.has_value(); }
  [[nodiscard]] const core::ClusterState& state() const override { return turn_->state(); }
  [[nodiscard]] std::shared_ptr<const core::Job> ended(JobId job) const override;
  [[nodiscard]] std::optional<Instant> next_due() const override;
  [[nodiscard]] Books books() const override { return {decide_ns_, writes_, refused_, invalid_decision_}; }

 private:
  // One turn and its one write; outgoing messages are appended. False: it died in the write.
  bool take_turn(std::vector<leader::TurnItem> items, const std::vector<std::string>& keys, Instant now,
                 std::vector<Outgoing>& out);
  // Passes the question of the last turn to the policy file, which takes no simulated time. False: it died in a write.
  bool ask_file(Instant now, std::vector<Outgoing>& out);
  void tell(leader::TurnResult& result, const std::vector<std::string>& keys, std::vector<Outgoing>& out);
  void show(const leader::TurnRow& row) const;
  void note(const leader::TurnResult& result);
  // False if the daemon died in it.
  bool write(const std::vector<leader::TurnRow>& rows);
  void append(const leader::TurnRow& row);
  void keep(const std::vector<leader::TurnRow>& rows);
  void snapshot();
  void die();
  [[nodiscard]] Status replay(core::Engine& engine, const std::string& record);
  // The planted faults.
  [[nodiscard]] bool loses(const leader::TurnItem& item, std::vector<Outgoing>& out);
  void launch_at_once(const std::vector<leader::TurnRow>& rows, std::vector<Outgoing>& out);
  void free_leaving_slots(Instant now, std::vector<Outgoing>& out);

  Setup setup_;
  core::StageTimes stages_;
  MemoryJournal journal_;
  std::optional<leader::DaemonTurn> turn_;
  std::optional<Instant> ran_at_;         // since its last start
  std::optional<std::int64_t> question_;  // of the last turn, to the policy file
  MemoryReads memory_;                    // as durable as the journal
  NodeIds ids_;
  std::uint64_t writes_ = 0;
  std::uint64_t exits_seen_ = 0;
  std::uint64_t committed_digest_ = 0;  // of the state that the journal holds
  std::vector<std::int64_t> decide_ns_;
  std::vector<std::string> refused_;
  std::optional<std::string> invalid_decision_;
};

}  // namespace tidepool::sim
