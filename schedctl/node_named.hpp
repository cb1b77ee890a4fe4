// Resolves an id or a name to a node, for all commands that act on one.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace tidepool::ctl {

// The id of the node of `nodes`, as GET /v1/nodes lists them, that has this id or this name; empty if none has.
// Throws Failure if it is one node's id and another's name: a host may be called as it likes.
[[nodiscard]] std::string node_named(const nlohmann::json& nodes, const std::string& id_or_name);

}  // namespace tidepool::ctl
