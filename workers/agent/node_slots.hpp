// What a node offers: GPUs of its host that are of one type, or declared CPU slots. Slot i is the i-th of them. A host
// with several types has one agent for each; what belongs to the host as a whole they divide by its GPUs.
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
  std::vector<int> places{};  // of each of its GPUs among all of the host, ascending
  int of_host = 0;            // GPUs of the host; 0: CPU slots, which are taken to be all of it

  // Slots by which the host's memory is divided.
  [[nodiscard]] int slots_of_host() const { return of_host > count ? of_host : count; }
};

// Of these slots; none on a node without.
[[nodiscard]] std::vector<std::string> gpus_of(const NodeSlots& node, const std::vector<int>& slots);

// Files in /dev by which a worker reaches the GPUs of these slots; of all GPUs where it is not known which file is
// whose.
[[nodiscard]] std::vector<std::string> device_files(const NodeSlots& node, const std::vector<int>& slots);

// Of the CPUs that the agent may use those that its workers may have to themselves: the host's CPUs, in order, are
// divided among its GPUs, so that agents of one host give none away twice.
[[nodiscard]] std::vector<int> cpus_of(const NodeSlots& node, const std::vector<int>& usable);

struct SlotsAsked {
  std::optional<int> cpu_slots;
  std::string gpus;  // a type, or UUIDs or their beginnings with commas between; empty = all
  std::string type;  // what to call them; empty = as the driver does
};
// With `cpu_slots` the probe is not asked; without, GPUs if there are any, else four CPU slots. Fails in words if the
// GPUs are of several types, if those that are named are not there, or if a type is named and none is there.
[[nodiscard]] Result<NodeSlots> find_slots(const SlotsAsked& asked, GpuProbe& probe);

}  // namespace tidepool::agent
