// What a node offers: GPUs of its host that are all of one type, or declared CPU slots. Slot i is the i-th of them. A
// host with several types has one agent for each; the agents divide what belongs to the whole host by its GPUs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workers/agent/gpu_probe.hpp"

namespace tidepool::agent {

struct NodeSlots {
  int count = 0;
  std::string type;           // "cpu", "nvidia-h200"
  std::vector<Gpu> gpus;      // empty = CPU slots
  std::string note;           // for the log: what was found, or why there are no GPUs
  std::vector<int> places{};  // position of each of its GPUs among all of the host, ascending
  int of_host = 0;            // number of GPUs of the host; 0: CPU slots, which count as the whole host

  // Number of slots among which the host's memory is divided.
  [[nodiscard]] int slots_of_host() const { return of_host > count ? of_host : count; }
};

// The GPUs of these slots; none on a node without GPUs.
[[nodiscard]] std::vector<std::string> gpus_of(const NodeSlots& node, const std::vector<int>& slots);

// Files in /dev through which a worker reaches the GPUs of these slots; the files of all GPUs if it is not known which
// file belongs to which GPU.
[[nodiscard]] std::vector<std::string> device_files(const NodeSlots& node, const std::vector<int>& slots);

// Of the CPUs that the agent may use, those that its workers may get exclusively: the host's CPUs, in order, are
// divided among its GPUs, so that the agents of one host assign no CPU twice.
[[nodiscard]] std::vector<int> cpus_of(const NodeSlots& node, const std::vector<int>& usable);

struct SlotsAsked {
  std::optional<int> cpu_slots;
  std::string gpus;  // a type, or UUIDs or their beginnings, separated by commas; empty = all
  std::string type;  // name of the slot type; empty = the driver's name
};
// With `cpu_slots` the probe is not used; without, the GPUs if there are any, else four CPU slots. Fails with a reason
// if the GPUs are of several types, if named GPUs are missing, or if a type is named and no GPU of it is present.
[[nodiscard]] Result<NodeSlots> find_slots(const SlotsAsked& asked, GpuProbe& probe);

}  // namespace tidepool::agent
