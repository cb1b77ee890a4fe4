// Tenants: what each has and wants, and the tree that an operator sets from a file.
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>
#include <string>

#include "schedctl/app.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/job_file.hpp"
#include "schedctl/tenants/tenant_pages.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

constexpr const char* kBelow = "only what lies below this tenant; an admin of the tenant may set that";

struct Given {
  std::string file;
  std::string below;  // a tenant: the file has what lies below it; empty = the whole tree
  bool yes = false;

  [[nodiscard]] std::string path() const {
    return below.empty() ? "/v1/tenants" : "/v1/tenants/" + escape_url(below) + "/tenants";
  }
  // As one would type it again.
  [[nodiscard]] std::string words() const { return file + (below.empty() ? "" : " --below " + below); }
};

json put_tree(Session& session, const NamedFile& file, HttpRequest request) {
  request.method = "PUT";
  request.body = file.document.dump();
  return session.send(request, {.file = file.shown, .lines = &file.lines, .entries = {}});
}
json try_tree(Session& session, const Given& given, const NamedFile& file) {
  return put_tree(session, file, {.path = given.path() + "?dry_run=true", .body = {}, .headers = {}});
}

int show_tree(Session& session) {
  const json tree = session.get("/v1/tenants");
  session.print(tree, [&] { return tenants_table(tree, session.style()); });
  return kExitOk;
}

int show_tenant(Session& session, const std::string& name) {
  const json tenant = session.get("/v1/tenants/" + escape_url(name));
  session.print(tenant, [&] { return tenant_page(tenant, session.style()); });
  return kExitOk;
}

int diff(Session& session, const Given& given) {
  const json answer = try_tree(session, given, read_named_file(given.file));
  session.print(answer, [&] { return tenant_changes_text(answer, session.style()); });
  return answer.at("refused").is_null() ? kExitOk : kExitNegative;
}

// False: say so with --yes, or where someone can answer.
bool is_wanted(const Session& session, const Given& given) {
  if (given.yes) return true;
  if (given.file == "-" || !session.on_terminal() || isatty(STDIN_FILENO) != 1) return false;
  write_out("apply this? [y/N] ");
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

int apply(Session& session, const Given& given) {
  const NamedFile file = read_named_file(given.file);
  const json planned = try_tree(session, given, file);
  const bool in_words = session.format() == OutputFormat::kTable;
  if (in_words) write_out(tenant_changes_text(planned, session.style()));
  const bool refused = !planned.at("refused").is_null();
  if (refused || planned.at("changes").empty() || !is_wanted(session, given)) {
    if (!in_words) session.print(planned, {});
    if (planned.at("changes").empty()) return kExitOk;
    const std::string next = refused ? "" : "; to apply it: schedctl tenants apply " + given.words() + " --yes";
    fail(refused ? kExitApi : kExitNegative, "nothing was changed" + next);
  }
  // Only in place of the tree beside which the changes were shown: another operator may have set one meanwhile.
  const std::string shown = "If-Match: " + planned.at("etag").get<std::string>();
  const json done = put_tree(session, file, {.path = given.path(), .body = {}, .headers = {shown}});
  session.print(done, [] { return std::string("applied\n"); });
  return kExitOk;
}

int export_tree(Session& session, const std::string& below) {
  if (!below.empty()) (void)session.get("/v1/tenants/" + escape_url(below));  // fails if there is none
  const auto document = tenants_document(session.get("/v1/tenants"), below);
  write_out(session.format() == OutputFormat::kJson ? document.dump(2) + "\n" : to_yaml(document));
  return kExitOk;
}

struct Wanted {
  std::string by;
  std::string window;
  std::string from;
  std::string to;
  bool csv = false;

  [[nodiscard]] std::string query() const {
    std::string text;
    const auto add = [&](const char* name, const std::string& value) {
      if (!value.empty()) text += (text.empty() ? "?" : "&") + std::string(name) + "=" + escape_url(value);
    };
    add("by", by), add("window", window), add("from", from), add("to", to);
    return text;
  }
};

int usage_of_days(Session& session, const Wanted& wanted) {
  const json usage = session.get("/v1/usage" + wanted.query());
  if (wanted.csv) {
    write_out(usage_rows_csv(usage));
  } else {
    session.print(usage, [&] { return usage_rows_table(usage, session.style()); });
  }
  return kExitOk;
}

int usage(Session& session, bool csv) {
  const json tree = session.get("/v1/tenants");
  if (csv) {
    write_out(usage_csv(tree));
  } else {
    session.print(tree, [&] { return usage_table(tree, session.style()); });
  }
  return kExitOk;
}

void add_file_commands(CLI::App& tenants, Chosen& chosen) {
  const auto given = std::make_shared<Given>();
  CLI::App* diffed = tenants.add_subcommand("diff", "What a file of tenants would change, field by field");
  diffed->add_option("file", given->file, "YAML or JSON, - for standard input")->required();
  diffed->add_option("--below", given->below, kBelow);
  diffed->callback([given, &chosen] { chosen.online = [given](Session& session) { return diff(session, *given); }; });
  CLI::App* applied = tenants.add_subcommand("apply", "Show what a file would change, and set the tree by it");
  applied->add_option("file", given->file, "YAML or JSON, - for standard input")->required();
  applied->add_option("--below", given->below, kBelow);
  applied->add_flag("--yes", given->yes, "do not ask");
  applied->callback([given, &chosen] { chosen.online = [given](Session& session) { return apply(session, *given); }; });
}

void add_usage_command(CLI::App& app, Chosen& chosen) {
  const auto wanted = std::make_shared<Wanted>();
  CLI::App* used = app.add_subcommand("usage", "Slot-hours and cost: by tenant since it was set up, or of days in UTC");
  used->add_option("--by", wanted->by, "tenant, job, name, label, label:KEY, day, type, class; several with commas");
  used->add_option("--window", wanted->window, "this day, week or month");
  used->add_option("--from", wanted->from, "first day, such as 2026-11-01");
  used->add_option("--to", wanted->to, "last day; without it today");
  used->add_flag("--csv", wanted->csv, "comma-separated, with a header");
  used->callback([wanted, &chosen] {
    chosen.online = [wanted](Session& session) {
      return wanted->query().empty() ? usage(session, wanted->csv) : usage_of_days(session, *wanted);
    };
  });
}

}  // namespace

void add_tenant_commands(CLI::App& app, Chosen& chosen) {
  CLI::App* tenants = app.add_subcommand("tenants", "List the tenants that share the pool, or set them from a file");
  tenants->require_subcommand(0, 1);
  tenants->callback([tenants, &chosen] {
    if (tenants->get_subcommands().empty()) chosen.online = show_tree;
  });
  const auto name = std::make_shared<std::string>();
  CLI::App* show = tenants->add_subcommand("show", "What is set for one tenant, and what it has");
  show->add_option("name", *name, "the tenant")->required();
  show->callback([name, &chosen] { chosen.online = [name](Session& session) { return show_tenant(session, *name); }; });
  add_file_commands(*tenants, chosen);
  const auto below = std::make_shared<std::string>();
  CLI::App* exported = tenants->add_subcommand("export", "Print the file of what is set, for diff and apply");
  exported->add_option("--below", *below, kBelow);
  exported->callback(
      [below, &chosen] { chosen.online = [below](Session& session) { return export_tree(session, *below); }; });
  add_usage_command(app, chosen);
}

}  // namespace tidepool::ctl
