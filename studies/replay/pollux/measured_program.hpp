// A job of Pollux's workloads (Qiao et al., OSDI 2021, artifact) as a program in the live simulator: it goes as fast as
// was measured on the nodes where its workers lie, an epoch at a time, and gains in it what its global batch was
// measured to teach. Like Pollux's jobs it chooses its batch for what it holds by what it has itself measured so far,
// at each change, at each epoch and every few seconds in between; it never sees the profile.
//
// Where nothing was measured for its workers as they lie, it goes as on the nearest fewer nodes of which something is
// known, at last as packed; measured_workload.hpp sees to it that packed sizes are known.
#pragma once

#include <vector>

#include "sim/program.hpp"
#include "studies/replay/measured_application.hpp"
#include "studies/replay/pollux/adaptive_training.hpp"

namespace tidepool::sim {

// It looks for a better batch at least so often.
inline constexpr double kBatchKeptSeconds = 10;

class MeasuredProgram final : public Program {
 public:
  struct Setup {
    const MeasuredApplication& application;  // outlives the program
    int fixed_batch = 0;                     // 0 = it chooses its batch
    int slots_per_node = 1;
    bool as_packed = false;  // it goes as if its workers lay on as few nodes as possible, wherever they lie
  };
  explicit MeasuredProgram(const Setup& setup);

  [[nodiscard]] Stretch go_on(const std::vector<int>& workers) override;
  void commit(std::int64_t steps) override;
  [[nodiscard]] bool is_done() const override { return epoch_ == setup_.application.epochs(); }
  [[nodiscard]] std::int64_t samples_taught() const override;

 private:
  struct Pace {
    policies::BatchSplit split;
    policies::StepTime time;  // of one step without accumulation
  };
  [[nodiscard]] policies::BatchSplit choose_batch(policies::cluster::Shape shape) const;
  [[nodiscard]] Pace pace_on(const std::vector<int>& workers, const policies::BatchSplit& split) const;

  Setup setup_;
  KindKnowledge measured_;  // what it has found out about itself
  LearntGoodput goodput_;
  int epoch_ = 0;
  double progress_ = 0;  // useful steps
  double gain_ = 1;      // useful steps that a step of the newest stretch brings
};

// What a job may choose its batch between.
[[nodiscard]] policies::BatchLimits batch_limits_of(const MeasuredApplication& application);
// Before it has measured anything.
[[nodiscard]] policies::BatchSplit first_split(const MeasuredApplication& application, int fixed_batch, int size);

}  // namespace tidepool::sim
