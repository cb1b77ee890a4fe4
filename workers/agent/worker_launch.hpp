// Converts a `start` order into a process to start: its program and its environment. Pure.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "api/worker_protocol.hpp"
#include "base/result.hpp"
#include "workers/agent/data_address.hpp"
#include "workers/agent/node_slots.hpp"
#include "workers/agent/system/child_process.hpp"

namespace tidepool::agent {

struct LaunchPlace {
  std::filesystem::path program_folder;     // the folder that contains agentd
  std::filesystem::path agent_socket;       // for TIDEPOOL_AGENT_SOCKET; empty: the worker has no link
  std::filesystem::path job_file;           // for TIDEPOOL_JOB_FILE
  std::filesystem::path length_file;        // for TIDEPOOL_LENGTH_FILE; empty: the worker reports its length itself
  std::string cluster;                      // for TIDEPOOL_CLUSTER
  std::filesystem::path checkpoint_folder;  // for TIDEPOOL_CHECKPOINT_DIR, unless the daemon names a folder
  std::optional<std::filesystem::path> park_folder;      // for TIDEPOOL_PARK_DIR
  DataAddress data;                                      // for TIDEPOOL_DATA_ADDRESS; no host: not known
  bool confined = false;                                 // if true, it has a home and a user of its own
  std::map<std::string, std::string> agent_environment;  // from which a worker inherits a few names
};

// The daemon treats all slots except "cpu" as GPUs, and CPU slots may have another name.
[[nodiscard]] bool takes_gpus(const api::StartWorker& order, const NodeSlots& slots);

// An error means that the order cannot be carried out as written. The caller sets `output` and `cpus`.
[[nodiscard]] Result<ChildSpec> plan_launch(const api::StartWorker& order, const LaunchPlace& place,
                                            const NodeSlots& slots);

}  // namespace tidepool::agent
