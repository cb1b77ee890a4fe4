#include "schedctl/policy_online.hpp"

#include <openssl/evp.h>

#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>

#include "schedctl/checks.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/job_file.hpp"
#include "schedctl/policy_command.hpp"
#include "schedctl/text_table.hpp"
#include "schedctl/words.hpp"

namespace tidepool::ctl {
namespace {

namespace host = policies::host;
using nlohmann::json;

constexpr const char* kUntested = "has no tests: write some to tests/*.yaml beside it (docs/policies.md)";

// What the command line says.
struct Asked {
  std::string policy;   // a path, or a name that the daemon knows
  std::string version;  // of a name; empty = the newest
  std::vector<std::string> params;
  std::string since = "1d";
  int rounds = 1'000;
  bool stop = false;
  bool report = false;
};

std::string base64(const std::string& bytes) {
  std::string text(bytes.size() / 3 * 4 + 8, '\0');
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

json upload_of(const host::PolicyFile& file) {
  json body{{"manifest", to_json(file.manifest)}, {"tests", json::object()}};
  const bool native = file.manifest.engine == host::EngineKind::kNative;
  body[native ? "library" : "source"] = native ? base64(file.source) : file.source;
  for (const auto& path : file.tests) {
    const auto text = host::read_whole_file(path, host::kTestBytesMax);
    if (!text) fail(kExitUsage, text.error().message);
    FieldLines lines;
    auto list = parse_job_text(*text, lines);
    if (!list) fail(kExitUsage, path.string() + ": " + list.error().message);
    body["tests"][path.filename().string()] = *std::move(list);
  }
  return body;
}

std::string shown(const std::string& version) {
  return version.substr(0, kVersionShown);
}

bool is_folder(const std::string& word) {
  std::error_code failed;
  return std::filesystem::is_directory(word, failed);
}

// Else it is the name of what the daemon has.
bool is_path(const std::string& word) {
  return names_policy_file(word) || is_folder(word);
}

// The policy's name at the daemon; a path is sent first, and `asked.version` becomes its version.
std::string at_daemon(Session& session, Asked& asked) {
  if (!is_path(asked.policy)) return asked.policy;
  // A stored version is meant, whatever lies here.
  if (is_folder(asked.policy) && !asked.version.empty()) return asked.policy;
  if (!asked.version.empty()) fail(kExitUsage, "--version goes with the name of a policy, not with a path");
  const host::PolicyFile file = open_policy(asked.policy);
  const json stored = session.send({.method = "POST",
                                    .path = "/v1/policies/" + escape_url(file.manifest.name) + "/versions",
                                    .body = upload_of(file).dump(),
                                    .headers = {}});
  asked.version = text_at(stored, "/version");
  return file.manifest.name;
}

// The name of what is stored already; of a path, that of the policy in it.
std::string name_of(const Asked& asked) {
  return is_path(asked.policy) ? open_policy(asked.policy).manifest.name : asked.policy;
}

json post(Session& session, const std::string& name, const std::string& what, const json& body) {
  return session.send(
      {.method = "POST", .path = "/v1/policies/" + escape_url(name) + "/" + what, .body = body.dump(), .headers = {}});
}

// Two deployments of one version may differ in the parameters that were given.
std::string named(const json& deployed) {
  const json params = deployed.value("params", json::object());
  std::string given;
  for (const auto& [name, value] : params.items()) {
    given += (given.empty() ? " with " : ", ") + name + "=" + value.dump();
  }
  return text_at(deployed, "/name") + ", version " + shown(text_at(deployed, "/version")) + printable(given);
}

// `failure`: what the newest round has failed with.
std::string status_text(const json& deployment, const std::string& failure = "") {
  const json& active = deployment.at("active");
  std::string text = active.is_null() ? text_at(deployment, "/builtin") + " decides, the daemon's own policy\n"
                                      : named(active) + " decides\n";
  if (!active.is_null()) {
    const json& earlier = list_at(deployment, "/earlier");
    text += "a rollback goes back to " +
            (earlier.empty() ? text_at(deployment, "/builtin") + ", the daemon's own policy" : named(earlier[0])) +
            "\n";
  }
  if (const double failures = number_at(deployment, "/failures").value_or(0); failures > 0) {
    text +=
        count_of(failures, "round") + (failures > 1 ? " in a row" : "") + " failed; see: schedctl events\n" + failure;
  }
  if (!deployment.at("shadow").is_null()) text += "shadow: " + named(deployment.at("shadow")) + "\n";
  return text;
}

// The newest event of this type; null: none is kept.
json newest_event(Session& session, const std::string& type) {
  const Listed found = session.list("/v1/events?order=desc&type=" + type, 1);
  return found.items.empty() ? json() : found.items[0];
}

// Which policy file gave way last, when and why, while no other was activated since; else empty.
std::string rolled_back_text(Session& session) {
  const json rolled = newest_event(session, "policy.rolled_back");
  if (rolled.is_null()) return "";
  const json activated = newest_event(session, "policy.activated");
  if (number_at(activated, "/seq").value_or(0) > number_at(rolled, "/seq").value_or(0)) return "";
  return text_at(rolled, "/data/policy") + ", version " + shown(text_at(rolled, "/data/version")) + ", gave way at " +
         moment_of(text_at(rolled, "/at")) + " UTC: " + printable(text_at(rolled, "/data/why")) + "\n";
}

// What the newest round of the file that decides has failed with; else empty.
std::string last_failure_text(Session& session, const json& deployment) {
  if (number_at(deployment, "/failures").value_or(0) == 0) return "";
  const json failed = newest_event(session, "policy.error");
  if (failed.is_null() || text_at(failed, "/data/policy") != text_at(deployment, "/active/name")) return "";
  return "the last: " + printable(text_at(failed, "/data/error")) + "\n";
}

// What the daemon warns of is part of its answer: no other request could fail after what was done.
std::string deployment_text(const json& deployment, const Style& style) {
  return status_text(deployment) + warnings_text(deployment, style);
}

int activate(Session& session, Asked asked) {
  const std::string name = at_daemon(session, asked);
  json body = json::object();
  if (!asked.version.empty()) body["version"] = asked.version;
  if (!asked.params.empty()) body["params"] = params_of(asked.params);
  const json deployment = post(session, name, "activate", body);
  session.print(deployment, [&] { return deployment_text(deployment, session.style()); });
  return kExitOk;
}

int roll_back(Session& session, Asked asked) {
  if (asked.policy.empty()) {
    const json deployment = session.get("/v1/policies/status");
    if (deployment.at("active").is_null()) {
      fail(kExitNegative, text_at(deployment, "/builtin") +
                              ", the daemon's own policy, decides; there is no policy file to roll back");
    }
    asked.policy = text_at(deployment, "/active/name");
  }
  const json deployment = post(session, asked.policy, "rollback", json::object());
  session.print(deployment, [&] { return deployment_text(deployment, session.style()); });
  return kExitOk;
}

std::string sums(const json& report, const std::string& name) {
  const double rounds = number_at(report, "/rounds").value_or(0);
  if (rounds == 0) return "no round has been compared yet\n";
  std::string text = "in " + whole(number_at(report, "/rounds_different").value_or(0)) + " of " +
                     count_of(rounds, "round") + " " + name +
                     " would have given other sizes: " + whole(number_at(report, "/jobs_different").value_or(0)) +
                     " of " + whole(number_at(report, "/jobs_compared").value_or(0)) + " sizes\n";
  const auto [live, candidate] = distinguished(number_at(report, "/mean_slots_live").value_or(0),
                                               number_at(report, "/mean_slots_candidate").value_or(0));
  text += "slots given in a round: " + live + " in fact, " + candidate + " by " + name + "\n";
  return text;
}

std::string faults_text(const json& report) {
  std::string text;
  for (const auto& [code, count] : report.at("faults").items()) {
    text += count_of(count.get<double>(), "round") + " failed with " + code + "\n";
  }
  if (!text.empty()) text += "the last: " + printable(text_at(report, "/last_fault")) + "\n";
  return text;
}

std::string differences_table(const json& report, const Style& style) {
  TextTable table({{.title = "AT (UTC)"},
                   {.title = "JOB", .flexible = true},
                   {.title = "WORKERS", .right = true},
                   {.title = "CANDIDATE", .right = true},
                   {.title = "ITS REASON", .flexible = true, .wraps = true}});
  for (const json& each : list_at(report, "/differences")) {
    table.add({moment_of(text_at(each, "/at")), text_at(each, "/job") + " " + text_at(each, "/job_name"),
               whole(number_at(each, "/live").value_or(0)), whole(number_at(each, "/candidate").value_or(0)),
               text_at(each, "/reason/text")});
  }
  return table.empty() ? std::string() : "\n" + table.text(style);
}

// Empty where the candidate said nothing of pools.
std::string pools_table(const json& report, const Style& style) {
  TextTable table({{.title = "POOL", .flexible = true},
                   {.title = "TYPE"},
                   {.title = "ROUNDS", .right = true},
                   {.title = "DIFFERENT", .right = true},
                   {.title = "MEAN NODES", .right = true},
                   {.title = "CANDIDATE", .right = true}});
  for (const json& each : list_at(report, "/pools")) {
    const std::string type = text_at(each, "/slot_type");
    const auto [live, candidate] = distinguished(number_at(each, "/mean_nodes_live").value_or(0),
                                                 number_at(each, "/mean_nodes_candidate").value_or(0));
    table.add({text_at(each, "/pool"), type.empty() ? "-" : type, whole(number_at(each, "/rounds").value_or(0)),
               whole(number_at(each, "/rounds_different").value_or(0)), live, candidate});
  }
  return table.empty() ? std::string() : "\n" + table.text(style);
}

int shadow(Session& session, Asked asked) {
  if (asked.report) {
    const std::string name = name_of(asked);
    const json report = session.get("/v1/policies/" + escape_url(name) + "/shadow-report");
    session.print(report, [&] {
      return sums(report, name) + faults_text(report) + pools_table(report, session.style()) +
             differences_table(report, session.style());
    });
    return kExitOk;
  }
  if (asked.stop) {
    const std::string name = name_of(asked);
    const json deployment = post(session, name, "shadow", {{"stop", true}});
    session.print(deployment, [&] { return name + " no longer runs as a shadow\n"; });
    return kExitOk;
  }
  const std::string name = at_daemon(session, asked);
  json body = json::object();
  if (!asked.version.empty()) body["version"] = asked.version;
  if (!asked.params.empty()) body["params"] = params_of(asked.params);
  const json deployment = post(session, name, "shadow", body);
  session.print(deployment, [&] {
    return status_text(deployment) + "a shadow changes nothing; what it would have done: schedctl policy shadow " +
           name + " --report\n";
  });
  return kExitOk;
}

// How far the journal goes back, and whether that is as far as was asked for.
std::string reach_text(const json& diff) {
  const std::string oldest = moment_of(text_at(diff, "/oldest")) + " UTC";
  if (diff.value("complete", true)) return "the journal goes back to " + oldest;
  return "the journal goes back to " + oldest + " only, which is later than the time that was asked for";
}

std::string diff_text(const json& diff, const Style& style) {
  const std::string name = text_at(diff, "/name");
  if (number_at(diff, "/rounds_found").value_or(0) == 0) {
    return "no round was recorded in that time; " + reach_text(diff) + "\n";
  }
  std::string text = "recorded rounds from " + moment_of(text_at(diff, "/from")) + " to " +
                     moment_of(text_at(diff, "/to")) + " UTC, " + whole(number_at(diff, "/rounds").value_or(0)) +
                     " of " + whole(number_at(diff, "/rounds_found").value_or(0)) + " compared; " + reach_text(diff) +
                     "\n";
  text += faults_text(diff) + sums(diff, name) + pools_table(diff, style);
  TextTable table({{.title = "JOB", .flexible = true},
                   {.title = "ROUNDS", .right = true},
                   {.title = "MEAN SLOTS", .right = true},
                   {.title = "CANDIDATE", .right = true}});
  for (const json& each : list_at(diff, "/jobs")) {
    const auto [live, candidate] = distinguished(number_at(each, "/mean_slots_live").value_or(0),
                                                 number_at(each, "/mean_slots_candidate").value_or(0));
    table.add({text_at(each, "/job") + " " + text_at(each, "/job_name"), whole(number_at(each, "/rounds").value_or(0)),
               live, candidate});
  }
  if (!table.empty()) text += "\n" + table.text(style) + differences_table(diff, style);
  return text + "\nEach round is judged by itself: the candidate saw the cluster as it was then.\n";
}

int diff(Session& session, Asked asked) {
  const std::string name = at_daemon(session, asked);
  json body{{"since", asked.since}, {"rounds", asked.rounds}};
  if (!asked.version.empty()) body["version"] = asked.version;
  if (!asked.params.empty()) body["params"] = params_of(asked.params);
  const json answer = post(session, name, "diff", body);
  session.print(answer, [&] { return diff_text(answer, session.style()); });
  return answer.at("faults").empty() ? kExitOk : kExitNegative;
}

int versions(Session& session, const Asked& asked) {
  const json items = session.list("/v1/policies/" + escape_url(asked.policy) + "/versions").items;
  if (items.empty()) {
    fail(kExitNegative, "the daemon has no policy file " + asked.policy + "; schedctl policy ls lists what it has");
  }
  session.print(items, [&] {
    TextTable table({{.title = ""},
                     {.title = "VERSION"},
                     {.title = "STORED (UTC)"},
                     {.title = "BY"},
                     {.title = "CHECKS", .wraps = true}});
    for (const json& each : items) {
      const json& checks = each.at("checks");
      const double tests = checks.is_null() ? 0 : number_at(checks, "/tests").value_or(0);
      const double passed = checks.is_null() ? 0 : tests - number_at(checks, "/failed").value_or(0);
      const std::string seen = checks.is_null()               ? "not checked"
                               : !checks.value("runs", false) ? text_at(checks, "/fault")
                               : tests == 0                   ? "runs"
                                                              : whole(passed) + " of " + whole(tests) + " tests passed";
      const char* mark = each.value("active", false) ? "*" : each.value("shadow", false) ? "s" : " ";
      table.add({mark, shown(text_at(each, "/version")), moment_of(text_at(each, "/created_at")),
                 text_at(each, "/created_by"), seen});
    }
    return table.text(session.style());
  });
  return kExitOk;
}

int store(Session& session, Asked asked) {
  const std::string name = at_daemon(session, asked);
  if (asked.version.empty()) {
    fail(kExitUsage, "there is nothing to send: " + printable(name) + " is no .lua file, .so library or folder here");
  }
  const json examined = post(session, name, "test", {{"version", asked.version}});
  session.print(examined, [&] {
    std::string text = name + " is stored: version " + shown(asked.version) + "\n";
    if (!examined.value("runs", false)) return text + "it cannot be run: " + text_at(examined, "/fault") + "\n";
    if (list_at(examined, "/tests").empty()) return text + "it " + kUntested + "\n";
    const double failed = number_at(examined, "/failed").value_or(0);
    return text + whole(static_cast<double>(list_at(examined, "/tests").size()) - failed) + " of " +
           count_of(static_cast<double>(list_at(examined, "/tests").size()), "test") + " passed\n";
  });
  return examined.value("runs", false) && number_at(examined, "/failed").value_or(0) == 0 ? kExitOk : kExitNegative;
}

struct Subcommand {
  const char* name;
  const char* help;
  int (*run)(Session&, Asked);
};

// What its options fill, beside it; both live as long as the group.
struct Added {
  CLI::App& command;
  Asked& asked;
};

Added add(CLI::App& group, Chosen& chosen, const Subcommand& wanted) {
  const auto asked = std::make_shared<Asked>();
  CLI::App* command = group.add_subcommand(wanted.name, wanted.help);
  command->callback([asked, run = wanted.run, &chosen] {
    chosen.online = [asked, run](Session& session) { return run(session, *asked); };
  });
  return {*command, *asked};
}

void add_policy_options(const Added& added) {
  auto& [command, asked] = added;
  command.add_option("policy", asked.policy, "a .lua file, a .so library, a folder, or the name of a stored policy")
      ->required();
  command.add_option("--version", asked.version,
                     "version of a stored policy: its hash or the first 6 digits; else the newest");
  command.add_option("--param", asked.params, "NAME=VALUE of a parameter, repeatable");
}

void add_shadow(CLI::App& group, Chosen& chosen) {
  const Added added = add(group, chosen, {"shadow", "Run a policy beside the active one, without effect", shadow});
  auto& [command, asked] = added;
  add_policy_options(added);
  CLI::Option* report = command.add_flag("--report", asked.report, "show how its answers have differed so far");
  CLI::Option* stop = command.add_flag("--stop", asked.stop, "stop asking it")->excludes(report);
  for (const char* of_a_start : {"--version", "--param"}) {
    command.get_option(of_a_start)->excludes(report)->excludes(stop);
  }
}

void add_diff(CLI::App& group, Chosen& chosen) {
  const Added added = add(
      group, chosen, {"diff", "Compare what a policy would have decided with the daemon's recorded decisions", diff});
  auto& [command, asked] = added;
  add_policy_options(added);
  command.add_option("--since", asked.since, "how far back, such as 7d")->capture_default_str();
  command.add_option("--rounds", asked.rounds, "compare at most this many, evenly thinned")->capture_default_str();
}

int show_status(Session& session) {
  const json deployment = session.get("/v1/policies/status");
  session.print(deployment, [&] {
    return status_text(deployment, last_failure_text(session, deployment)) + rolled_back_text(session) +
           warnings_text(deployment, session.style());
  });
  return kExitOk;
}

}  // namespace

void add_policy_online_commands(CLI::App& app, Chosen& chosen) {
  CLI::App& group = *app.get_subcommand("policy");
  add_policy_options(
      add(group, chosen, {"activate", "Make a policy decide, once its tests have passed at the daemon", activate}));
  const Added rollback = add(group, chosen, {"rollback", "Return to the policy that decided before", roll_back});
  rollback.command.add_option("policy", rollback.asked.policy, "the active policy's name, as a confirmation")
      ->check(not_empty());
  add_shadow(group, chosen);
  add_diff(group, chosen);
  const Added stored = add(group, chosen, {"store", "Store a policy at the daemon and run its tests there", store});
  stored.command.add_option("policy", stored.asked.policy, "a .lua file, a .so library or a folder")->required();
  const Added listed = add(group, chosen,
                           {"versions", "List a policy file's stored versions; * decides, s is the shadow",
                            [](Session& session, Asked asked) { return versions(session, asked); }});
  listed.command.add_option("policy", listed.asked.policy, "its name")->required();
  add(group, chosen,
      {"status", "Show which policy decides, and to what a rollback returns",
       [](Session& session, Asked) { return show_status(session); }});
}

}  // namespace tidepool::ctl
