// Which session has the name of a node, and for how long a name has been without one. Sessions have said hello; what
// lets them do so is the gateway's.
//
// One live session a name, and beside it one that the loop has not answered yet: a newer one closes the older. Another
// agent, with a state directory of its own, has no claim to a name that is held. Absence is counted in heartbeats of
// this process, and told once; also that of a session which has closed before the loop's answer, because the loop may
// have taken its node for up.
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

  // The node was up before this process, and may take so long to come.
  void expect(const std::string& node, std::int64_t patience_ticks);

  // Why an agent that says this may not have the name; none: it may. The log has it once.
  [[nodiscard]] std::optional<std::string> why_taken(const api::AgentHello& hello);
  // None: the name has no live session.
  [[nodiscard]] Session live(const std::string& node) const;
  [[nodiscard]] Session joining(const std::string& node) const;

  // Under its node_name. Closes the one that was joining before.
  void join(const Session& session);
  // The loop has taken it. Closes the one that was live before.
  void admit(const Session& session);
  void closed(const AgentSession& session);

  // One heartbeat has passed. `on_lost`: has been away for longer than so many of them.
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
