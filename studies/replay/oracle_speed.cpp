#include "studies/replay/oracle_speed.hpp"

#include <algorithm>
#include <limits>

#include "base/check.hpp"

namespace tidepool::sim {

using policies::cluster::packed;
using policies::cluster::Shape;

std::vector<int> slots_of(Shape shape, int slots_per_node) {
  TP_CHECK(shape.nodes >= 1 && shape.size >= shape.nodes && shape.size <= shape.nodes * slots_per_node,
           "a shape has a worker on each node and no more than fit");
  std::vector<int> slots(static_cast<std::size_t>(shape.nodes), 1);
  int left = shape.size - shape.nodes;
  for (int& node : slots) {
    const int more = std::min(left, slots_per_node - 1);
    node += more;
    left -= more;
  }
  return slots;
}

std::optional<double> measured_step_seconds(const MeasuredApplication& application, const std::vector<int>& slots,
                                            const policies::BatchSplit& split) {
  const auto time = application.profile().step_time(slots, split.local);
  if (!time) return std::nullopt;
  return time->step_s + (time->step_s - time->sync_s) * split.accumulate;
}

OracleSpeed::OracleSpeed(const Setup& setup) : slots_per_node_(setup.slots_per_node), step_seconds_{} {
  const policies::BatchLimits limits{.initial = setup.application.initial_batch(),
                                     .largest = setup.application.batch_max(),
                                     .local_max = setup.application.local_batch_max()};
  step_seconds_.push_back(std::numeric_limits<double>::infinity());
  for (int size = 1; size <= setup.slots; ++size) {
    std::optional<double> seconds;
    if (setup.batch / size >= setup.application.local_batch_min()) {
      seconds = measured_step_seconds(setup.application, slots_of(packed(size, slots_per_node_), slots_per_node_),
                                      policies::split_batch(setup.batch, size, limits));
    }
    step_seconds_.push_back(seconds.value_or(std::numeric_limits<double>::infinity()));
  }
}

double OracleSpeed::step_seconds(Shape shape) const {
  const bool known = shape.size >= 1 && static_cast<std::size_t>(shape.size) < step_seconds_.size() &&
                     shape.nodes == packed(shape.size, slots_per_node_).nodes;
  return known ? step_seconds_[static_cast<std::size_t>(shape.size)] : std::numeric_limits<double>::infinity();
}

}  // namespace tidepool::sim
