// A job that chooses its batch for what it holds by what has been learnt so far, as Pollux's jobs do (Qiao et al., OSDI
// 2021, section 4.1): after each stretch of training it measures its step time and gradient noise and takes the batch
// of the best predicted goodput. Neither it nor the policy sees the profile. Step times are shared by all jobs of a
// kind, and so are, unless that is switched off, how noisy the last one's gradient was when it began and how much work
// those were that have ended. Where kinds are not told, jobs that measure alike tell of their work.
#pragma once

#include <map>

#include "policies/models/learnt_work.hpp"
#include "studies/replay/epoch_training.hpp"

namespace tidepool::sim {

// What jobs of one kind have found out so far, together.
struct KindKnowledge {
  policies::LearntSpeed speed;
  policies::LearntWork work;
  std::optional<policies::GradientNoise> first_noise;  // of the job that began last
};

// Goodput of one job as its measurements predict it. Answers are kept until something was learnt.
class LearntGoodput final : public policies::cluster::SpeedModel {
 public:
  // `prior`: before its first step a job takes the kind's first noise for its own.
  LearntGoodput(const KindKnowledge& kind, const policies::BatchLimits& limits, bool prior)
      : kind_(kind), limits_(limits), prior_(prior) {}

  void set_noise(const policies::GradientNoise& noise) { noise_ = noise; }
  [[nodiscard]] bool has_noise() const { return noise_.has_value(); }
  // The best batch for a shape; nothing before the kind was measured or where it cannot run.
  [[nodiscard]] std::optional<policies::BatchChoice> best(policies::cluster::Shape shape) const;

  // Of the best batch. Before anything is known: linear in the size.
  [[nodiscard]] double step_seconds(policies::cluster::Shape shape) const override;
  [[nodiscard]] double goodput(policies::cluster::Shape shape) const override;

 private:
  [[nodiscard]] policies::GradientNoise noise() const;

  const KindKnowledge& kind_;
  policies::BatchLimits limits_;
  bool prior_;
  std::optional<policies::GradientNoise> noise_;
  // Only what would be computed again: the same questions get the same answers with and without it.
  mutable std::map<std::pair<int, int>, std::optional<policies::BatchChoice>> kept_;
  mutable std::uint64_t kept_version_ = 0;
  mutable policies::GradientNoise kept_noise_;
};

class AdaptiveTraining final : public EpochTraining {
 public:
  struct Rules {
    int fixed_batch = 0;  // 0 = it chooses its batch
    bool prior = true;    // whether what other jobs of the kind have found out counts beyond step times
    // Without the prior: what jobs of all kinds have done, for those that measure alike. Outlives the training; null =
    // a job learns nothing from others.
    policies::SimilarJobWork* kin = nullptr;
    std::uint64_t number = 0;  // of this job there
  };
  // `kind` is shared by the jobs of a kind and outlives them.
  AdaptiveTraining(const Setup& setup, KindKnowledge& kind, const Rules& rules);

  void describe(policies::cluster::JobRow& row) const override;

 private:
  [[nodiscard]] policies::BatchSplit choose_batch(policies::cluster::Shape shape) const override;
  void observe(const Pace& pace, const GradientStatistics& noise) override;
  void ended(double useful_steps) override;
  [[nodiscard]] std::optional<double> expected() const;
  [[nodiscard]] double pace_s() const;

  KindKnowledge& kind_;
  LearntGoodput goodput_;
  Rules rules_;
};

}  // namespace tidepool::sim
