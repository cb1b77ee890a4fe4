// Workloads of jobs of a fixed size, drawn from a seed: they judge a policy that only chooses which jobs run. They are
// traces like recorded ones, so they run live and are replayed alike. Made for 64 slots on nodes of 8.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "studies/traces/trace.hpp"

namespace tidepool::sim {

struct RigidKind {
  std::string_view name;
  std::string_view summary;
};
inline constexpr std::array kRigidKinds{
    RigidKind{"backlog",
              "half a day of arrivals with three days of work: sizes 1 to 32, two jobs of five minutes long"},
    RigidKind{"floods", "200 jobs of one slot and a few minutes at once, six times, over gangs that run for hours"},
    RigidKind{"gangs", "gangs of 1 to 32, as many of each size, of log-normal length"},
    RigidKind{"heavy", "heavy-tailed work from 30 s to four days, mostly on one slot"},
};

// Errors: no such kind. The same kind and seed give the same jobs, named in order of arrival.
[[nodiscard]] Result<Trace> rigid_workload(std::string_view kind, std::uint64_t seed);

}  // namespace tidepool::sim
