#include "workers/agent/node_isolation.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace tidepool::agent {
namespace {

namespace fs = std::filesystem;

IsolationPlace place_of(const AgentOptions& options, const NodeSlots& slots) {
  std::error_code error;
  IsolationPlace place{.state_dir = options.state_dir,
                       .confiner = fs::read_symlink("/proc/self/exe", error).parent_path() / "tidepool-confine",
                       .hidden = {options.state_dir},
                       .memory_folder = options.shared_memory_folder(),
                       .slots = slots.slots_of_host()};
  place.devices_known =
      std::all_of(slots.gpus.begin(), slots.gpus.end(), [](const Gpu& gpu) { return gpu.minor.has_value(); });
  if (!options.token_file.empty()) place.hidden.push_back(fs::absolute(options.token_file));
  return place;
}

}  // namespace

Result<Confinement> isolate(const AgentOptions& options, const NodeSlots& slots) {
  auto confinement = Confinement::open(options.isolation, place_of(options, slots));
  if (!confinement) return confinement.error();
  if (confinement->syscall_filter().empty()) {
    spdlog::warn("isolation: programs of jobs may make any system call ({})", confinement->why_no_filter());
  }
  if (!confinement->on()) {
    spdlog::warn("isolation: none ({}); jobs run as this agent's user", confinement->why_none());
    return confinement;
  }
  if (!confinement->why_metadata().empty()) {
    spdlog::warn("isolation: programs of jobs can reach the cloud's metadata addresses ({})",
                 confinement->why_metadata());
  }
  std::string parts;
  for (const std::string& part : confinement->kept()) parts += (parts.empty() ? "" : ",") + part;
  spdlog::info("isolation: {}", parts);
  return confinement;
}

}  // namespace tidepool::agent
