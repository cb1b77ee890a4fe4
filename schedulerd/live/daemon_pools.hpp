// The pools of a daemon: their configuration goes to the engine as its first input, and each pool has a runner next to
// the loop.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "schedulerd/live/providers/pool_runner.hpp"
#include "schedulerd/live/setup/pool_config.hpp"

namespace tidepool::live {

// Digest of what creates the nodes of a pool: "PROVIDER/SETTINGS", where the first is of the provider and its command.
[[nodiscard]] std::string maker_of(const PoolConfig& config);

// Refuses a pool with nodes of another provider or command, because the present one may not know them and nothing would
// end them. Other changed settings cause a warning: they may concern new nodes only, such as an image.
[[nodiscard]] Status check_makers(const PoolsConfig& config, const core::NodePools& known);

class DaemonPools {
 public:
  // Requires: the published picture is the recovered one. Errors as of check_makers().
  [[nodiscard]] Status prepare(const PoolsConfig& config, const std::string& cluster, Publisher& publisher,
                               Inbox& inbox);
  void start();
  // Returns when the calls under way have ended, at most after the longest timeout of the pools.
  void stop();

 private:
  std::vector<std::unique_ptr<PoolRunner>> runners_;
};

}  // namespace tidepool::live
