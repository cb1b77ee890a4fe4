// The agent's one thread: brings facts from the link, the workers and the kernel to AgentState and
// carries its actions out, in order.
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
  // Measures this node's devices; takes a tenth of a second or some, and is called in a thread of its own. Without
  // figures once it is told to stop.
  using Measure = std::function<std::vector<DeviceFigures>(const std::stop_token& stop)>;
  struct Senses {
    Measure measure;
    std::function<std::optional<int>(const std::string& uuid)> gpu_processes;  // as GpuProbe::processes_on
  };
  struct Node {
    NodeSlots slots;
    Confinement confinement;  // of its jobs
  };

  // Takes over `options.state_dir`, whose lock the caller holds: reads what earlier agents left, adopts
  // their workers and opens the socket for them. What `senses` refer to outlives the loop.
  [[nodiscard]] static Result<std::unique_ptr<AgentLoop>> open(const AgentOptions& options, Node node, Senses senses);

  AgentLoop(const AgentLoop&) = delete;
  AgentLoop& operator=(const AgentLoop&) = delete;
  virtual ~AgentLoop() = default;

  // Whether workers of an earlier agent go on here.
  [[nodiscard]] virtual bool has_workers() const = 0;

  // What the devices do, as measured before the node joins.
  virtual void tell_figures(const std::vector<DeviceFigures>& figures) = 0;

  // What the node's source of notices shows, on any thread: when the machine is taken back (on the steady clock), or
  // none.
  virtual void tell_notice(std::optional<Instant> at) = 0;

  // Returns when the agent has been told to end, or has been idle for long enough.
  virtual void run() = 0;

 protected:
  AgentLoop() = default;
};

}  // namespace tidepool::agent
