// The true properties of a simulated job, which the engine learns only through facts: throughput curve, work, boot time
// of its workers and stall at a change of size.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/rng.hpp"
#include "base/time.hpp"
#include "policies/models/usl_curve.hpp"
#include "sim/program.hpp"

namespace tidepool::sim {

// The true properties of one job. Throughput in samples per second, compute and waiting together.
struct GroundTruth {
  policies::UslCurve curve;
  std::map<int, double> table;                    // measured throughput by size; overrides the curve if given
  double noise = 0.02;                            // standard deviation of a report's step time, relative
  std::int64_t work_samples = 1;                  // samples after which the job has finished
  std::int64_t global_batch = 1;                  // samples a step, at every size
  Duration boot = Duration::seconds(10);          // process start to ready: load the data, build the model
  Duration switch_stall = Duration::millis(500);  // last step of a generation to first of the next
  bool tells_length = false;                      // its program reports its number of samples with `ready`
  bool restarts = false;                  // its program is restarted at each change (core::ResizeMode::kRestart)
  Duration park = Duration::millis(500);  // from the request to leave until the exit of a worker
  // Starts the job's training as a separate program model. If given, speed, batch and end are the program's, and of the
  // members above only boot, stall and noise are used.
  std::function<std::unique_ptr<Program>()> program;
  Duration report_every;  // time that a report of steps covers; zero = as in the run's setup
};

// Samples per second at this size. Between sizes of the table: linear; beyond its ends: the nearest end.
// Requires: size >= 1.
[[nodiscard]] double throughput_at(const GroundTruth& truth, int size);

[[nodiscard]] std::int64_t steps_of(const GroundTruth& truth);

// The length of one step at `size`, without noise, when the slowest member computes `slowdown` times longer (1 = none
// does). At least a microsecond.
[[nodiscard]] double step_seconds(const GroundTruth& truth, int size, double slowdown);

// Draws the length of one step at `size` when the slowest member computes `slowdown` times longer (1 = none does):
// the whole step waits for it. At least a microsecond.
[[nodiscard]] Duration draw_step(const GroundTruth& truth, int size, double slowdown, Rng& rng);

// Around this many seconds, with a relative standard deviation of `noise`. At least a microsecond.
[[nodiscard]] Duration draw_around(double seconds, double noise, Rng& rng);

// The speed of one rank: how many times longer it computes than a healthy one, with `noise` (standard deviation of a
// step, relative to the step).
struct RankPace {
  double slowdown = 1;
  double noise = 0.02;
};

// Draws compute times before the allreduce in microseconds, [step][rank]. Requires: a pace for each rank.
[[nodiscard]] std::vector<std::int64_t> draw_compute_us(const GroundTruth& truth, std::int64_t steps,
                                                        const std::vector<RankPace>& paces, Rng& rng);

}  // namespace tidepool::sim
