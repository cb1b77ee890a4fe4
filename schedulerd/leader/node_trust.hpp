// Identity of nodes: which machine may join with a node token, to which key a node name belongs, and until when it is
// valid. A name belongs to one key. Grants are recorded before they are given: a spent use of a token stays spent, and
// a node that spent one without receiving the answer asks again with the same token and key.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "schedulerd/leader/commands.hpp"
#include "schedulerd/leader/records.hpp"
#include "schedulerd/leader/turn_batch.hpp"
#include "schedulerd/leader/turn_items.hpp"

namespace tidepool::leader {

void create_node_token(const CreateNodeToken& wanted, const std::string& actor, TurnBatch& batch);
[[nodiscard]] Status revoke_node_token(const std::string& id, TurnBatch& batch);
// No effect on a node that is revoked already.
[[nodiscard]] Status revoke_node(const RevokeNode& wanted, TurnBatch& batch);

void take_join(const NodeJoinItem& item, TurnBatch& batch);
void take_renewal(const NodeRenewalItem& item, TurnBatch& batch);

// The credential of the agent; none: it uses the shared token. The error is for the agent.
[[nodiscard]] Result<std::optional<NodeCredential>> may_come_in(const AgentHelloItem& item, TurnBatch& batch);
// The hello with the operators' terms instead of the agent's own.
[[nodiscard]] api::AgentHello on_terms(api::AgentHello hello, const std::optional<NodeCredential>& known);

}  // namespace tidepool::leader
