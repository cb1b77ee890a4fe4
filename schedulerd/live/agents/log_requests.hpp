// Reads of workers' logs that wait for the answer of an agent.
//
// Each is answered once: with the page, or with why there is none, which takes at most kLogTicksMax heartbeats.
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

  // The number by which the node's agent is to be asked.
  [[nodiscard]] std::uint64_t add(NodeId node, Done done);
  // What the node's agent has said. An answer that no read waits for, or of a node that was not asked, is dropped.
  void answer(NodeId node, api::LogChunk chunk);
  // One heartbeat has passed. Nodes without a link do not answer.
  void tick(const std::function<bool(NodeId)>& is_connected);
  // No answer comes to any.
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
