// What an agent does before it offers its node: it measures every device, compares the figures with the other devices
// and with the last time, and logs the findings. The probe never prevents a node from joining: a slow device is better
// than none.
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
  std::filesystem::path record;                // where the figures are stored for the next time, one per line
  std::chrono::milliseconds deadline{60'000};  // per device
  std::function<bool()> gives_up = {};         // true: stop and measure nothing more; none = never
};

struct NodeHealth {
  std::vector<DeviceFigures> figures;
  std::vector<std::string> findings;  // from judge(), and why a device has no figures
};

// Takes about three seconds per GPU; empty if gives_up() stopped it. Call it while nothing runs on the devices.
[[nodiscard]] NodeHealth probe_node(const JoinProbe& probe);

}  // namespace tidepool::agent
