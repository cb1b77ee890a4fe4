// One job of Pollux's simulator whose global batch size never changes (Qiao et al., OSDI 2021, artifact): what it gains
// a second is the gain of its batch size in the epoch it is in, over the measured time of a step on its placement.
// After each change of placement it holds its slots for `restart_s` seconds without progress. Where an epoch ends
// inside a round, the time to its end is rounded to whole seconds, half to even.
#pragma once

#include "schedulerd/sim/replay/measured_application.hpp"
#include "schedulerd/sim/replay/oracle_speed.hpp"
#include "schedulerd/sim/replay/training.hpp"

namespace tidepool::sim {

class FixedBatchTraining final : public Training {
 public:
  struct Setup {
    const MeasuredApplication& application;  // outlives the training, like `oracle`
    const OracleSpeed& oracle;
    int batch;        // global; between the measured ones
    int size_wanted;  // by its user
    int size_max;
    int restart_s;
  };
  explicit FixedBatchTraining(const Setup& setup) : setup_(setup) {}

  void hold(const std::vector<int>& slots) override;
  [[nodiscard]] Status advance(int seconds) override;
  [[nodiscard]] std::optional<std::int64_t> finished_s() const override { return finished_s_; }
  void describe(policies::cluster::JobRow& row) const override;
  [[nodiscard]] double slot_seconds() const override { return slot_seconds_; }
  [[nodiscard]] double alone_seconds(double slots) const override;

 private:
  // Of the placement held.
  struct Pace {
    int size = 0;
    int batch = 0;  // really used, after rounding to whole samples a worker
    double step_s = 0;
  };
  [[nodiscard]] BatchLimits limits() const;
  [[nodiscard]] double useful_steps_per_second(const Pace& pace, int epoch) const;
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
  std::optional<std::int64_t> finished_s_;
};

}  // namespace tidepool::sim
