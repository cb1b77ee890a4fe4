#include "workers/agent/node_slots.hpp"

#include <utility>

#include "api/worker_protocol.hpp"

namespace tidepool::agent {
namespace {

constexpr int kDefaultCpuSlots = 4;

// "NVIDIA H200" -> "nvidia-h200": what a job file asks for.
std::string type_of(const std::string& gpu_name) {
  std::string type;
  for (const char c : gpu_name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.';
    const bool capital = c >= 'A' && c <= 'Z';
    if (letter) type += c;
    if (capital) type += static_cast<char>(c - 'A' + 'a');
    if (!letter && !capital && !type.empty() && type.back() != '-') type += '-';
  }
  while (type.ends_with('-')) type.pop_back();
  return type.empty() ? "gpu" : type;
}

NodeSlots cpu(int count, const std::string& type, std::string note) {
  return {.count = count, .type = type.empty() ? "cpu" : type, .gpus = {}, .note = std::move(note)};
}

}  // namespace

NodeSlots find_slots(std::optional<int> cpu_slots, const std::string& type, GpuProbe& probe) {
  if (cpu_slots) return cpu(*cpu_slots, type, std::to_string(*cpu_slots) + " CPU slots, as told");
  auto gpus = probe.list();
  if (!gpus) {
    return cpu(kDefaultCpuSlots, type,
               gpus.error().message + "; offering " + std::to_string(kDefaultCpuSlots) + " CPU slots");
  }
  NodeSlots slots{.count = static_cast<int>(gpus->size()), .type = type.empty() ? type_of(gpus->front().name) : type};
  slots.note = std::to_string(slots.count) + " GPUs: " + gpus->front().name;
  slots.gpus = std::move(*gpus);
  return slots;
}

std::vector<std::string> gpus_of(const NodeSlots& node, const std::vector<int>& slots) {
  std::vector<std::string> gpus;
  for (const int slot : slots) {
    if (static_cast<std::size_t>(slot) < node.gpus.size())
      gpus.push_back(node.gpus[static_cast<std::size_t>(slot)].uuid);
  }
  return gpus;
}

std::vector<std::string> device_files(const NodeSlots& node, const std::vector<int>& slots) {
  std::vector<std::string> files = {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/infiniband",
                                    "/dev/gdrdrv"};
  bool known = true;
  for (const int slot : slots) {
    const auto index = static_cast<std::size_t>(slot);
    if (index >= node.gpus.size() || !node.gpus[index].minor) {
      known = false;
      continue;
    }
    files.push_back("/dev/nvidia" + std::to_string(*node.gpus[index].minor));
  }
  if (known) return files;
  files.emplace_back("/dev/nvidia-caps");
  for (int minor = 0; minor < api::kNodeSlotsMax; ++minor) files.push_back("/dev/nvidia" + std::to_string(minor));
  return files;
}

}  // namespace tidepool::agent
