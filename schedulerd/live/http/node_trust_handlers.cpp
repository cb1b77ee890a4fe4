// Node tokens, with which machines join, the labels of nodes, and the end of a node's certificate.
#include <algorithm>

#include "api/node_label.hpp"
#include "api/node_token.hpp"
#include "base/json.hpp"
#include "core/state/node_labels.hpp"
#include "schedulerd/leader/report_facts.hpp"
#include "schedulerd/live/http/handlers.hpp"
#include "schedulerd/live/http/node_requests.hpp"
#include "schedulerd/live/http/paging.hpp"
#include "schedulerd/live/http/render.hpp"
#include "schedulerd/live/setup/secrets.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

constexpr const char* kNodeTokenLife = "1h";
constexpr Duration kNodeTokenLifeMax = Duration::seconds(30 * 24 * 3600);
constexpr std::int64_t kUsesMax = 10'000;
constexpr std::size_t kWordMax = 63;
constexpr std::size_t kNodeTokenIdBytes = 6;
constexpr std::size_t kNodeSecretBytes = 24;

// False, with a finding, if the label cannot be set.
bool check_label(ObjectReader& in, const std::string& name, const json& value) {
  if (core::is_implied_label(name)) {
    in.fail("labels", "Invalid", "has \"" + name + "\", which every node has and cannot be set");
    return false;
  }
  if (api::is_label_key(name) && value.is_string() && api::is_label_value(value.get<std::string>())) return true;
  in.fail("labels", "Invalid",
          "has \"" + name.substr(0, kWordMax) + "\": names and values are texts of " + api::kLabelRule);
  return false;
}

// Null takes a label away.
leader::LabelNode read_label_changes(const json& body, NodeId node, std::vector<FieldError>& errors) {
  leader::LabelNode wanted{.node = node, .labels = {}};
  ObjectReader in(body, "", errors);
  const json labels = in.raw("labels");
  in.finish();
  if (!labels.is_object() || labels.empty() || labels.size() > core::kNodeLabelsMax) {
    in.fail("labels", "WrongType", "must be an object of 1 to 32 labels, each a text, or null to take it away");
    return wanted;
  }
  for (const auto& [name, value] : labels.items()) {
    if (!check_label(in, name, value.is_null() ? json("") : value)) continue;
    wanted.labels[name] = value.is_null() ? std::nullopt : std::optional(value.get<std::string>());
  }
  return wanted;
}

void read_labels(ObjectReader& in, NodeTerms& terms) {
  if (!in.has("labels")) return;
  const json labels = in.raw("labels");
  if (!labels.is_object()) return in.fail("labels", "WrongType", "must be an object of texts");
  if (labels.size() > core::kNodeLabelsMax) return in.fail("labels", "OutOfRange", "must be at most 32");
  for (const auto& [name, value] : labels.items()) {
    if (!check_label(in, name, value)) return;
    terms.labels[name] = value.get<std::string>();
  }
}

// It names GPUs alone (leader/node_trust.cpp), and workers on slots called cpu are given none.
void check_slot_type(ObjectReader& in, const std::string& type) {
  if (type.size() > kWordMax) in.fail("slot_type", "OutOfRange", "must be at most 63 bytes");
  if (!api::is_printable(type)) in.fail("slot_type", "Invalid", "must be printable characters of ASCII");
  if (type != "cpu") return;
  in.fail("slot_type", "Invalid",
          "is what GPUs are called, and jobs would not get those of slots called cpu. CPU slots are cpu without it: "
          "leave it out, and let a machine with GPUs that is to offer CPU slots join with: agentd join --slots N");
}

leader::CreateNodeToken read_node_token(const json& body, std::vector<FieldError>& errors) {
  ObjectReader in(body, "", errors);
  leader::CreateNodeToken token;
  const auto lifetime = parse_duration(in.text("ttl", kNodeTokenLife));
  token.uses_max = in.integer("uses", 1, {.low = 1, .high = kUsesMax});
  token.name_prefix = in.text("name_prefix", "");
  token.terms.slot_type = in.text("slot_type", "");
  const std::string price = in.text("price_per_slot_hour", "");
  read_labels(in, token.terms);
  in.finish();
  if (!lifetime) {
    in.fail("ttl", "Invalid", "is no duration: " + lifetime.error().message);
  } else if (*lifetime <= Duration() || *lifetime > kNodeTokenLifeMax) {
    in.fail("ttl", "OutOfRange", "must be above 0 and at most 30d");
  } else {
    token.lifetime = *lifetime;
  }
  if (!token.name_prefix.empty() && !leader::is_node_name(token.name_prefix)) {
    in.fail("name_prefix", "Invalid", std::string("is no beginning of a node's name: ") + leader::kNodeNameRule);
  }
  check_slot_type(in, token.terms.slot_type);
  if (price.empty()) return token;
  if (const auto amount = parse_price(price); amount.ok()) {
    token.terms.price_per_slot_hour = *amount;
  } else {
    in.fail("price_per_slot_hour", "Invalid", amount.error().message);
  }
  return token;
}

std::string join_fingerprint(const RestOptions& options) {
  return options.join_fingerprint ? options.join_fingerprint() : std::string();
}

// Why no machine could join with a token; none: machines can.
std::optional<Problem> why_useless(const RestOptions& options) {
  const std::uint16_t port = options.agents_port ? options.agents_port() : std::uint16_t{0};
  if (!join_fingerprint(options).empty() && port != 0) return std::nullopt;
  return Problem{.status = 409,
                 .code = "NoJoining",
                 .detail = port == 0
                               ? "this daemon has no port for agents of other machines"
                               : "this daemon has no TLS, or shows a certificate whose authority it does not know",
                 .hint =
                     "start it with a configuration that has agents: {listen: \"ADDRESS:7481\"} and tls: {}; with "
                     "tls.certificate also give tls.ca"};
}

json created_token(Rest& rest, const Receipt& receipt, const Published& seen, const std::string& secret) {
  const auto kept = rest.service().history().node_tokens(receipt.token_id);
  json created = kept.empty() ? json{{"id", receipt.token_id}} : render_node_token(seen, kept.front());
  created["agents_port"] = rest.options().agents_port();
  // A repeated request finds the token of the first one, whose secret was not kept.
  created["token"] =
      receipt.replayed
          ? json(nullptr)
          : json(api::to_text(
                {.id = receipt.token_id, .secret = secret, .ca_fingerprint = join_fingerprint(rest.options())}));
  return created;
}

// The name of the node that the call means: by id, or by the name under which one has joined. Empty: answered already.
std::string name_to_revoke(Rest& rest, const Call& call) {
  const auto id = NodeId::parse(call.id);
  if (const core::Node* node = id ? call.seen->state.find_node(*id) : nullptr) return node->name;
  if (!rest.service().history().node_credentials(call.id).empty()) return call.id;
  call.fail(unknown_node(call));
  return {};
}

}  // namespace

void label_node(Rest& rest, Call call) {
  const auto id = NodeId::parse(call.id);
  if (!id || call.seen->state.find_node(*id) == nullptr) return call.fail(unknown_node(call));
  const auto body = parse_json(call.request.body);
  if (!body) return call.fail({.status = 400, .code = "BadJson", .detail = body.error().message});
  std::vector<FieldError> errors;
  leader::LabelNode wanted = read_label_changes(body.value(), *id, errors);
  if (!errors.empty()) {
    return call.fail({.status = 422,
                      .code = "InvalidLabels",
                      .detail = "the labels need a change",
                      .hint = "nothing was changed",
                      .errors = std::move(errors)});
  }
  const Caller caller = call.caller;
  rest.command(std::move(call), std::move(wanted), [&rest, caller, id](const Receipt&, const Published& seen) {
    const core::Node* node = seen.state.find_node(*id);
    const SeenBy seen_by{seen, caller, rest.service().history()};
    return json_response(200, node == nullptr ? json{{"id", id->text()}} : render_node(seen_by, *node));
  });
}

void list_node_tokens(Rest& rest, Call call) {
  const auto page = read_page(call, "node_tokens");
  if (!page) return call.fail(bad_parameter(page.error()));
  PageBuilder builder("node_tokens", page->limit);
  std::uint64_t place = 0;
  for (const auto& token : rest.service().history().node_tokens("")) {
    if (++place <= page->after.value_or(0)) continue;
    if (!builder.add(place, render_node_token(*call.seen, token))) break;
  }
  call.reply(200, std::move(builder).body(call.seen->as_of_seq));
}

void create_node_token(Rest& rest, Call call) {
  if (const auto useless = why_useless(rest.options())) return call.fail(*useless);
  const auto body = call.request.body.empty() ? Result<json>(json::object()) : parse_json(call.request.body);
  if (!body) return call.fail({.status = 400, .code = "BadJson", .detail = body.error().message});
  std::vector<FieldError> errors;
  leader::CreateNodeToken token = read_node_token(body.value(), errors);
  if (!errors.empty()) {
    return call.fail({.status = 422,
                      .code = "InvalidNodeToken",
                      .detail = "the token's description needs a change",
                      .hint = "nothing was stored",
                      .errors = std::move(errors)});
  }
  token.id = random_hex(kNodeTokenIdBytes);
  const std::string secret = random_hex(kNodeSecretBytes);
  token.secret_sha256 = sha256_hex(secret);
  rest.command(std::move(call), std::move(token), [&rest, secret](const Receipt& receipt, const Published& seen) {
    return json_response(201, created_token(rest, receipt, seen, secret));
  });
}

void revoke_node_token(Rest& rest, Call call) {
  const std::string id = call.id;
  rest.command(std::move(call), leader::RevokeNodeToken{id}, [&rest, id](const Receipt&, const Published& seen) {
    const auto kept = rest.service().history().node_tokens(id);
    return json_response(200, kept.empty() ? json{{"id", id}} : render_node_token(seen, kept.front()));
  });
}

void revoke_node(Rest& rest, Call call) {
  const std::string node = name_to_revoke(rest, call);
  if (node.empty()) return;
  const auto body = call.request.body.empty() ? Result<json>(json::object()) : parse_json(call.request.body);
  if (!body) return call.fail({.status = 400, .code = "BadJson", .detail = body.error().message});
  std::vector<FieldError> errors;
  ObjectReader in(body.value(), "", errors);
  const std::string reason = read_reason(in);
  in.finish();
  if (!errors.empty()) {
    return call.fail({.status = 422, .code = "InvalidReason", .detail = errors.front().message, .errors = errors});
  }
  rest.command(std::move(call), leader::RevokeNode{node, reason}, [&rest, node](const Receipt&, const Published& seen) {
    const auto known = rest.service().history().node_credentials(node);
    return json_response(200,
                         {{"name", node}, {"access", render_access(seen, known.empty() ? nullptr : &known.front())}});
  });
}

}  // namespace tidepool::live::http
