// The agent's single thread: passes facts from the link, the workers and the kernel to AgentState and carries out its
// actions in order.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "workers/agent/agent_options.hpp"
#include "workers/agent/health/figures.hpp"
#include "workers/agent/isolation/confinement.hpp"
#include "workers/agent/node_slots.hpp"

namespace tidepool::agent {

class AgentLoop {
 public:
  // Measures this node's devices in tenths of a second; called in a thread of its own. Returns no figures once it is
  // asked to stop.
  using Measure = std::function<std::vector<DeviceFigures>(const std::stop_token& stop)>;
  struct DeviceReaders {
    Measure measure;
    std::function<std::optional<int>(const std::string& uuid)> gpu_processes;  // as GpuProbe::processes_on
  };
  struct Node {
    NodeSlots slots;
    Confinement confinement;  // of the node's jobs
  };

  // Takes over `options.state_dir`, whose lock the caller holds: reads what earlier agents left, adopts their workers
  // and opens the socket for them. What `senses` refer to must outlive the loop.
  [[nodiscard]] static Result<std::unique_ptr<AgentLoop>> open(const AgentOptions& options, Node node,
                                                               DeviceReaders senses);

  AgentLoop(const AgentLoop&) = delete;
  AgentLoop& operator=(const AgentLoop&) = delete;
  virtual ~AgentLoop() = default;

  // Whether workers of an earlier agent continue here.
  [[nodiscard]] virtual bool has_workers() const = 0;

  // The figures of the devices that were measured before the node joins.
  virtual void report_figures(const std::vector<DeviceFigures>& figures) = 0;

  // The state of the node's source of notices: when the machine is reclaimed (on the steady clock), or none. Any
  // thread.
  virtual void report_notice(std::optional<Instant> at) = 0;

  // Returns when the agent was asked to end, or has been idle for the configured time.
  virtual void run() = 0;

 protected:
  AgentLoop() = default;
};

}  // namespace tidepool::agent
