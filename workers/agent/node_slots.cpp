#include "workers/agent/node_slots.hpp"

#include <utility>

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

}  // namespace tidepool::agent
