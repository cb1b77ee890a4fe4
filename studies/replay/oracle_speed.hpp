// A speed model that knows the measured profile itself: what published baselines with an "oracle" are given. No policy
// that is to be compared with a live daemon may see it.
#pragma once

#include <optional>
#include <vector>

#include "policies/cluster/cluster_view.hpp"
#include "studies/models/batch_split.hpp"
#include "studies/replay/measured_application.hpp"

namespace tidepool::sim {

// Workers per node for a shape: every node one worker, the rest on the first nodes. Requires: it fits.
[[nodiscard]] std::vector<int> slots_of(policies::cluster::Shape shape, int slots_per_node);

// Seconds of a whole step with its accumulation; nothing outside what was measured.
[[nodiscard]] std::optional<double> measured_step_seconds(const MeasuredApplication& application,
                                                          const std::vector<int>& slots,
                                                          const policies::BatchSplit& split);

// Of one application at one global batch, for jobs on as few nodes as possible of a cluster of equal nodes.
class OracleSpeed final : public policies::cluster::SpeedModel {
 public:
  struct Setup {
    const MeasuredApplication& application;
    int batch;
    int slots;  // of the cluster
    int slots_per_node;
  };
  explicit OracleSpeed(const Setup& setup);

  [[nodiscard]] double step_seconds(policies::cluster::Shape shape) const override;
  [[nodiscard]] int slots_per_node() const { return slots_per_node_; }

 private:
  int slots_per_node_;
  std::vector<double> step_seconds_;  // by size; infinity where nothing was measured
};

}  // namespace tidepool::sim
