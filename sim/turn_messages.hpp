// Between the messages of the simulated world and what a turn of the daemon takes and gives: the same content, but the
// world knows nodes by their place in the cluster and submissions by their key.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "schedulerd/leader/turn_result.hpp"
#include "sim/messages.hpp"

namespace tidepool::sim {

// Which id the daemon has given to each node that it has let in. An id stays with its node for ever.
class NodeIds {
 public:
  void add(int node, NodeId id);
  // No id: it has never been let in.
  [[nodiscard]] NodeId of(int node) const;
  // None: no admission of it has left the daemon, though one may be in its journal.
  [[nodiscard]] std::optional<int> node_of(NodeId id) const;

 private:
  std::vector<NodeId> ids_;  // by node
  std::map<NodeId, int> nodes_;
};

[[nodiscard]] leader::TurnItem item_of(const Incoming& incoming, const NodeIds& ids);

// Appends what the world hears of the order, which is nothing if it goes to a node that was never let in.
void pass_on(leader::TurnOrder order, NodeIds& ids, std::vector<Outgoing>& out);

// Of a submission; empty: it is none.
[[nodiscard]] std::string key_of(const Incoming& incoming);

}  // namespace tidepool::sim
