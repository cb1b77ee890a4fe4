// Messages of workers while no daemon is connected, oldest first, bounded in number and in bytes. The oldest are
// dropped first, because every later `ready` and `steps` supersedes them.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "api/worker_protocol.hpp"

namespace tidepool::agent {

class Outbox {
 public:
  // A few minutes of messages from a node's workers.
  static constexpr std::size_t kMessagesMax = 10'000;
  static constexpr std::size_t kBytesMax = std::size_t{64} << 20U;

  void add(api::FromWorkerReport report);
  void forget(WorkerId worker);
  void clear();
  [[nodiscard]] std::vector<api::FromWorkerReport> take();

 private:
  struct Kept {
    api::FromWorkerReport report;
    std::size_t bytes = 0;  // as a line
  };
  std::deque<Kept> kept_;
  std::size_t bytes_ = 0;
};

}  // namespace tidepool::agent
