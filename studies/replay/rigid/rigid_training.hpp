// The training of a job of a fixed size in a replay: so many seconds of work, and a stand-still for each start and
// move.
#pragma once

#include "studies/replay/training.hpp"

namespace tidepool::sim {

// One step a second at the job's own size; at no other does it run.
class RigidSpeed final : public policies::cluster::SpeedModel {
 public:
  explicit RigidSpeed(int size) : size_(size) {}
  [[nodiscard]] double step_seconds(policies::cluster::Shape shape) const override;
  [[nodiscard]] double goodput(policies::cluster::Shape shape) const override { return shape.size == size_ ? 1 : 0; }

 private:
  int size_;
};

class RigidTraining final : public Training {
 public:
  struct Setup {
    int size = 1;           // >= 1
    double duration_s = 1;  // > 0
    int restart_s = 30;
    bool declared_work = true;
  };
  explicit RigidTraining(const Setup& setup);

  void hold(const std::vector<int>& slots) override;
  [[nodiscard]] Status advance(std::int64_t from_s, int seconds) override;
  [[nodiscard]] std::optional<std::int64_t> finished_s() const override { return finished_s_; }
  void describe(policies::cluster::JobRow& row) const override;
  [[nodiscard]] double slot_seconds() const override { return slot_seconds_; }
  [[nodiscard]] double alone_seconds(double slots) const override;

 private:
  Setup setup_;
  RigidSpeed speed_;
  bool holds_ = false;
  int standing_s_ = 0;  // of its stand-still, still to come
  double done_s_ = 0;
  double slot_seconds_ = 0;
  std::optional<std::int64_t> finished_s_;
};

}  // namespace tidepool::sim
