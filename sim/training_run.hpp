// One job's training as it goes on in its workers: which generation steps, since when, and how far it is. A value
// with its own arithmetic; fleet.hpp moves it along.
//
// Committed steps survive the loss of all workers, because the cost of checkpoints is not modelled; unless the run
// models where states lie (Fleet::Setup::state_rate), where a start goes on from the newest one on its nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "api/worker_protocol.hpp"
#include "base/ids.hpp"
#include "base/time.hpp"
#include "sim/job_model.hpp"

namespace tidepool::sim {

inline constexpr std::int64_t kStateBytes = std::int64_t{64} << 20U;  // of every job's saved state

struct TrainingRun {
  JobId job;
  GroundTruth truth;
  Rng rng{0};
  std::unique_ptr<Program> program;  // null: it goes by its truth's curve
  Program::Stretch stretch;          // newest of the program's
  std::int64_t stretch_left = 0;     // steps of it

  // The generation that steps, or stepped last; 0 = none yet.
  GenerationNumber generation = 0;
  std::vector<WorkerId> members;
  // The newest one that a worker has heard of, until the members have switched to it.
  std::optional<api::GenerationMessage> next;
  GenerationNumber newest_known = 0;

  api::SharesMessage told;    // newest share table heard of
  api::SharesMessage shares;  // in use; number 0 = even shares

  bool stepping = false;
  bool switching = false;   // stalled, on the way to `next`
  std::uint64_t token = 0;  // what was scheduled with an older token is void
  bool finished = false;

  std::int64_t step = 0;      // committed by `since`
  std::int64_t furthest = 0;  // that it had come to before a start from an older state
  Instant since;
  Duration step_time;
  std::int64_t reported = 0;  // steps that have been reported
  Instant reported_until;     // end of the last of them
  Instant stalled_since;

  [[nodiscard]] bool is_done() const { return program ? program->is_done() : step >= steps_of(truth); }
  // Until its end, or until its program says how it goes on.
  [[nodiscard]] std::int64_t steps_left() const { return program ? stretch_left : steps_of(truth) - step; }
  // Of all committed steps, as its program counts them.
  [[nodiscard]] std::int64_t samples_total() const;
  // Counts the steps that are complete by `now`. The step in flight is not.
  void advance(Instant now);
  // How long a step takes now that the workers lie so (how many on each node, in rank order) and the slowest computes
  // `slowdown` times longer. Requires: it is not done.
  [[nodiscard]] Duration next_step_time(const std::vector<int>& workers, double slowdown);
  // Steps from `now` on at this step time.
  void begin(Instant now, Duration step_time_now);
  // Steps that the next report should cover, so that it lasts about `every` and has at most `steps_max`.
  [[nodiscard]] std::int64_t next_report_steps(Duration every, std::int64_t steps_max) const;
  // What has been stepped since the last report, if anything; it counts as reported. `paces` by rank; empty =
  // compute times are not reported.
  [[nodiscard]] std::optional<api::StepsMessage> take_report(const std::vector<RankPace>& paces);
  [[nodiscard]] double loss() const;
};

}  // namespace tidepool::sim
