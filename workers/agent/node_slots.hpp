// What a node offers: its GPUs, or declared CPU slots. Slot i is the i-th of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workers/agent/gpu_probe.hpp"

namespace tidepool::agent {

struct NodeSlots {
  int count = 0;
  std::string type;       // "cpu", "nvidia-h200"
  std::vector<Gpu> gpus;  // empty = CPU slots
  std::string note;       // for the log: what was found, or why there are no GPUs
};

// Of these slots; none on a node without.
[[nodiscard]] std::vector<std::string> gpus_of(const NodeSlots& node, const std::vector<int>& slots);

// Files in /dev by which a worker reaches the GPUs of these slots; of all GPUs where it is not known which file is
// whose.
[[nodiscard]] std::vector<std::string> device_files(const NodeSlots& node, const std::vector<int>& slots);

// With `cpu_slots` the probe is not asked; without, GPUs if there are any, else four CPU slots.
[[nodiscard]] NodeSlots find_slots(std::optional<int> cpu_slots, const std::string& type, GpuProbe& probe);

}  // namespace tidepool::agent
