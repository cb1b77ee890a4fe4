#include "studies/replay/epoch_training.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "base/check.hpp"

namespace tidepool::sim {

policies::BatchLimits EpochTraining::limits() const {
  return {.initial = setup_.application.initial_batch(),
          .largest = setup_.application.batch_max(),
          .local_min = setup_.application.local_batch_min(),
          .local_max = setup_.application.local_batch_max()};
}

void EpochTraining::hold(const std::vector<int>& slots) {
  slots_ = slots;
  pace_.reset();
  if (slots.empty()) return;
  standing_s_ = setup_.restart_s;
  set_pace();
}

void EpochTraining::set_pace() {
  const policies::cluster::Shape shape{.nodes = static_cast<int>(slots_.size()),
                                       .size = std::accumulate(slots_.begin(), slots_.end(), 0)};
  const policies::BatchSplit split = choose_batch(shape);
  if (pace_ && pace_->split == split) return;
  const auto measured = setup_.application.profile().step_time(slots_, split.local);
  if (measured) {
    pace_ = Pace{.shape = shape, .split = split, .measured = *measured};
  } else {
    pace_.reset();
  }
}

double EpochTraining::useful_steps_per_second(int batch, double step_s, int epoch) const {
  const GradientStatistics noise = setup_.application.gradient(batch, epoch);
  const double scale = double(batch) / setup_.application.initial_batch();
  const double gain = (noise.var + noise.sqr) / (noise.var / scale + noise.sqr);
  return gain / step_s;
}

void EpochTraining::spend(int seconds) {
  now_s_ += seconds;
  slot_seconds_ += double(seconds) * std::accumulate(slots_.begin(), slots_.end(), 0);
}

// Trains to the end of the epoch or of the time, whichever is first; returns the seconds left.
int EpochTraining::train(int seconds) {
  observe(*pace_, setup_.application.gradient(pace_->batch(), epoch_));
  const double pace = useful_steps_per_second(pace_->batch(), pace_->step_s(), epoch_) * (1 - disturbed_);
  const double epoch_end = setup_.application.progress_after(epoch_ + 1);
  if (progress_ + pace * seconds < epoch_end) {
    progress_ += pace * seconds;
    spend(seconds);
    return 0;
  }
  const int needed = static_cast<int>(std::nearbyint((epoch_end - progress_) / pace));
  TP_CHECK(needed <= seconds, "an epoch that ends in this round ends within it");
  progress_ = epoch_end;
  ++epoch_;
  spend(needed);
  if (epoch_ == setup_.application.epochs()) {
    finished_s_ = now_s_;
    ended(progress_);
  }
  return seconds - needed;
}

Status EpochTraining::advance(std::int64_t from_s, int seconds) {
  if (slots_.empty()) return ok_status();
  now_s_ = from_s;
  const int remaining_work = std::min(standing_s_, seconds);
  standing_s_ -= remaining_work;
  spend(remaining_work);
  int left = seconds - remaining_work;
  while (left > 0 && !finished_s_) {
    if (!pace_) {
      std::string placement;
      for (const int node : slots_) placement += (placement.empty() ? "" : "+") + std::to_string(node);
      return invalid_argument("the profile of " + setup_.application.name() + " says nothing about " + placement +
                              " workers at the batch chosen for them");
    }
    left = train(left);
    set_pace();
  }
  return ok_status();
}

void EpochTraining::describe(policies::cluster::JobRow& row) const {
  row.size_wanted = setup_.size_wanted;
  row.size_max = setup_.size_max;
  row.transition = Duration::seconds(setup_.restart_s);
  row.speed = &setup_.oracle;
  row.largest_seen = setup_.size_max;
  row.steps_done = epoch_ == 0 ? 0 : setup_.application.iterations(setup_.batch, epoch_ - 1);
  row.steps_left.reset();
  row.useful_left.reset();
  if (!setup_.declared_work) return;
  const int last = setup_.application.epochs() - 1;
  row.steps_left = epoch_ >= last ? 1
                                  : setup_.application.iterations(setup_.batch, last) -
                                        setup_.application.iterations(setup_.batch, epoch_);
  row.useful_left = setup_.application.progress_after(last + 1) - progress_;
}

double EpochTraining::alone_seconds(double slots) const {
  double best = std::numeric_limits<double>::infinity();
  for (int size = 1; size <= std::max(1, std::min(static_cast<int>(slots), setup_.size_max)); ++size) {
    const int batch = policies::split_batch(setup_.batch, size, limits()).global(size);
    const double step_s = setup_.oracle.step_seconds(policies::cluster::packed(size, setup_.oracle.slots_per_node()));
    double seconds = 0;
    for (int epoch = 0; epoch < setup_.application.epochs(); ++epoch) {
      const double steps = setup_.application.progress_after(epoch + 1) - setup_.application.progress_after(epoch);
      seconds += steps / useful_steps_per_second(batch, step_s, epoch);
    }
    best = std::min(best, seconds);
  }
  return best / std::min(1.0, slots);
}

}  // namespace tidepool::sim
