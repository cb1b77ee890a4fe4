#include "workers/agent/health/pair_probe.hpp"

#include <algorithm>
#include <vector>

#include "workers/runtime/comm/clock.hpp"

namespace tidepool::agent {

Result<double> measure_pair(runtime::Comm& comm, std::size_t floats, int rounds) {
  std::vector<float> values(floats);
  std::vector<double> seconds;
  for (int round = 0; round <= rounds; ++round) {
    for (std::size_t i = 0; i < floats; ++i) values[i] = static_cast<float>(i % 1'024);
    const auto begin = runtime::Clock::now();
    TP_TRY(comm.allreduce(values));
    seconds.push_back(runtime::millis_between(begin, runtime::Clock::now()) / 1e3);
    for (std::size_t i = 0; i < floats; ++i) {
      if (values[i] != static_cast<float>(comm.size()) * static_cast<float>(i % 1'024)) {
        return io_error("number " + std::to_string(i) + " of a sum between two devices came out wrong");
      }
    }
  }
  seconds.erase(seconds.begin());  // the first round is a warm-up
  std::nth_element(seconds.begin(), seconds.begin() + rounds / 2, seconds.end());
  return static_cast<double>(floats * sizeof(float)) / seconds[static_cast<std::size_t>(rounds / 2)] / 1e9;
}

}  // namespace tidepool::agent
