#include "schedctl/settings/settings_commands.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>

#include "schedctl/checks.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/job_file.hpp"
#include "schedctl/settings/changes_text.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

struct Given {
  std::string file;
  std::string below;  // an entry: the file has what lies below it; empty = all
  bool yes = false;

  // As one would type it again.
  [[nodiscard]] std::string words() const { return file + (below.empty() ? "" : " --below " + below); }
};

std::string path_of(const SettingsFile& of, const std::string& below) {
  const std::string all = "/v1/" + of.command;
  return below.empty() ? all : all + "/" + escape_url(below) + "/" + of.command;
}

json put(Session& session, const NamedFile& file, HttpRequest request) {
  request.method = "PUT";
  request.body = file.document.dump();
  return session.send(request, {.file = file.shown, .lines = &file.lines, .entries = {}});
}
json try_out(Session& session, const std::string& path, const NamedFile& file) {
  return put(session, file, {.path = path + "?dry_run=true", .body = {}, .headers = {}});
}

int diff(Session& session, const SettingsFile& of, const Given& given) {
  const json answer = try_out(session, path_of(of, given.below), read_named_file(given.file));
  session.print(answer, [&] { return changes_text(of.kind, answer, session.style()); });
  return answer.at("refused").is_null() ? kExitOk : kExitNegative;
}

// False: say so with --yes, or where someone can answer.
bool is_wanted(const Session& session, const Given& given) {
  if (given.yes) return true;
  // Without the table form the changes are not shown first, and a question would stand within the document.
  const bool is_shown = session.format() == OutputFormat::kTable;
  if (!is_shown || given.file == "-" || !session.on_terminal() || isatty(STDIN_FILENO) != 1) return false;
  write_out("apply this? [y/N] ");
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

int apply(Session& session, const SettingsFile& of, const Given& given) {
  const NamedFile file = read_named_file(given.file);
  const std::string path = path_of(of, given.below);
  const json planned = try_out(session, path, file);
  const bool in_words = session.format() == OutputFormat::kTable;
  if (in_words) write_out(changes_text(of.kind, planned, session.style()));
  const bool refused = !planned.at("refused").is_null();
  if (refused || planned.at("changes").empty() || !is_wanted(session, given)) {
    if (!in_words) session.print(planned, {});
    if (planned.at("changes").empty()) return kExitOk;
    const std::string again = "schedctl " + of.command + " apply " + given.words() + " --yes";
    fail(refused ? kExitApi : kExitNegative, "nothing was changed" + (refused ? "" : "; to apply it: " + again));
  }
  // Only in place of what the changes were shown beside: another operator may have set something else meanwhile.
  const std::string shown = "If-Match: " + planned.at("etag").get<std::string>();
  const json done = put(session, file, {.path = path, .body = {}, .headers = {shown}});
  session.print(done, [] { return std::string("applied\n"); });
  return kExitOk;
}

int export_file(Session& session, const SettingsFile& of, const std::string& below) {
  const std::string all = path_of(of, "");
  if (!below.empty()) (void)session.get(all + "/" + escape_url(below));  // fails if there is none
  const auto document = of.document(session.get(all), below);
  write_out(session.format() == OutputFormat::kJson ? document.dump(2) + "\n" : to_yaml(document));
  return kExitOk;
}

}  // namespace

void add_settings_commands(CLI::App& parent, const SettingsFile& file, Chosen& chosen) {
  const auto of = std::make_shared<const SettingsFile>(file);
  const auto given = std::make_shared<Given>();
  const auto add = [&](const char* name, const std::string& about) {
    CLI::App* command = parent.add_subcommand(name, about);
    if (of->below != nullptr) command->add_option("--below", given->below, of->below)->check(not_empty());
    return command;
  };
  CLI::App* diffed = add("diff", "What a file of " + of->command + " would change, field by field");
  diffed->add_option("file", given->file, "YAML or JSON, - for standard input")->required();
  diffed->callback(
      [of, given, &chosen] { chosen.online = [of, given](Session& session) { return diff(session, *of, *given); }; });
  CLI::App* applied = add("apply", "Show what a file would change, and set " + of->whole + " by it");
  applied->add_option("file", given->file, "YAML or JSON, - for standard input")->required();
  applied->add_flag("--yes", given->yes, "do not ask");
  applied->callback(
      [of, given, &chosen] { chosen.online = [of, given](Session& session) { return apply(session, *of, *given); }; });
  add("export", "Print the file of what is set, for diff and apply")->callback([of, given, &chosen] {
    chosen.online = [of, given](Session& session) { return export_file(session, *of, given->below); };
  });
}

}  // namespace tidepool::ctl
