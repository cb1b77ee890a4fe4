// Rank 0's reports of steps, gathered into few messages: at most 64 steps each (fewer if there are many ranks), and at
// least one message every 500 ms while steps commit. The very first step is reported at once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "api/worker_protocol.hpp"
#include "workers/runtime/comm/clock.hpp"

namespace tidepool::runtime {

struct StepRecord {
  GenerationNumber generation = 0;
  std::int64_t steps_committed = 0;  // including this step
  std::int64_t epoch = 0;
  std::uint64_t samples = 0;
  double loss_sum = 0;
  std::vector<std::int64_t> compute_us;  // by rank
  std::uint64_t global_batch = 0;        // samples per step in this generation
  std::optional<double> noise_scale;     // as known after this step
  std::uint64_t samples_total = 0;       // of all committed steps, including this one
  std::int64_t shares = 0;               // number of the share table; the same for all steps of one report
};

class StepReports {
 public:
  static constexpr std::int64_t kStepsMax = 64;
  static constexpr Millis kIntervalMax{500};
  // Compute times in a message (steps x ranks), so that a report of many ranks fits into a line.
  static constexpr std::size_t kTimesMax = 65'536;

  // Call when a generation starts: time before `now` does not count as stepping.
  void restart(TimePoint now);

  // Adds a committed step; returns a message when one is due.
  [[nodiscard]] std::optional<api::StepsMessage> add(const StepRecord& record, TimePoint now);

  // What has gathered so far, if anything.
  [[nodiscard]] std::optional<api::StepsMessage> take(TimePoint now);

 private:
  api::StepsMessage gathered_;
  double loss_sum_ = 0;
  TimePoint since_;
};

}  // namespace tidepool::runtime
