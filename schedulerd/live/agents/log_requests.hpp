// Pending reads of workers' logs through agents.
//
// Each is answered once: with the page, or with an error, after at most kLogTicksMax heartbeats.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "api/worker_protocol.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"
#include "schedulerd/live/service/service.hpp"

namespace tidepool::live {

inline constexpr std::int64_t kLogTicksMax = 10;  // heartbeats that a log request may take

class LogRequests {
 public:
  using Done = std::function<void(Result<LogPage>)>;

  // Returns the number to use in the request to the node's agent.
  [[nodiscard]] std::uint64_t add(NodeId node, Done done);
  // The answer of the node's agent. Answers without a pending read, or from another node, are dropped.
  void answer(NodeId node, api::LogChunk chunk);
  // Call after each heartbeat. Nodes without a link do not answer.
  void tick(const std::function<bool(NodeId)>& is_connected);
  // Answers all pending reads with this error.
  void give_up(const std::string& why);

 private:
  struct Waiting {
    NodeId node;
    Done done;
    std::int64_t ticks = 0;
  };
  void finish(std::uint64_t number, Result<LogPage> page);

  std::map<std::uint64_t, Waiting> waiting_;
  std::uint64_t next_ = 1;
};

}  // namespace tidepool::live
