// Which session has the name of a node, and for how long a name has been without one. Sessions have sent a valid hello;
// the gateway decides that.
//
// One live session per name, plus one that the loop has not answered yet: a newer one closes the older. Another agent,
// with another state directory, cannot take a name that is in use. Absence is counted in heartbeats of this process,
// and reported once; also that of a session which closed before the loop's answer, because the loop may count its node
// as up.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "api/worker_protocol.hpp"
#include "schedulerd/live/agents/agent_session.hpp"

namespace tidepool::live {

class NodeLinks {
 public:
  using Session = std::shared_ptr<AgentSession>;

  // `patience_ticks`: heartbeats without a session, after which a node is lost.
  explicit NodeLinks(std::int64_t patience_ticks) : patience_ticks_(patience_ticks) {}

  // The node was up before this process started, and may take this long to connect.
  void expect(const std::string& node, std::int64_t patience_ticks);

  // Why this agent cannot have the name; none: it can. Logged once.
  [[nodiscard]] std::optional<std::string> why_taken(const api::AgentHello& hello);
  // None: the name has no live session.
  [[nodiscard]] Session live(const std::string& node) const;
  [[nodiscard]] Session joining(const std::string& node) const;

  // Under its node_name. Closes the one that was joining before.
  void join(const Session& session);
  // The loop has admitted it. Closes the previously live session.
  void admit(const Session& session);
  void closed(const AgentSession& session);

  // Call after each heartbeat. `on_lost` is called for nodes that were away for longer than their patience.
  void tick(const std::function<void(const std::string& node, std::int64_t patience_ticks)>& on_lost);

 private:
  // A node name that has been seen: its session, or for how long it has been away.
  struct Link {
    Session session;
    Session joining;  // has said hello, and the loop has not answered
    std::int64_t patience_ticks = 0;
    std::int64_t away_ticks = 0;  // since it was heard last
    std::string refused = {};     // instance of an agent that was refused beside the one here: said once
  };
  // The one under this name; a new one has the usual patience.
  [[nodiscard]] Link& link_of(const std::string& node);

  std::int64_t patience_ticks_;
  std::map<std::string, Link> links_;  // of names that are held, or have not been away for so long
};

}  // namespace tidepool::live
