#include "schedulerd/leader/node_trust.hpp"

#include <utility>

#include "schedulerd/leader/report_facts.hpp"

namespace tidepool::leader {
namespace {

constexpr const char* kDefaultPrice = "1.00";
constexpr const char* kCpuSlots = "cpu";
constexpr const char* kAskForToken = "ask an admin for a new one: schedctl node token create";

std::string again(const std::string& node) {
  return "; to admit this machine again, create a new token (schedctl node token create) and run, with its other "
         "options as before: agentd join --anew --token TOKEN --name " +
         node;
}

std::string revoked_words(const NodeCredential& credential) {
  return "the certificate of " + credential.node + " was revoked" +
         (credential.revoke_reason.empty() ? "" : " (" + credential.revoke_reason + ")");
}

// Of a token and a name, in the order in which a person would mend them.
Status check_token(const std::optional<NodeToken>& token, const NodeJoinItem& item, Instant now) {
  // One answer for an unknown token and a wrong secret, so that ids cannot be found out.
  if (!token || token->secret_sha256 != item.secret_sha256) {
    return invalid_argument(std::string("this daemon has made no such node token; ") + kAskForToken);
  }
  if (token->revoked) return invalid_argument("the node token " + token->id + " was revoked; " + kAskForToken);
  if (now >= token->expires_at) {
    return invalid_argument("the node token " + token->id + " has expired; " + kAskForToken);
  }
  if (!is_node_name(item.node)) return invalid_argument(std::string(kNodeNameRule) + "; give one with --name");
  if (!item.node.starts_with(token->name_prefix)) {
    return invalid_argument("the node token " + token->id + " is for names that begin with \"" + token->name_prefix +
                            "\", and " + item.node + " does not; give another with --name");
  }
  return ok_status();
}

// A pool has given the name to a node that it asked for since: its provider has said that the machine before is gone.
bool is_of_former_machine(const NodeCredential& held, const core::NodePools& pools) {
  const core::PoolNode* mine = pools.find_name(held.node);
  return mine != nullptr && mine->is_coming() && held.joined_at < mine->asked_at;
}

// Whether the name is free for this key.
Status check_name(const std::optional<NodeCredential>& held, const NodeToken& token, const NodeJoinItem& item,
                  const TurnBatch& batch) {
  if (held && held->revoked_at) {
    if (token.created_at > *held->revoked_at && item.key_sha256 != held->key_sha256) return ok_status();
    return conflict(revoked_words(*held) + ", and this token or key is older than that" + again(item.node));
  }
  if (held && held->key_sha256 == item.key_sha256) return ok_status();
  if (held && batch.now() < held->valid_until && !is_of_former_machine(*held, batch.state().pools)) {
    return conflict("the name " + item.node + " belongs to a node that has joined; give another with --name, or, if " +
                    "that machine is gone: schedctl node revoke " + item.node);
  }
  for (const auto& [id, node] : batch.state().nodes) {
    if (node.name == item.node && node.state == core::NodeState::kUp) {
      return conflict("the name " + item.node + " belongs to " + id.text() +
                      ", which is up; give another with --name, or stop the agent there first");
    }
  }
  return ok_status();
}

struct Grant {
  NodeToken token;
  bool takes_a_use = true;
};

Result<Grant> check_join(const NodeJoinItem& item, TurnBatch& batch) {
  const auto token = batch.node_token(item.token_id);
  if (!token.ok()) return token.error();
  TP_TRY(check_token(*token, item, batch.now()));
  const auto held = batch.node_credential(item.node);
  if (!held.ok()) return held.error();
  TP_TRY(check_name(*held, **token, item, batch));
  // It has joined before and may not have heard of it.
  const bool repeated = *held && (*held)->key_sha256 == item.key_sha256 && (*held)->token_id == (*token)->id;
  if (!repeated && (*token)->uses >= (*token)->uses_max) {
    return invalid_argument("the node token " + (*token)->id +
                            " is used up (uses: " + std::to_string((*token)->uses_max) + "); " + kAskForToken);
  }
  return Grant{.token = **token, .takes_a_use = !repeated};
}

}  // namespace

void create_node_token(const CreateNodeToken& wanted, const std::string& actor, TurnBatch& batch) {
  batch.keep(NodeToken{.id = wanted.id,
                       .secret_sha256 = wanted.secret_sha256,
                       .uses_max = wanted.uses_max,
                       .uses = 0,
                       .name_prefix = wanted.name_prefix,
                       .terms = wanted.terms,
                       .created_at = batch.now(),
                       .expires_at = batch.now() + wanted.lifetime,
                       .created_by = actor,
                       .revoked = false});
}

Status revoke_node_token(const std::string& id, TurnBatch& batch) {
  auto token = batch.node_token(id);
  if (!token.ok()) return token.error();
  if (!*token) return not_found("there is no node token " + id);
  (*token)->revoked = true;
  batch.keep(**std::move(token));
  return ok_status();
}

Status revoke_node(const RevokeNode& wanted, TurnBatch& batch) {
  auto held = batch.node_credential(wanted.node);
  if (!held.ok()) return held.error();
  if (!*held) {
    return conflict("no node " + wanted.node + " has joined with a certificate; an agent with the shared token is " +
                    "shut out by a new agent.token and a restart of the daemon");
  }
  NodeCredential& credential = **held;
  if (credential.revoked_at) {
    if (!credential.revoke_reason.empty() || wanted.reason.empty()) return ok_status();
    credential.revoke_reason = wanted.reason;
    batch.keep(credential);
    return ok_status();
  }
  credential.revoked_at = batch.now();
  credential.revoke_reason = wanted.reason;
  const std::string why = revoked_words(credential);
  batch.note(NodeRevokedNote{wanted.node, wanted.reason});
  batch.keep(credential);
  const NodeId node = batch.leader().engine.node_id_for(wanted.node);
  if (batch.state().find_node(node) != nullptr) {
    TP_TRY(batch.learn(core::NodeLost{node, why}));
    batch.leader().newest.forget_workers_of(node);
  }
  batch.order(NodeExpulsion{wanted.node, why + again(wanted.node)});
  return ok_status();
}

void take_join(const NodeJoinItem& item, TurnBatch& batch) {
  auto grant = check_join(item, batch);
  if (!grant.ok()) {
    batch.note(NodeJoinRefusedNote{item.node, item.token_id, grant.error().message});
    return batch.order(AgentRefusal{item.session, grant.error().message});
  }
  NodeToken& token = grant->token;
  const Instant now = batch.now();
  if (grant->takes_a_use) {
    ++token.uses;
    batch.keep(token);
  }
  batch.note(NodeCertifiedNote{item.node, token.id});
  batch.keep(NodeCredential{.node = item.node,
                            .key_sha256 = item.key_sha256,
                            .token_id = token.id,
                            .terms = token.terms,
                            .joined_at = now,
                            .valid_until = now + item.lifetime,
                            .revoked_at = {},
                            .revoke_reason = {}});
  batch.order(CertificateGrant{item.session, item.node});
}

void take_renewal(const NodeRenewalItem& item, TurnBatch& batch) {
  auto held = batch.node_credential(item.node);
  if (!held.ok()) return;
  if (!*held || (*held)->revoked_at || (*held)->key_sha256 != item.key_sha256) {
    const std::string why = "the certificate of " + item.node + " is no longer valid" + again(item.node);
    batch.note(NodeJoinRefusedNote{item.node, {}, why});
    return batch.order(AgentRefusal{item.session, why});
  }
  NodeCredential& credential = **held;
  credential.valid_until = batch.now() + item.lifetime;
  batch.note(NodeCertifiedNote{item.node, {}});
  batch.keep(credential);
  batch.order(CertificateGrant{item.session, item.node});
}

Result<std::optional<NodeCredential>> may_come_in(const AgentHelloItem& item, TurnBatch& batch) {
  auto held = batch.node_credential(item.hello.node);
  if (!held.ok()) return held;
  if (!*held) {
    if (item.key_sha256.empty()) return held;
    return invalid_argument("this daemon knows of no node " + item.hello.node + " that has joined" +
                            again(item.hello.node));
  }
  const NodeCredential& credential = **held;
  if (item.key_sha256.empty()) {
    return conflict("the name " + item.hello.node +
                    " belongs to a node that has joined with a certificate, and the shared token is not taken for it; "
                    "give this node another name");
  }
  if (credential.revoked_at) return invalid_argument(revoked_words(credential) + again(item.hello.node));
  if (credential.key_sha256 != item.key_sha256) {
    return conflict(item.hello.node + " has joined again since, and this certificate is no longer valid" +
                    again(item.hello.node));
  }
  return held;
}

api::AgentHello on_terms(api::AgentHello hello, const std::optional<NodeCredential>& known) {
  if (!known) return hello;
  const NodeTerms& terms = known->terms;
  hello.price_per_slot_hour = terms.price_per_slot_hour ? to_text(*terms.price_per_slot_hour) : kDefaultPrice;
  // Another type would have workers there ask for GPUs (start_order.cpp).
  if (!terms.slot_type.empty() && hello.slot_type != kCpuSlots) hello.slot_type = terms.slot_type;
  return hello;
}

}  // namespace tidepool::leader
