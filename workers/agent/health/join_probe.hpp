// What an agent does before it offers its node: measures every device, compares with the neighbours and with the last
// time, and says so in its log. It never keeps a node from joining: a slow device is better than none.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "workers/agent/health/run_probe.hpp"

namespace tidepool::agent {

struct JoinProbe {
  std::string program;                         // path of tidepool-probe
  std::vector<std::string> gpus;               // empty: the CPU is measured
  std::filesystem::path record;                // where the figures are kept for the next time, one a line
  std::chrono::milliseconds deadline{60'000};  // of each device
  std::function<bool()> gives_up = {};         // true: stop, and measure nothing; none = never
};

struct NodeHealth {
  std::vector<DeviceFigures> figures;
  std::vector<std::string> findings;  // of judge(), and why a device has no figure
};

// Takes about three seconds a GPU; empty if it is given up. Call it while nothing runs on the devices.
[[nodiscard]] NodeHealth probe_node(const JoinProbe& probe);

}  // namespace tidepool::agent
