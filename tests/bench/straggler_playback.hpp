// Crews played back from recordings (tests/support/recorded_noise.hpp), watched by one detector: healthy ones, and ones
// in which a worker turns slow and the scheduler's rule answers. The same arguments give the same figures.
#pragma once

#include <cstdint>
#include <optional>

#include "straggler/registry.hpp"
#include "tests/support/recorded_noise.hpp"

namespace tidepool::test {

struct NoiseResult {
  int alarms = 0;            // names given
  double share_of_time = 0;  // rank-steps under a name
};

// `steps` of a crew without a slow worker.
[[nodiscard]] NoiseResult noise_only(const straggler::Entry& entry, const ComputeTimes& recorded, std::uint64_t seed,
                                     int steps);

inline constexpr int kSlowSteps = 2'000;  // for so long a worker is slow

struct SlowResult {
  std::optional<int> named_after;  // steps
  double healthy_s = 0;            // the same steps without a slow worker
  double slow_s = 0;               // with no worker replaced
  double mended_s = 0;             // with the slow one replaced by the rule
  double eased_s = 0;              // with a smaller share of it by the rule, and never replaced
};

// After a healthy beginning one worker turns `slowness` times slower and stays so. The rule: when the others have
// waited as long as the action costs, a joining worker boots beside the job; then there is a pause, and the worker is
// healthy.
[[nodiscard]] SlowResult slow_run(const straggler::Entry& entry, const ComputeTimes& recorded, double slowness,
                                  std::uint64_t seed);

}  // namespace tidepool::test
