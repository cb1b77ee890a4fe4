// A job that chooses its batch for what it holds by what has been learnt so far, as Pollux's jobs do (Qiao et al., OSDI
// 2021, section 4.1): after each stretch of training it measures its step time and gradient noise and takes the batch
// of the best predicted goodput. Neither it nor the policy sees the profile; measurements are shared by all jobs of a
// kind.
#pragma once

#include <map>

#include "schedulerd/sim/replay/epoch_training.hpp"

namespace tidepool::sim {

// Goodput of one job as its measurements predict it. Answers are kept until something was learnt.
class LearntGoodput final : public policies::cluster::SpeedModel {
 public:
  LearntGoodput(const policies::LearntSpeed& learnt, const policies::BatchLimits& limits)
      : learnt_(learnt), limits_(limits) {}

  void set_noise(const policies::GradientNoise& noise);
  // The best batch for a shape; nothing before the kind was measured or where it cannot run.
  [[nodiscard]] std::optional<policies::BatchChoice> best(policies::cluster::Shape shape) const;

  // Of the best batch. Before anything is known: linear in the size.
  [[nodiscard]] double step_seconds(policies::cluster::Shape shape) const override;
  [[nodiscard]] double goodput(policies::cluster::Shape shape) const override;

 private:
  const policies::LearntSpeed& learnt_;
  policies::BatchLimits limits_;
  std::optional<policies::GradientNoise> noise_;
  // Only what would be computed again: the same questions get the same answers with and without it.
  mutable std::map<std::pair<int, int>, std::optional<policies::BatchChoice>> kept_;
  mutable std::uint64_t kept_version_ = 0;
};

class AdaptiveTraining final : public EpochTraining {
 public:
  // `learnt` is shared by the jobs of a kind and outlives them. `fixed_batch`: chooses no batch; 0 = chooses.
  AdaptiveTraining(const Setup& setup, policies::LearntSpeed& learnt, int fixed_batch);

  void describe(policies::cluster::JobRow& row) const override;

 private:
  [[nodiscard]] policies::BatchSplit choose_batch(policies::cluster::Shape shape) const override;
  void observe(const Pace& pace, const GradientStatistics& noise) override;

  policies::LearntSpeed& learnt_;
  LearntGoodput goodput_;
  int fixed_batch_;
};

}  // namespace tidepool::sim
