// How nodes are known: which machine may join with a node token, which key a node name belongs to, and until when it is
// valid. A name belongs to one key. What is granted is written down before it is given: a use of a token that is spent
// stays spent, and a node that has spent one without hearing of it asks again with the same token and key.
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
// Nothing changes for a node that is revoked already.
[[nodiscard]] Status revoke_node(const RevokeNode& wanted, TurnBatch& batch);

void take_join(const NodeJoinItem& item, TurnBatch& batch);
void take_renewal(const NodeRenewalItem& item, TurnBatch& batch);

// The credential by which the agent is known; none: it is the shared token. The error is for the agent.
[[nodiscard]] Result<std::optional<NodeCredential>> may_come_in(const AgentHelloItem& item, TurnBatch& batch);
// The hello with the operators' terms in the place of the agent's own.
[[nodiscard]] api::AgentHello on_terms(api::AgentHello hello, const std::optional<NodeCredential>& known);

}  // namespace tidepool::leader
