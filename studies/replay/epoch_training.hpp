// One job of Pollux's simulator (Qiao et al., OSDI 2021, artifact): what it gains a second is the gain of its global
// batch in the epoch it is in, over the measured time of a step on its placement. After each change of placement it
// holds its slots for `restart_s` seconds without progress. Where an epoch ends inside a round, the time to its end is
// rounded to whole seconds, half to even. How the batch is chosen is the business of the two kinds below.
#pragma once

#include <algorithm>

#include "studies/models/learnt_speed.hpp"
#include "studies/replay/measured_application.hpp"
#include "studies/replay/oracle_speed.hpp"
#include "studies/replay/training.hpp"

namespace tidepool::sim {

class EpochTraining : public Training {
 public:
  struct Setup {
    const MeasuredApplication& application;  // outlives the training
    const OracleSpeed& oracle;               // likewise; of the declared batch
    int batch = 1;                           // declared by its user
    int size_wanted = 1;                     // likewise
    int size_max = 1;
    int restart_s = 0;
    bool declared_work = true;  // whether a policy may know how much is left
    bool sizes_known = true;    // whether it may know step times at sizes that the job has not held
  };
  explicit EpochTraining(const Setup& setup) : setup_(setup) {}

  void hold(const std::vector<int>& slots) final;
  void disturb(double part) final { disturbed_ = part; }
  [[nodiscard]] Status advance(std::int64_t from_s, int seconds) final;
  [[nodiscard]] std::optional<std::int64_t> finished_s() const final { return finished_s_; }
  void describe(policies::cluster::JobRow& row) const override;
  [[nodiscard]] double slot_seconds() const final { return slot_seconds_; }
  // At the declared batch, whatever batch it really trains with: a yardstick must not depend on the policy.
  [[nodiscard]] double alone_seconds(double slots) const final;

 protected:
  // What it really does while it holds slots.
  struct Pace {
    policies::cluster::Shape shape;
    policies::BatchSplit split;
    policies::StepTime measured;  // of one step without accumulation
    [[nodiscard]] int batch() const { return split.global(shape.size); }
    [[nodiscard]] double step_s() const {
      return measured.step_s + (measured.step_s - measured.sync_s) * split.accumulate;
    }
  };
  // Asked at each new placement and after each stretch of training.
  [[nodiscard]] virtual policies::BatchSplit choose_batch(policies::cluster::Shape shape) const = 0;
  // Told before each stretch of training, with the gradient's noise in this epoch.
  virtual void observe(const Pace& /*pace*/, const GradientStatistics& /*noise*/) {}
  // Told at its end, with the useful steps it took.
  virtual void ended(double /*useful_steps*/) {}

  [[nodiscard]] const Setup& setup() const { return setup_; }
  [[nodiscard]] double progress() const { return progress_; }  // useful steps so far
  [[nodiscard]] policies::BatchLimits limits() const;

 private:
  [[nodiscard]] double useful_steps_per_second(int batch, double step_s, int epoch) const;
  void set_pace();
  void spend(int seconds);
  [[nodiscard]] int train(int seconds);

  Setup setup_;
  std::vector<int> slots_;
  std::optional<Pace> pace_;  // none = holds nothing, or nothing was measured for what it holds
  int standing_s_ = 0;        // seconds without progress still to come
  std::int64_t now_s_ = 0;
  int epoch_ = 0;
  double progress_ = 0;  // useful steps
  double slot_seconds_ = 0;
  double disturbed_ = 0;  // part of its speed that it has lost to others
  std::optional<std::int64_t> finished_s_;
};

// Trains at the declared batch from start to end, as jobs of schedulers that know nothing of batch sizes do.
class FixedBatchTraining final : public EpochTraining {
 public:
  using EpochTraining::EpochTraining;

  void describe(policies::cluster::JobRow& row) const override {
    EpochTraining::describe(row);
    if (!setup().sizes_known) row.largest_seen = largest_held_;
  }

 private:
  [[nodiscard]] policies::BatchSplit choose_batch(policies::cluster::Shape shape) const override {
    return policies::split_batch(setup().batch, shape.size, limits());
  }
  void observe(const Pace& pace, const GradientStatistics& /*noise*/) override {
    largest_held_ = std::max(largest_held_, pace.shape.size);
  }

  int largest_held_ = 0;
};

}  // namespace tidepool::sim
