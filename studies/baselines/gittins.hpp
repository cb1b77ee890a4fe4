// Tiresias with the Gittins index, two-dimensional and discretized (Gu et al., "Tiresias", NSDI 2019, section 4.2): the
// queues, the threshold and the passing over of tiresias.hpp, but within a queue the job of the highest index comes
// first. For a job that has attained the service a (slots x time held) and a service quantum D,
//   G(a) = P(S - a <= D | S > a) / E[min(S - a, D) | S > a]
// over the services S that ended jobs took: the chance to finish in the next D, per slot-second that this would take. D
// is the threshold in the first queue and infinite in the second, where G is 1 / the mean service left.
// a is rounded down to whole steps, so that running jobs do not overtake one another every round; equal indices are
// served as in tiresias.hpp. Before ten jobs have ended, and beyond the longest of them, every index is 0.
// Departs from Tiresias in that: the distribution is that of the jobs ended so far, where its simulator reads it from
// the whole trace beforehand; no promotion of starved jobs, no placement by tensor skew.
#pragma once

#include <vector>

#include "policies/cluster/allocation_policy.hpp"

namespace tidepool::policies::cluster {

// The services that ended jobs took, in any order. A question costs the logarithm of their number.
class EndedServices {
 public:
  explicit EndedServices(std::vector<double> services);

  [[nodiscard]] std::size_t count() const { return services_.size(); }
  // G(attained) for a quantum above 0, perhaps infinite. 0 where no service is above `attained`.
  [[nodiscard]] double index(double attained, double quantum) const;

 private:
  std::vector<double> services_;  // ascending
  std::vector<double> sums_;      // of the first i of them
};

class Gittins final : public AllocationPolicy {
 public:
  static constexpr std::size_t kEndedMin = 10;
  static constexpr double kStep = 3'600;  // slot-seconds

  [[nodiscard]] Allocation allocate(const View& view, core::StepBudget& budget) const override;
};

}  // namespace tidepool::policies::cluster
