// What requests about nodes have in common: the reason that operators give, and the refusal of a node that is not
// there.
#pragma once

#include <optional>
#include <string>

#include "base/json.hpp"
#include "schedulerd/live/http/rest.hpp"

namespace tidepool::live::http {

// The field "reason", empty if it is left out; a finding if it is too long or has control characters, which terminals
// obey.
[[nodiscard]] std::string read_reason(ObjectReader& in);

// The node that `text` means: an id, or the name of one that is known; the id of one that was removed is still good.
[[nodiscard]] std::optional<NodeId> node_meant(const core::ClusterState& state, const std::string& text);

// Of a call whose {id} is the id of no node; one that is a node's name is told its id.
[[nodiscard]] Problem unknown_node(const Call& call);

}  // namespace tidepool::live::http
