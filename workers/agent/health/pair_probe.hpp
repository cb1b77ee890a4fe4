// How fast two devices sum numbers with each other, over the communicator that training would use.
#pragma once

#include <cstddef>

#include "base/result.hpp"
#include "workers/runtime/comm/comm.hpp"

namespace tidepool::agent {

// Both ranks call it with the same arguments. Returns gigabytes summed per second, the median of `rounds`. Also an
// error if the sum is wrong: a link that corrupts data is worse than a slow one.
[[nodiscard]] Result<double> measure_pair(runtime::Comm& comm, std::size_t floats, int rounds);

}  // namespace tidepool::agent
