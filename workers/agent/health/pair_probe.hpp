// How fast two devices sum numbers with each other, over the communicator that training would use.
#pragma once

#include <cstddef>

#include "base/result.hpp"
#include "workers/runtime/comm/comm.hpp"

namespace tidepool::agent {

// Both ranks call it with the same numbers. Giga of bytes summed a second, the median of `rounds`. An error also if the
// sum is wrong: a link that corrupts is worse than a slow one.
[[nodiscard]] Result<double> measure_pair(runtime::Comm& comm, std::size_t floats, int rounds);

}  // namespace tidepool::agent
