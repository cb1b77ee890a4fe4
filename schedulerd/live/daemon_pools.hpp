// The pools of a daemon: what its configuration says of them goes to the engine as the first thing that it learns, and
// each pool has a runner beside the loop.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "schedulerd/live/providers/pool_runner.hpp"
#include "schedulerd/live/setup/pool_config.hpp"

namespace tidepool::live {

// Digests of what makes the nodes of a pool: "PROVIDER/SETTINGS", where the first is of the provider and its command.
[[nodiscard]] std::string maker_of(const PoolConfig& config);

// Refuses a pool with nodes that another provider or command has made: the one of now may not know them, and nothing
// would end them. Other settings are warned of: they may be those of new nodes only, such as an image.
[[nodiscard]] Status check_makers(const PoolsConfig& config, const core::NodePools& known);

class DaemonPools {
 public:
  // Requires: the picture published is the recovered one. Refused as by check_makers().
  [[nodiscard]] Status prepare(const PoolsConfig& config, const std::string& cluster, Publisher& publisher,
                               Inbox& inbox);
  void start();
  // Returns when the calls under way have, after the longest of the pools' time-outs at most.
  void stop();

 private:
  std::vector<std::unique_ptr<PoolRunner>> runners_;
};

}  // namespace tidepool::live
