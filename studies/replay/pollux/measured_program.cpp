#include "studies/replay/pollux/measured_program.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/check.hpp"
#include "studies/replay/oracle_speed.hpp"

namespace tidepool::sim {

using policies::BatchSplit;
using policies::cluster::packed;
using policies::cluster::Shape;

policies::BatchLimits batch_limits_of(const MeasuredApplication& application) {
  return {.initial = application.initial_batch(),
          .largest = application.batch_max(),
          .local_min = application.local_batch_min(),
          .local_max = application.local_batch_max()};
}

BatchSplit first_split(const MeasuredApplication& application, int fixed_batch, int size) {
  const policies::BatchLimits limits = batch_limits_of(application);
  if (fixed_batch > 0) return policies::split_batch(fixed_batch, size, limits);
  return policies::split_batch(std::max(limits.initial, limits.local_min * size), size, limits);
}

MeasuredProgram::MeasuredProgram(const Setup& setup)
    : setup_(setup), goodput_(measured_, batch_limits_of(setup.application), false) {}

BatchSplit MeasuredProgram::choose_batch(Shape shape) const {
  if (setup_.fixed_batch == 0) {
    if (const auto choice = goodput_.best(shape)) return choice->split;
  }
  return first_split(setup_.application, setup_.fixed_batch, shape.size);
}

MeasuredProgram::Pace MeasuredProgram::pace_on(const std::vector<int>& workers, const BatchSplit& split) const {
  const policies::MeasuredProfile& profile = setup_.application.profile();
  if (const auto time = profile.step_time(workers, split.local)) return {split, *time};
  const int size = std::accumulate(workers.begin(), workers.end(), 0);
  const int least = packed(size, setup_.slots_per_node).nodes;
  for (int nodes = static_cast<int>(workers.size()) - 1; nodes > least; --nodes) {
    const Shape shape{.nodes = nodes, .size = size};
    if (const auto time = profile.step_time(slots_of(shape, setup_.slots_per_node), split.local)) return {split, *time};
  }
  const std::vector<int> fewest = slots_of(packed(size, setup_.slots_per_node), setup_.slots_per_node);
  for (const BatchSplit& each : {split, first_split(setup_.application, setup_.fixed_batch, size)}) {
    if (const auto time = profile.step_time(fewest, each.local)) return {each, *time};
  }
  TP_CHECK(false, "a program has only sizes of which something was measured");
  return {};
}

Program::Stretch MeasuredProgram::go_on(const std::vector<int>& workers) {
  const int size = std::accumulate(workers.begin(), workers.end(), 0);
  const std::vector<int> lie =
      setup_.as_packed ? slots_of(packed(size, setup_.slots_per_node), setup_.slots_per_node) : workers;
  const Shape shape{.nodes = static_cast<int>(lie.size()), .size = size};
  const Pace pace = pace_on(lie, choose_batch(shape));
  const int batch = pace.split.global(size);
  const MeasuredApplication& application = setup_.application;
  const GradientStatistics noise = application.gradient(batch, epoch_);
  measured_.speed.add({.shape = shape, .local_batch = pace.split.local, .time = pace.time});
  goodput_.set_noise({.sqr = noise.sqr, .var = noise.var});
  gain_ = policies::gain_of_batch({.sqr = noise.sqr, .var = noise.var}, batch, application.initial_batch());
  const double step_s = pace.time.step_s + (pace.time.step_s - pace.time.sync_s) * pace.split.accumulate;
  const double to_end_of_epoch = std::ceil((application.progress_after(epoch_ + 1) - progress_) / gain_);
  const double steps = std::min(to_end_of_epoch, std::ceil(kBatchKeptSeconds / step_s));
  return {.step_s = step_s,
          .steps = std::max<std::int64_t>(1, static_cast<std::int64_t>(steps)),
          .batch = batch,
          .noise_scale = noise.sqr > 0 ? application.initial_batch() * noise.var / noise.sqr : 1e18};
}

// What the last step of an epoch does beyond its end counts for the next one.
void MeasuredProgram::commit(std::int64_t steps) {
  const MeasuredApplication& application = setup_.application;
  const int epochs = application.epochs();
  progress_ = std::min(application.progress_after(epochs), progress_ + gain_ * static_cast<double>(steps));
  while (epoch_ < epochs && progress_ >= application.progress_after(epoch_ + 1) * (1 - 1e-12)) ++epoch_;
}

std::int64_t MeasuredProgram::samples_taught() const {
  return std::llround(progress_ * setup_.application.initial_batch());
}

}  // namespace tidepool::sim
