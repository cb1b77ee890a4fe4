#include <CLI/CLI.hpp>

#include <memory>

#include <nlohmann/json.hpp>

#include "base/time.hpp"
#include "schedctl/app.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/tables.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

using TableOf = std::string (*)(const json& items, const Style& style);

int show_list(Session& session, const std::string& path, TableOf table) {
  const Listed listed = session.list(path);
  session.print(listed.items, [&] { return table(listed.items, session.style()); });
  return kExitOk;
}

void add_list(CLI::App& app, Chosen& chosen, const std::string& name, const std::string& help, const std::string& path,
              TableOf table) {
  app.add_subcommand(name, help)->callback([path, table, &chosen] {
    chosen.online = [path, table](Session& session) { return show_list(session, path, table); };
  });
}

void add_decisions(CLI::App& app, Chosen& chosen) {
  struct Given {
    std::string job;
    std::size_t limit = 20;
  };
  const auto given = std::make_shared<Given>();
  CLI::App* command = app.add_subcommand("decisions", "The last decisions in words, newest first");
  command->add_option("job", given->job, "only those about this job");
  command->add_option("--limit", given->limit, "at most so many")->capture_default_str()->check(CLI::Range(1, 1000));
  command->callback([given, &chosen] {
    chosen.online = [given](Session& session) {
      const std::string path =
          given->job.empty() ? "/v1/decisions" : "/v1/jobs/" + session.job_id(given->job) + "/decisions";
      const Listed listed = session.list(path, given->limit);
      session.print(listed.items, [&] { return decisions_text(listed.items, session.style()); });
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
  session.print(token, [&] {
    return text_at(token, "/token") + "\n" +
           "keep it now: only its hash is stored. Revoke it with: schedctl token revoke " + text_at(token, "/id") +
           "\n";
  });
  return kExitOk;
}

void add_token_commands(CLI::App& app, Chosen& chosen) {
  CLI::App* token = app.add_subcommand("token", "Who may do what");
  token->require_subcommand(1);
  add_list(*token, chosen, "ls", "List tokens", "/v1/tokens", tokens_table);

  const auto fresh = std::make_shared<NewToken>();
  CLI::App* create = token->add_subcommand("create", "Make a token; it is shown once");
  create->add_option("name", fresh->name, "whose it is")->required();
  create->add_option("--role", fresh->role, "what it may do")
      ->capture_default_str()
      ->check(CLI::IsMember({"admin", "submitter", "viewer"}));
  create->add_option("--tenant", fresh->tenant, "only for this tenant");
  create->add_option("--lifetime", fresh->lifetime, "such as 30d; without it the token does not expire");
  create->callback(
      [fresh, &chosen] { chosen.online = [fresh](Session& session) { return create_token(session, *fresh); }; });

  const auto id = std::make_shared<std::string>();
  CLI::App* revoke = token->add_subcommand("revoke", "Make a token useless");
  revoke->add_option("id", *id, "the token's id, see: schedctl token ls")->required();
  revoke->callback([id, &chosen] {
    chosen.online = [id](Session& session) {
      const json answer = session.send({.method = "DELETE", .path = "/v1/tokens/" + escape_url(*id)});
      session.print(answer, [&] { return *id + " is revoked\n"; });
      return static_cast<int>(kExitOk);
    };
  });
}

}  // namespace

void add_cluster_commands(CLI::App& app, Chosen& chosen) {
  add_list(app, chosen, "nodes", "List nodes and their slots", "/v1/nodes", nodes_table);
  add_decisions(app, chosen);
  CLI::App* policy = app.add_subcommand("policy", "What decides sizes and order");
  policy->require_subcommand(1);
  add_list(*policy, chosen, "ls", "List policies; * marks the active one", "/v1/policies", policies_table);
  add_token_commands(app, chosen);
}

}  // namespace tidepool::ctl
