// Nodes that join with a certificate: the tokens with which they may, and the end of a node's certificate.
#include <CLI/CLI.hpp>
#include <memory>

#include <nlohmann/json.hpp>

#include "base/time.hpp"
#include "schedctl/app.hpp"
#include "schedctl/checks.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/node_named.hpp"
#include "schedctl/tables.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

struct TokenOptions {
  std::string ttl = "1h";
  int uses = 1;
  std::string labels;
  std::string name_prefix;
  std::string slot_type;
  std::string price;
};

// "rack=r1,zone=a".
json labels_of(const std::string& text) {
  json labels = json::object();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string one = text.substr(begin, end - begin);
    const std::size_t equals = one.find('=');
    if (equals == 0 || equals == std::string::npos) fail(kExitUsage, "--labels: \"" + one + "\" is not NAME=VALUE");
    const std::string name = one.substr(0, equals);
    if (labels.contains(name)) fail(kExitUsage, "--labels names " + name + " twice; a node has one value of each");
    labels[name] = one.substr(equals + 1);
    begin = end + 1;
  }
  return labels;
}

// "HOST" of "https://HOST:PORT"; an IPv6 address keeps its brackets.
std::string host_of(const std::string& url) {
  const std::size_t begin = url.find("://") == std::string::npos ? 0 : url.find("://") + 3;
  const std::size_t end = url.find('/', begin);
  const std::string place = url.substr(begin, end == std::string::npos ? end : end - begin);
  return place.substr(0, place.ends_with(']') ? place.size() : place.rfind(':'));
}

int create_node_token(Session& session, const TokenOptions& asked) {
  if (const auto ttl = parse_duration(asked.ttl); !ttl.ok()) fail(kExitUsage, "--ttl: " + ttl.error().message);
  json body = {{"ttl", asked.ttl}, {"uses", asked.uses}, {"labels", labels_of(asked.labels)}};
  if (!asked.name_prefix.empty()) body["name_prefix"] = asked.name_prefix;
  if (!asked.slot_type.empty()) body["slot_type"] = asked.slot_type;
  if (!asked.price.empty()) body["price_per_slot_hour"] = asked.price;
  const json token = session.send({.method = "POST", .path = "/v1/node-tokens", .body = body.dump()});
  session.print(token, [&] { return text_at(token, "/token") + "\n"; });
  // Where the token itself goes to a program, standard error may go to a log that others read.
  const std::string shown = session.on_terminal() ? text_at(token, "/token") : "TOKEN";
  session.advise("keep it now: only its hash is stored. On the machine that is to join, run:\n  agentd join --daemon " +
                 host_of(session.endpoint().url) + ":" + std::to_string(token.value("agents_port", 0)) + " --token " +
                 shown + "\nRevoke it with: schedctl node token revoke " + text_at(token, "/id") + "\n");
  return kExitOk;
}

void add_create(CLI::App& token, Chosen& chosen) {
  const auto asked = std::make_shared<TokenOptions>();
  CLI::App* create = token.add_subcommand("create", "Create a token with which machines join; it is shown once");
  create->add_option("--ttl,--lifetime", asked->ttl, "how long machines may join with it")->capture_default_str();
  create->add_option("--uses", asked->uses, "how many machines may join with it")
      ->capture_default_str()
      ->check(whole_number(1, 10'000));
  create->add_option("--labels", asked->labels, "labels of these nodes: NAME=VALUE,...; jobs can select nodes by them");
  create->add_option("--name-prefix", asked->name_prefix, "only for node names with this prefix")->check(not_empty());
  create->add_option("--slot-type", asked->slot_type,
                     "slot type of their GPUs in job files (default: what the agent finds); CPU slots are always cpu");
  create->add_option("--price", asked->price, "price of a slot-hour on these nodes (1.00)");
  create->callback(
      [asked, &chosen] { chosen.online = [asked](Session& session) { return create_node_token(session, *asked); }; });
}

void add_node_token_commands(CLI::App& node, Chosen& chosen) {
  CLI::App* token = node.add_subcommand("token", "Create, list and revoke the tokens with which machines join");
  token->require_subcommand(1);
  add_create(*token, chosen);
  token->add_subcommand("ls", "List node tokens")->callback([&chosen] {
    chosen.online = [](Session& session) {
      const Listed listed = session.list("/v1/node-tokens");
      session.print(listed.items, [&] { return node_tokens_table(listed.items, session.style()); });
      return static_cast<int>(kExitOk);
    };
  });
  const auto id = std::make_shared<std::string>();
  CLI::App* revoke = token->add_subcommand("revoke", "Revoke a node token; nodes that joined with it stay");
  revoke->add_option("id", *id, "the token's id, see: schedctl node token ls")->required();
  revoke->callback([id, &chosen] {
    chosen.online = [id](Session& session) {
      const json answer = session.send({.method = "DELETE", .path = "/v1/node-tokens/" + escape_url(*id)});
      session.print(answer, [&] { return *id + " is revoked\n"; });
      return static_cast<int>(kExitOk);
    };
  });
}

struct RevokeOptions {
  std::string node;
  std::string reason;
};

// A node that has joined and never connected is in no list; the daemon knows it by its name.
std::string id_of(Session& session, const std::string& id_or_name) {
  const std::string id = node_named(session.list("/v1/nodes").items, id_or_name);
  return id.empty() ? id_or_name : id;
}

int revoke_node(Session& session, const RevokeOptions& asked) {
  const json answer = session.send({.method = "POST",
                                    .path = "/v1/nodes/" + escape_url(id_of(session, asked.node)) + "/revoke",
                                    .body = json{{"reason", asked.reason}}.dump()});
  session.print(answer, [&] {
    return text_at(answer, "/name") +
           " is revoked: its certificate is refused from now on, and its workers count as lost; processes on that "
           "machine "
           "are not stopped\n";
  });
  return kExitOk;
}

// "rack=r1" sets a label, "rack-" takes it away.
json label_changes_of(const std::vector<std::string>& words) {
  json labels = json::object();
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const bool removes = equals == std::string::npos && word.size() > 1 && word.ends_with('-');
    if (!removes && (equals == 0 || equals == std::string::npos)) {
      fail(kExitUsage, "\"" + word + "\" is neither KEY=VALUE, which sets a label, nor KEY-, which takes one away");
    }
    const std::string key = removes ? word.substr(0, word.size() - 1) : word.substr(0, equals);
    if (labels.contains(key)) fail(kExitUsage, "the label " + key + " is named twice");
    labels[key] = removes ? json(nullptr) : json(word.substr(equals + 1));
  }
  return labels;
}

int label_node(Session& session, const std::string& node, const std::vector<std::string>& words) {
  const json body = {{"labels", label_changes_of(words)}};
  const json answer = session.send(
      {.method = "POST", .path = "/v1/nodes/" + escape_url(id_of(session, node)) + "/labels", .body = body.dump()});
  session.print(answer, [&] {
    std::string labels;
    for (const auto& [key, value] : answer.at("labels").items()) labels += " " + key + "=" + value.get<std::string>();
    return text_at(answer, "/name") + (labels.empty() ? " has no labels" : " has" + labels) + "\n";
  });
  return kExitOk;
}

void add_label(CLI::App& node, Chosen& chosen) {
  const auto name = std::make_shared<std::string>();
  const auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = node.add_subcommand("label", "Set or remove labels of a node; jobs can select nodes by them");
  command->add_option("node", *name, "id or name")->required();
  command->add_option("labels", *words, "KEY=VALUE sets a label, KEY- removes it")->required();
  command->callback([name, words, &chosen] {
    chosen.online = [name, words](Session& session) { return label_node(session, *name, *words); };
  });
}

int remove_node(Session& session, const std::string& node) {
  const std::string path = "/v1/nodes/" + escape_url(id_of(session, node));
  const json answer = session.send({.method = "DELETE", .path = path});
  session.print(answer, [&] {
    const std::string name =
        answer.contains("name") ? text_at(answer, "/name") : node;  // a repeated request's has none
    const bool is_let_in =
        text_at(answer, "/access/by") == "certificate" && answer.at("access").at("revoked_at").is_null();
    return name + " is removed\n" +
           (is_let_in
                ? "Its certificate is still good: an agent there joins again. To keep it out: schedctl node revoke " +
                      name + "\n"
                : "");
  });
  return kExitOk;
}

// A command of this name that asks for what POST /v1/nodes/{id}/NAME does, and says what state the node is in then.
void add_node_request(CLI::App& node, Chosen& chosen, const std::string& request, const std::string& summary) {
  const auto name = std::make_shared<std::string>();
  CLI::App* command = node.add_subcommand(request, summary);
  command->add_option("node", *name, "id or name")->required();
  command->callback([name, request, &chosen] {
    chosen.online = [name, request](Session& session) {
      const std::string path = "/v1/nodes/" + escape_url(id_of(session, *name)) + "/" + request;
      const json answer = session.send({.method = "POST", .path = path});
      session.print(answer,
                    [&] { return text_at(answer, "/name") + " is " + node_state(answer, session.style().now) + "\n"; });
      return static_cast<int>(kExitOk);
    };
  });
}

}  // namespace

void add_node_trust_commands(CLI::App& app, Chosen& chosen) {
  CLI::App* node = app.add_subcommand("node", "Create tokens with which machines join; label, revoke and remove nodes");
  node->require_subcommand(1);
  add_node_token_commands(*node, chosen);
  add_label(*node, chosen);
  add_node_request(*node, chosen, "clear-faults", "Forget the losses of an unsteady node: it gets workers at once");
  add_node_request(*node, chosen, "release-slots", "Release the quarantined slots of a node: jobs get them at once");
  const auto gone = std::make_shared<std::string>();
  CLI::App* remove = node->add_subcommand("remove", "Remove a lost node that will not come back from the list");
  remove->add_option("node", *gone, "id or name")->required();
  remove->callback(
      [gone, &chosen] { chosen.online = [gone](Session& session) { return remove_node(session, *gone); }; });
  const auto asked = std::make_shared<RevokeOptions>();
  CLI::App* revoke =
      node->add_subcommand("revoke", "Revoke a node's certificate: the node is disconnected at once and cannot return");
  revoke->add_option("node", asked->node, "id or name")->required();
  revoke->add_option("--reason", asked->reason, "shown with the node");
  revoke->callback(
      [asked, &chosen] { chosen.online = [asked](Session& session) { return revoke_node(session, *asked); }; });
}

}  // namespace tidepool::ctl
