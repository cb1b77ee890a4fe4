// A training program whose speed, batch and progress are not a plain function of its size: they depend on the placement
// of its workers and on its progress. The fleet requests one stretch of equal steps after another.
#pragma once

#include <cstdint>
#include <vector>

namespace tidepool::sim {

class Program {
 public:
  // A sequence of equal steps.
  struct Stretch {
    double step_s = 0;       // > 0
    std::int64_t steps = 1;  // at most this many before the next request; >= 1
    std::int64_t batch = 1;  // samples a step over all workers
    double noise_scale = 0;  // of the gradient, in samples (workers/runtime/numerics/noise_scale.hpp)
  };

  virtual ~Program() = default;
  // The next stretch for this placement: the number of workers on each node, in rank order, each >= 1. Requires: it has
  // not ended.
  [[nodiscard]] virtual Stretch go_on(const std::vector<int>& workers) = 0;
  // This many steps of the newest stretch have committed; never more than it has.
  virtual void commit(std::int64_t steps) = 0;
  [[nodiscard]] virtual bool is_done() const = 0;
  // The measure of its work: useful samples, relative to its initial batch.
  [[nodiscard]] virtual std::int64_t samples_taught() const = 0;
};

}  // namespace tidepool::sim
