// The measured step times of one application, and what lies between the measurements. Two sets: per placement (slots on
// each node in rank order, up to four nodes) and by scale (nodes, workers). A placement that was measured is
// interpolated along the local batch alone; any other from both sets, linearly over (nodes, workers, local batch).
// The rules are those of the simulator that came with the data (Qiao et al., "Pollux", OSDI 2021, artifact).
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "studies/models/delaunay_field.hpp"

namespace tidepool::policies {

struct StepTime {
  double step_s = 0;  // a whole step
  double sync_s = 0;  // the part of it in which a worker waits for the others' gradients
};

struct PlacementMeasurement {
  std::vector<int> slots;  // per node, in rank order; each >= 1
  int local_batch = 0;
  StepTime time;
};

struct ScaleMeasurement {
  int nodes = 0;
  int size = 0;
  int local_batch = 0;
  StepTime time;
};

class MeasuredProfile {
 public:
  // Placements are needed; without measurements by scale only measured placements have a time.
  [[nodiscard]] static Result<MeasuredProfile> from(const std::vector<PlacementMeasurement>& placements,
                                                    const std::vector<ScaleMeasurement>& scales);

  // Nothing outside what was measured. `slots`: per node in rank order, each >= 1, at least one.
  [[nodiscard]] std::optional<StepTime> step_time(const std::vector<int>& slots, int local_batch) const;

  [[nodiscard]] int local_batch_min() const { return local_batch_min_; }
  [[nodiscard]] int local_batch_max() const { return local_batch_max_; }

 private:
  static constexpr int kNodesMax = 16;  // beyond, the number of nodes is taken as this

  std::map<std::vector<int>, std::map<int, StepTime>> by_placement_;  // smallest rotation -> local batch -> time
  std::optional<DelaunayField> by_scale_;
  int local_batch_min_ = 0;
  int local_batch_max_ = 0;
};

// The lexicographically smallest rotation: ranks form a ring, so a rotation is the same placement.
[[nodiscard]] std::vector<int> smallest_rotation(std::vector<int> slots);

}  // namespace tidepool::policies
