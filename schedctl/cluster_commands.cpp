#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>
#include <sstream>

#include <nlohmann/json.hpp>

#include "base/time.hpp"
#include "schedctl/app.hpp"
#include "schedctl/checks.hpp"
#include "schedctl/event_stream.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/node_named.hpp"
#include "schedctl/stored/login.hpp"
#include "schedctl/tables.hpp"
#include "tls/certificate.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

using TableOf = std::string (*)(const json& items, const Style& style);

int show_list(Session& session, const std::string& path, TableOf table) {
  const Listed listed = session.list(path);
  session.print(listed.items, [&] { return table(listed.items, session.style()); });
  return kExitOk;
}

struct ListCommand {
  const char* name;
  const char* help;
  const char* path;
  TableOf table;
};

void add_list(CLI::App& app, Chosen& chosen, const ListCommand& list) {
  app.add_subcommand(list.name, list.help)->callback([list, &chosen] {
    chosen.online = [list](Session& session) { return show_list(session, list.path, list.table); };
  });
}

void add_decisions(CLI::App& app, Chosen& chosen) {
  struct Given {
    std::string job;
    std::size_t limit = 50;
    bool all = false;
  };
  const auto given = std::make_shared<Given>();
  CLI::App* command = app.add_subcommand("decisions", "List the last decisions with their reasons, newest first");
  command->add_option("job", given->job, "only decisions about this job")->check(not_empty());
  command->add_option("--limit", given->limit, "at most this many")
      ->capture_default_str()
      ->check(whole_number(1, 1'000));
  command->add_flag(
      "--all", given->all,
      "list each job that a decision leaves unchanged, and repeated rows one by one; without it such jobs "
      "are counted, and rows that differ only in their time are one");
  command->callback([given, &chosen] {
    chosen.online = [given](Session& session) {
      const std::string job = given->job.empty() ? "" : session.job_id(given->job);
      const std::string path = job.empty() ? "/v1/decisions" : "/v1/jobs/" + job + "/decisions";
      const Listed listed = session.list(path, given->limit);
      const Rows rows = given->all ? Rows::kAll : Rows::kFolded;
      session.print(listed.items, [&] { return decisions_text(listed.items, session.style(), rows, job); });
      return static_cast<int>(kExitOk);
    };
  });
}

struct NewToken {
  std::string name;
  std::string role = "submitter";
  std::string tenant;
  std::string lifetime;
};

int create_token(Session& session, const NewToken& given) {
  json body = {{"name", given.name}, {"role", given.role}};
  if (!given.tenant.empty()) body["tenant"] = given.tenant;
  if (!given.lifetime.empty()) {
    if (const auto lifetime = parse_duration(given.lifetime); !lifetime.ok()) {
      fail(kExitUsage, "--lifetime: " + lifetime.error().message);
    }
    body["lifetime"] = given.lifetime;
  }
  const json token = session.send({.method = "POST", .path = "/v1/tokens", .body = body.dump()});
  session.print(token, [&] { return text_at(token, "/token") + "\n"; });
  session.advise("keep it now: only its hash is stored. Revoke it with: schedctl token revoke " +
                 text_at(token, "/id") + "\n");
  return kExitOk;
}

void add_token_commands(CLI::App& app, Chosen& chosen) {
  CLI::App* token = app.add_subcommand("token", "Create, list and revoke API tokens");
  token->require_subcommand(1);
  add_list(*token, chosen, {"ls", "List tokens", "/v1/tokens", tokens_table});

  const auto fresh = std::make_shared<NewToken>();
  CLI::App* create = token->add_subcommand("create", "Create a token; it is shown once");
  create->add_option("name", fresh->name, "whose it is")->required()->check(not_empty());
  create->add_option("--role", fresh->role, "what it may do")
      ->capture_default_str()
      ->check(CLI::IsMember({"admin", "submitter", "viewer"}));
  create->add_option("--tenant", fresh->tenant, "only for this tenant")->check(not_empty());
  create->add_option("--lifetime,--ttl", fresh->lifetime, "such as 30d; without it the token does not expire")
      ->check(not_empty());
  create->callback(
      [fresh, &chosen] { chosen.online = [fresh](Session& session) { return create_token(session, *fresh); }; });

  const auto id = std::make_shared<std::string>();
  CLI::App* revoke = token->add_subcommand("revoke", "Revoke a token: requests with it are refused");
  revoke->add_option("id", *id, "the token's id, see: schedctl token ls")->required();
  revoke->callback([id, &chosen] {
    chosen.online = [id](Session& session) {
      const json answer = session.send({.method = "DELETE", .path = "/v1/tokens/" + escape_url(*id)});
      session.print(answer, [&] { return *id + " is revoked\n"; });
      return static_cast<int>(kExitOk);
    };
  });
}

// As PEM, so that the file may go away.
std::string authority_of(Endpoint& endpoint, const std::string& fingerprint) {
  if (!fingerprint.empty()) {
    if (!tls::is_fingerprint(fingerprint)) fail(kExitUsage, "--fingerprint is sha256: and 64 digits of 0-9a-f");
    std::string shown = HttpClient(endpoint).shown_certificate([&](const std::string& pem) {
      const auto known = tls::fingerprint(pem);
      return known.ok() && *known == fingerprint;
    });
    if (shown.empty()) {
      fail(kExitNoDaemon, "the daemon at " + endpoint.url +
                              " is not trusted: none of the certificates that it shows has the fingerprint " +
                              fingerprint);
    }
    return shown;
  }
  if (endpoint.ca_file.empty()) return endpoint.ca;
  std::ifstream file(endpoint.ca_file);
  std::ostringstream read;
  read << file.rdbuf();
  // No authority would mean the system's, which are not what was given.
  if (read.str().empty()) fail(kExitUsage, "the authority " + endpoint.ca_file + " cannot be read or is empty");
  return read.str();
}

int log_in(const Settings& settings, const std::string& fingerprint) {
  Endpoint endpoint = resolve_endpoint(settings);
  while (endpoint.url.ends_with('/')) endpoint.url.pop_back();
  if (endpoint.token.empty()) fail(kExitUsage, "give a token with --token, --token-file or TIDEPOOL_TOKEN");
  if (!fingerprint.empty()) endpoint.ca_of_login = false;
  endpoint.ca = authority_of(endpoint, fingerprint);
  endpoint.ca_file.clear();
  // Stored only if it works: this verifies the daemon before the token is sent.
  require_success(HttpClient(endpoint).send({.path = "/v1/jobs?limit=1"}));
  const std::string path = login_file();
  const Status stored = store_login(path, {.url = endpoint.url, .token = endpoint.token, .ca = endpoint.ca});
  if (!stored.ok()) fail(kExitUsage, stored.error().message);
  write_out("logged in to " + endpoint.url + "; kept in " + path + ", see: schedctl logout\n");
  return kExitOk;
}

int log_out() {
  const std::string path = login_file();
  const bool was_there = !path.empty() && ::unlink(path.c_str()) == 0;
  write_out(was_there ? "removed " + path + "\n" : "there was no login\n");
  return kExitOk;
}

void add_login_commands(CLI::App& app, Chosen& chosen) {
  const auto fingerprint = std::make_shared<std::string>();
  CLI::App* in = app.add_subcommand("login", "Store address, authority and token of a daemon for later commands");
  in->add_option("--fingerprint", *fingerprint, "sha256:... of the daemon's authority; instead of --ca")
      ->check(not_empty());
  in->callback([fingerprint, &chosen] {
    chosen.offline = [fingerprint](const Settings& settings) { return log_in(settings, *fingerprint); };
  });
  CLI::App* out = app.add_subcommand("logout", "Remove what login has stored");
  out->callback([&chosen] { chosen.offline = [](const Settings&) { return log_out(); }; });
}

struct NodeOptions {
  std::string id;
  std::uint64_t as_of_seq = 0;  // what happens to it later has a higher number
};

NodeOptions find_node(Session& session, const std::string& id_or_name) {
  const Listed listed = session.list("/v1/nodes");
  const std::string id = node_named(listed.items, id_or_name);
  if (id.empty()) fail(kExitApi, "there is no node " + id_or_name + "; see: schedctl nodes");
  return {id, listed.as_of_seq};
}

json act_on_node(Session& session, const NodeOptions& node, const std::string& action, const json& body = nullptr) {
  return session.send({.method = "POST",
                       .path = "/v1/nodes/" + escape_url(node.id) + "/" + action,
                       .body = body.is_null() ? "" : body.dump()});
}

struct NodeAction {
  std::string name;
  std::string help;
  std::string outcome;  // what is said of the node then
};

void add_node_action(CLI::App& app, Chosen& chosen, const NodeAction& action) {
  const auto node_name = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(action.name, action.help);
  command->add_option("node", *node_name, "id or name")->required();
  command->callback([node_name, action, &chosen] {
    chosen.online = [node_name, action](Session& session) {
      const json node = act_on_node(session, find_node(session, *node_name), action.name);
      const auto outcome = [&] {
        return action.name == "cordon" ? action.outcome : opened_node(node, action.outcome, session.style().now);
      };
      session.print(node, [&] { return text_at(node, "/name") + " " + outcome() + "\n"; });
      return static_cast<int>(kExitOk);
    };
  });
}

struct DrainOptions {
  std::string node;
  std::string deadline = "10m";
  std::string reason;
  bool wait = false;
};

[[noreturn]] void fail_of_lost(const std::string& name) {
  fail(kExitNegative, name + " is lost: which workers are left there is known once its agent is back; it stays closed" +
                          " until schedctl undrain " + name);
}

// 0 once no worker is left on it, 1 if the drain was cancelled or the node lost before.
int wait_until_drained(Session& session, const NodeOptions& node, const std::string& name) {
  leave_on_interrupt();
  std::string last;
  const FollowEnd end = follow_events(session.endpoint(), {.after = node.as_of_seq}, [&](const json& event) {
    if (text_at(event, "/node") != node.id) return true;
    last = text_at(event, "/type");
    return last != "node.drained" && last != "node.undrained" && last != "node.lost";
  });
  if (end == FollowEnd::kReset) fail(kExitApi, "events came faster than they could be read; run the command again");
  if (last == "node.lost") fail_of_lost(name);
  if (last != "node.drained") fail(kExitNegative, "the drain of " + name + " was cancelled");
  if (session.format() == OutputFormat::kTable) write_out(name + " is drained: no worker is left on it\n");
  return kExitOk;
}

int drain(Session& session, const DrainOptions& asked) {
  if (const auto deadline = parse_duration(asked.deadline); !deadline.ok()) {
    fail(kExitUsage, "--deadline: " + deadline.error().message);
  }
  const NodeOptions node = find_node(session, asked.node);
  json body = {{"deadline", asked.deadline}};
  if (!asked.reason.empty()) body["reason"] = asked.reason;
  const json answer = act_on_node(session, node, "drain", body);
  const std::string name = text_at(answer, "/name");
  session.print(answer, [&] {
    return name + " is " + node_state(answer, session.style().now) + "; schedctl undrain " + name + " takes it back\n";
  });
  if (!asked.wait) return kExitOk;
  if (text_at(answer, "/state") == "lost" && !answer.at("drain").value("drained", false)) fail_of_lost(name);
  return wait_until_drained(session, node, name);
}

void add_drain(CLI::App& app, Chosen& chosen) {
  const auto asked = std::make_shared<DrainOptions>();
  CLI::App* command = app.add_subcommand("drain", "Drain a node: its jobs move away, shrink, or save their state");
  command->add_option("node", asked->node, "id or name")->required();
  command->add_option("--deadline", asked->deadline, "how long the jobs have; workers that are left then are stopped")
      ->capture_default_str();
  command->add_option("--reason", asked->reason, "shown with the node");
  command->add_flag("--wait", asked->wait, "return once no worker is left on the node");
  command->callback([asked, &chosen] { chosen.online = [asked](Session& session) { return drain(session, *asked); }; });
}

void add_node_commands(CLI::App& app, Chosen& chosen) {
  add_node_action(app, chosen,
                  {"cordon", "Mark a node as unschedulable: its workers stay, and it gets no new ones",
                   "gets no new workers; those on it stay"});
  add_node_action(app, chosen, {"uncordon", "Mark a cordoned node as schedulable again", "gets new workers again"});
  add_drain(app, chosen);
  add_node_action(app, chosen,
                  {"undrain", "Cancel a drain: the node gets workers again", "is no longer being drained"});
}

}  // namespace

void add_cluster_commands(CLI::App& app, Chosen& chosen) {
  add_nodes_command(app, chosen);
  add_node_commands(app, chosen);
  add_decisions(app, chosen);
  CLI::App* policy =
      app.add_subcommand("policy", "List, test, compare and activate the policies that decide sizes and order");
  policy->require_subcommand(1);
  add_list(*policy, chosen, {"ls", "List policies; * marks the active one", "/v1/policies", policies_table});
  add_token_commands(app, chosen);
  add_login_commands(app, chosen);
}

}  // namespace tidepool::ctl
