#include "studies/replay/rigid/rigid_training.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tidepool::sim {

double RigidSpeed::step_seconds(policies::cluster::Shape shape) const {
  return shape.size == size_ ? 1 : std::numeric_limits<double>::infinity();
}

RigidTraining::RigidTraining(const Setup& setup) : setup_(setup), speed_(setup.size) {}

void RigidTraining::hold(const std::vector<int>& slots) {
  holds_ = !slots.empty();
  standing_s_ = holds_ ? setup_.restart_s : 0;
}

// Ends are whole seconds, rounded up.
Status RigidTraining::advance(std::int64_t from_s, int seconds) {
  if (!holds_) return ok_status();
  const int remaining_work = std::min(standing_s_, seconds);
  standing_s_ -= remaining_work;
  const double left_s = setup_.duration_s - done_s_;
  const int needed = static_cast<int>(std::min(std::ceil(left_s), double(seconds - remaining_work)));
  done_s_ = std::min(setup_.duration_s, done_s_ + needed);
  slot_seconds_ += double(remaining_work + needed) * setup_.size;
  if (done_s_ >= setup_.duration_s) finished_s_ = from_s + remaining_work + needed;
  return ok_status();
}

void RigidTraining::describe(policies::cluster::JobRow& row) const {
  row.size_wanted = row.size_min = row.size_max = row.largest_seen = setup_.size;
  row.sizes = {setup_.size};
  row.transition = Duration::seconds(setup_.restart_s);
  row.speed = &speed_;
  row.steps_done = done_s_;
  row.steps_left.reset();
  row.useful_left.reset();
  if (!setup_.declared_work) return;
  row.steps_left = row.useful_left = setup_.duration_s - done_s_;
}

double RigidTraining::alone_seconds(double slots) const {
  return setup_.duration_s / std::min(1.0, slots / setup_.size);
}

}  // namespace tidepool::sim
