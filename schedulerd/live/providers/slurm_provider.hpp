// Nodes inside a Slurm cluster: each is a pilot job whose script starts an agent, so nothing but sbatch, scancel and
// squeue is needed, and no rights beyond those of the daemon's user. A job is known by its name; its walltime is the
// node's lifetime.
#pragma once

#include <memory>

#include "schedulerd/live/providers/node_provider.hpp"

namespace tidepool::live {

[[nodiscard]] std::unique_ptr<NodeProvider> make_slurm_provider(ProviderSetup setup);

// The nodes of `squeue --json`, of versions whose times are numbers (22.05) and of those whose times are objects
// (23.02). `now`: seconds since 1970.
[[nodiscard]] Provided<std::vector<ProvidedNode>> pilots_in(const nlohmann::json& queue, std::int64_t now);
// The script of a pilot job.
[[nodiscard]] std::string pilot_script(const std::string& start, const NodeToCreate& node);

}  // namespace tidepool::live
