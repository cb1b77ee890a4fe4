// Runs tidepool-probe in a process of its own, so that a GPU which hangs or crashes its program does not affect the
// agent.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "workers/agent/health/figures.hpp"

namespace tidepool::agent {

struct ProbeCommand {
  std::string program;                         // path of tidepool-probe
  std::vector<std::string> arguments;          // after the program's name
  std::string visible_devices;                 // CUDA_VISIBLE_DEVICES of the probe
  std::chrono::milliseconds deadline{60'000};  // a first CUDA context on a large node takes seconds
  std::function<bool()> gives_up = {};         // as AnswerLimits::gives_up
};

// Waits for the answer; at the deadline the probe is killed. The error contains the probe's output.
[[nodiscard]] Result<DeviceFigures> run_probe(const ProbeCommand& command);

}  // namespace tidepool::agent
