// A speed model read from a table of steps a second by slot type and number of workers: what published simulators give
// their policies. It knows the table and nothing else; where workers lie makes no difference.
#pragma once

#include <vector>

#include "policies/cluster/cluster_view.hpp"

namespace tidepool::sim {

class TypeSpeeds final : public policies::cluster::SpeedModel {
 public:
  // Steps a second of `size` workers on slots of this type; sizes that were not measured, or cannot run, are left out.
  void set(int type, int size, double steps_per_second);

  [[nodiscard]] double step_seconds(policies::cluster::Shape shape) const override;
  // 0 where nothing was measured.
  [[nodiscard]] double steps_per_second(int type, int size) const;
  // Measured on any type, ascending.
  [[nodiscard]] std::vector<int> sizes() const;

 private:
  struct Entry {
    int type;
    int size;
    double steps_per_second;
  };
  std::vector<Entry> entries_;
};

}  // namespace tidepool::sim
