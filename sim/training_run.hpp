// The training of one job in its workers: which generation steps, since when, and its progress. A value with its own
// arithmetic; fleet.hpp drives it.
//
// Committed steps survive the loss of all workers, because the cost of checkpoints is not modelled; unless the run
// models the location of checkpoints (Fleet::Setup::state_rate), where a start continues from the newest one on its
// nodes.
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

inline constexpr std::int64_t kStateBytes = std::int64_t{64} << 20U;  // size of every job's checkpoint

struct TrainingRun {
  JobId job;
  GroundTruth truth;
  Rng rng{0};
  std::unique_ptr<Program> program;  // null: it follows its true curve
  Program::Stretch stretch;          // newest of the program's
  std::int64_t stretch_left = 0;     // steps of it

  // The generation that steps, or stepped last; 0 = none yet.
  GenerationNumber generation = 0;
  std::vector<WorkerId> members;
  // The newest generation that a worker has received, until the members have switched to it.
  std::optional<api::GenerationMessage> next;
  GenerationNumber newest_known = 0;

  api::SharesMessage told;    // newest share table received
  api::SharesMessage shares;  // in use; number 0 = even shares

  bool stepping = false;
  bool switching = false;   // stalled, on the way to `next`
  std::uint64_t token = 0;  // events scheduled with an older token are ignored
  bool finished = false;

  std::int64_t step = 0;      // committed by `since`
  std::int64_t furthest = 0;  // reached before a start from an older checkpoint
  Instant since;
  Duration step_time;
  std::int64_t reported = 0;  // steps that have been reported
  Instant reported_until;     // end of the last of them
  Instant stalled_since;

  [[nodiscard]] bool is_done() const { return program ? program->is_done() : step >= steps_of(truth); }
  // Until its end, or until its program gives its next stretch.
  [[nodiscard]] std::int64_t steps_left() const { return program ? stretch_left : steps_of(truth) - step; }
  // Of all committed steps, as its program counts them.
  [[nodiscard]] std::int64_t samples_total() const;
  // Counts the steps that are complete by `now`. The step in flight is not.
  void advance(Instant now);
  // The length of a step for this placement (workers on each node, in rank order) when the slowest worker computes
  // `slowdown` times longer. Requires: it has not ended.
  [[nodiscard]] Duration next_step_time(const std::vector<int>& workers, double slowdown);
  // Steps from `now` on at this step time.
  void begin(Instant now, Duration step_time_now);
  // Steps for the next report, so that it covers about `every` and at most `steps_max` steps.
  [[nodiscard]] std::int64_t next_report_steps(Duration every, std::int64_t steps_max) const;
  // The steps since the last report, if any; they count as reported. `paces` by rank; empty = compute times are not
  // reported.
  [[nodiscard]] std::optional<api::StepsMessage> take_report(const std::vector<RankPace>& paces);
  [[nodiscard]] double loss() const;
};

}  // namespace tidepool::sim
