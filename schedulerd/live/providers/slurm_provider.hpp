// Nodes inside a Slurm cluster: each is a pilot job whose script starts an agent, so nothing but sbatch, scancel and
// squeue is needed, and no rights beyond those of the daemon's user. A job is known by its name; its walltime is the
// node's lifetime.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedulerd/live/providers/node_provider.hpp"

namespace tidepool::live {

[[nodiscard]] std::unique_ptr<NodeProvider> make_slurm_provider(ProviderSetup setup);

// The nodes that squeue has told of, a line a job: "4|RUNNING|1795382977|tidepool-c-5f-12" (number, state, the end in
// seconds since 1970 or a word, name). Jobs in a final state are none; none at all: this is no list of jobs. `now`:
// seconds since 1970.
[[nodiscard]] std::optional<std::vector<ProvidedNode>> pilots_in(std::string_view queue, std::int64_t now);
// The script of a pilot job: `start` takes the place of its shell, so that Slurm's signals reach the agent.
[[nodiscard]] std::string pilot_script(const std::string& start, const NodeToCreate& node);

}  // namespace tidepool::live
