#include "workers/agent/node_slots.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "api/worker_protocol.hpp"
#include "base/word_list.hpp"

namespace tidepool::agent {
namespace {

constexpr int kDefaultCpuSlots = 4;

// "NVIDIA H200" -> "nvidia-h200", the form used in a job file.
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

// "1 GPU", "2 GPUs"
std::string count_of(int count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

// "nvidia-a100 (4 GPUs), nvidia-h200 (2 GPUs)"
std::string types_told(const std::vector<Gpu>& gpus) {
  std::map<std::string, int> counts;
  for (const Gpu& gpu : gpus) ++counts[type_of(gpu.name)];
  return word_list(counts, [](const auto& entry) { return entry.first + " (" + count_of(entry.second, "GPU") + ")"; });
}

Error not_there(const std::string& gpus, const std::string& why, const std::vector<Gpu>& all) {
  return invalid_argument("--gpus " + gpus + ": " + why + "; this host has " + types_told(all) + ": " +
                          word_list(all, &Gpu::uuid) + "; name a type, or UUIDs or their beginnings");
}

// The positions of the GPUs whose UUIDs begin with one of the comma-separated texts; each text must match one GPU.
Result<std::vector<int>> places_by_uuid(const std::string& texts, const std::vector<Gpu>& all) {
  std::vector<int> places;
  for (std::size_t from = 0; from <= texts.size();) {
    const std::size_t to = std::min(texts.find(',', from), texts.size());
    const std::string start = texts.substr(from, to - from);
    from = to + 1;
    const auto is_meant = [&](const Gpu& gpu) { return !start.empty() && gpu.uuid.starts_with(start); };
    const auto exact = std::find_if(all.begin(), all.end(), [&](const Gpu& gpu) { return gpu.uuid == start; });
    const auto found = exact != all.end() ? exact : std::find_if(all.begin(), all.end(), is_meant);
    if (found == all.end()) return not_there(texts, "no type and no UUID here begins with \"" + start + "\"", all);
    if (exact == all.end() && std::any_of(found + 1, all.end(), is_meant)) {
      return not_there(texts, "several UUIDs begin with \"" + start + "\"", all);
    }
    places.push_back(static_cast<int>(found - all.begin()));
  }
  std::sort(places.begin(), places.end());
  if (std::adjacent_find(places.begin(), places.end()) == places.end()) return places;
  return not_there(texts, "a GPU is named twice", all);
}

Result<std::vector<int>> places_asked(const std::string& asked, const std::vector<Gpu>& all) {
  std::vector<int> places;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (asked.empty() || type_of(all[i].name) == asked) places.push_back(static_cast<int>(i));
  }
  return places.empty() ? places_by_uuid(asked, all) : Result<std::vector<int>>(std::move(places));
}

Result<NodeSlots> gpu_slots(const SlotsAsked& asked, const std::vector<Gpu>& all) {
  auto places = places_asked(asked.gpus, all);
  if (!places) return places.error();
  NodeSlots slots{.count = static_cast<int>(places->size()), .of_host = static_cast<int>(all.size())};
  for (const int place : *places) slots.gpus.push_back(all[static_cast<std::size_t>(place)]);
  slots.places = *std::move(places);
  const std::string type = type_of(slots.gpus.front().name);
  const bool same =
      std::all_of(slots.gpus.begin(), slots.gpus.end(), [&](const Gpu& gpu) { return type_of(gpu.name) == type; });
  if (!same) {
    return invalid_argument((asked.gpus.empty() ? "this host has" : "--gpus " + asked.gpus + " names") +
                            " GPUs of several types: " + types_told(slots.gpus) +
                            "; a node has slots of one type, so start an agent for each type, with --gpus TYPE, a name "
                            "and a --state-dir of its own");
  }
  slots.type = asked.type.empty() ? type : asked.type;
  slots.note = count_of(slots.count, "GPU") + ": " + slots.gpus.front().name;
  if (slots.of_host > slots.count) slots.note += ", of " + std::to_string(slots.of_host) + " that the host has";
  return slots;
}

}  // namespace

Result<NodeSlots> find_slots(const SlotsAsked& asked, GpuProbe& probe) {
  if (asked.cpu_slots) {
    return cpu(*asked.cpu_slots, asked.type, count_of(*asked.cpu_slots, "CPU slot") + ", as told");
  }
  const auto gpus = probe.list();
  if (gpus) return gpu_slots(asked, *gpus);
  if (!asked.gpus.empty()) return not_found("--gpus " + asked.gpus + ": " + gpus.error().message);
  if (!asked.type.empty()) {
    return not_found("--slot-type " + asked.type + ": " + gpus.error().message +
                     "; to offer CPU slots under that name, add --slots N");
  }
  return cpu(kDefaultCpuSlots, "", gpus.error().message + "; offering " + count_of(kDefaultCpuSlots, "CPU slot"));
}

std::vector<int> cpus_of(const NodeSlots& node, const std::vector<int>& usable) {
  if (node.of_host <= node.count) return usable;
  std::vector<int> own;
  for (std::size_t i = 0; i < usable.size(); ++i) {
    const auto place = static_cast<int>(i * static_cast<std::size_t>(node.of_host) / usable.size());
    if (std::binary_search(node.places.begin(), node.places.end(), place)) own.push_back(usable[i]);
  }
  return own;
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
