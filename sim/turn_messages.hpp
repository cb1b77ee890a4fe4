// Converts between the messages of the simulated world and the input and output of a turn: the same content, but the
// world identifies nodes by their index in the cluster and submissions by their key.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "schedulerd/leader/turn_result.hpp"
#include "sim/messages.hpp"

namespace tidepool::sim {

// The id that the daemon has given to each admitted node. A node keeps its id for ever.
class NodeIds {
 public:
  void add(int node, NodeId id);
  // No id: it was never admitted.
  [[nodiscard]] NodeId of(int node) const;
  // None: no admission of it has been sent, though one may be in its journal.
  [[nodiscard]] std::optional<int> node_of(NodeId id) const;

 private:
  std::vector<NodeId> ids_;  // by node
  std::map<NodeId, int> nodes_;
};

[[nodiscard]] leader::TurnItem item_of(const Incoming& incoming, const NodeIds& ids);

// Appends the messages of the order; none if its node was never admitted.
void pass_on(leader::TurnOrder order, NodeIds& ids, std::vector<Outgoing>& out);

// Of a submission; empty: it is none.
[[nodiscard]] std::string key_of(const Incoming& incoming);

}  // namespace tidepool::sim
