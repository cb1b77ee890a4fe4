// A training program whose speed, batch and progress are no plain function of its size: they depend on where its
// workers are and on how far it is. The fleet asks it for one stretch of equal steps after another.
#pragma once

#include <cstdint>
#include <vector>

namespace tidepool::sim {

class Program {
 public:
  // Equal steps that follow each other.
  struct Stretch {
    double step_s = 0;       // > 0
    std::int64_t steps = 1;  // at most so many before it asks anew; >= 1
    std::int64_t batch = 1;  // samples a step over all workers
    double noise_scale = 0;  // of the gradient, in samples (workers/runtime/numerics/noise_scale.hpp)
  };

  virtual ~Program() = default;
  // It goes on with workers that lie so: how many on each node, in rank order, each >= 1. Requires: it is not done.
  [[nodiscard]] virtual Stretch go_on(const std::vector<int>& workers) = 0;
  // So many steps of the newest stretch have committed; never more than it has.
  virtual void commit(std::int64_t steps) = 0;
  [[nodiscard]] virtual bool is_done() const = 0;
  // What it counts its work by: samples by what they teach, in samples at the batch that it began with.
  [[nodiscard]] virtual std::int64_t samples_taught() const = 0;
};

}  // namespace tidepool::sim
