// One turn of the daemon, which makes all of its decisions: arrived items go in, the engine applies facts and decides,
// and rows, answers and orders come out. Pure: the real loop and the simulated daemon are two shells around it.
//
// A shell keeps one order: run() first, then all rows in one commit, and only then answers, snapshots for readers and
// orders (docs/adr/0002-step-then-commit.md). After an error of run() or of the commit the engine may be ahead of the
// storage: drop the turn and the engine, and recover.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "core/engine/engine.hpp"
#include "schedulerd/leader/executor.hpp"
#include "schedulerd/leader/newest_measurements.hpp"
#include "schedulerd/leader/state_moves.hpp"
#include "schedulerd/leader/turn_reads.hpp"
#include "schedulerd/leader/turn_result.hpp"

namespace tidepool::leader {

class TurnBatch;

class DaemonTurn {
 public:
  // The engine is new, or recovered from committed data.
  explicit DaemonTurn(core::Engine engine) : engine_(std::move(engine)), moves_(engine_.view()) {}

  // `now` may be before the engine's own time, which then counts. `times`: receives how long each stage of decisions
  // took, if given. An error: a lookup has failed.
  [[nodiscard]] Result<TurnResult> run(std::vector<TurnItem> items, Instant now, TurnReads& reads,
                                       core::StageTimes* times = nullptr);

  // The question of the last turn was asked, and its answer is expected by then. If it could not be asked, the time is
  // now, and the round counts as failed in the next turn.
  struct AwaitedRound {
    std::int64_t number = 0;
    Instant until;
    bool is_readable = true;  // false: the stored version can no longer be run
  };
  void await(const AwaitedRound& round) { awaited_ = round; }

  // UTC of the time line's zero, in microseconds since 1970; given to the engine with the next turn.
  void set_utc(std::int64_t unix_us_at_zero) { utc_us_at_zero_ = unix_us_at_zero; }

  // How faults of nodes count; given to the engine with the next turn if it differs.
  void set_damping(const core::NodeDamping& damping) { damping_ = damping; }

  // The detector for jobs that name none; likewise.
  void set_detector(const std::string& name) { detector_ = name; }

  [[nodiscard]] const core::ClusterState& state() const { return engine_.view(); }
  [[nodiscard]] const NewestMeasurements& newest() const { return newest_; }
  // There is more to decide immediately: the last turn ran out of rounds, or there was none yet.
  [[nodiscard]] bool has_more_to_decide() const { return more_to_decide_; }
  // When a turn may be due without new items.
  [[nodiscard]] std::optional<Instant> next_due() const;

 private:
  void take(std::size_t place, TurnItem& item, TurnBatch& batch);
  void take_round(PolicyRoundItem& item, TurnBatch& batch);
  static void take_pool_report(PoolReportItem& pool, TurnBatch& batch);
  void give_up_late_round(TurnBatch& batch);
  void give_up_late_moves(TurnBatch& batch);
  void learn_utc(TurnBatch& batch);
  // Applies configured settings that differ from the state.
  void learn_settings(TurnBatch& batch);
  void learn_clock(TurnBatch& batch);
  void remove_given_back(TurnBatch& batch);
  void decide(TurnBatch& batch, core::StageTimes* times);
  // False: the plan breaks an invariant.
  [[nodiscard]] bool is_lawful(const core::Decision& decision, TurnBatch& batch, core::StageTimes* times);
  [[nodiscard]] std::optional<std::int64_t> open_policy_request(Instant now);

  core::Engine engine_;
  Executor executor_;
  NewestMeasurements newest_;
  StateMoves moves_;
  std::optional<AwaitedRound> awaited_;
  std::optional<std::int64_t> utc_us_at_zero_;  // none: unchanged
  std::optional<core::NodeDamping> damping_;    // likewise
  std::optional<std::string> detector_;         // likewise
  std::string last_invalid_;                    // so that one invalid plan is reported once
  bool more_to_decide_ = true;
};

}  // namespace tidepool::leader
