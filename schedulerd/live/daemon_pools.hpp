// The pools of a daemon: what its configuration says of them goes to the engine as the first thing that it learns, and
// each pool has a runner beside the loop.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "schedulerd/live/providers/pool_runner.hpp"
#include "schedulerd/live/setup/pool_config.hpp"

namespace tidepool::live {

class DaemonPools {
 public:
  // Requires: the picture published is the recovered one.
  [[nodiscard]] Status prepare(const PoolsConfig& config, const std::string& cluster, Publisher& publisher,
                               Inbox& inbox);
  void start();
  // Returns when the calls under way have, after the longest of the pools' time-outs at most.
  void stop();

 private:
  std::vector<std::unique_ptr<PoolRunner>> runners_;
};

}  // namespace tidepool::live
