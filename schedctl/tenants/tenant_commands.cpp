// Tenants: what each has and wants, and the tree that an operator sets from a file.
#include <CLI/CLI.hpp>

#include <memory>
#include <string>

#include "schedctl/app.hpp"
#include "schedctl/checks.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/settings/settings_commands.hpp"
#include "schedctl/tenants/tenant_pages.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

constexpr const char* kBelow = "only what lies below this tenant; an admin of the tenant may set that";

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

void add_usage_command(CLI::App& app, Chosen& chosen) {
  const auto wanted = std::make_shared<Wanted>();
  CLI::App* used = app.add_subcommand(
      "usage",
      "Show slot-hours and cost: by tenant since it was set up; with --by, --window or --from of whole days in UTC");
  used->add_option("--by", wanted->by,
                   "tenant, job, name, label, label:KEY, day, type, class; several with commas. Of this month, unless "
                   "--window or "
                   "--from says otherwise")
      ->check(not_empty());
  used->add_option("--window", wanted->window, "this day, week or month (month)")->check(not_empty());
  used->add_option("--from", wanted->from, "first day, such as 2026-11-01; not after today")->check(not_empty());
  used->add_option("--to", wanted->to, "last day; without it today")->check(not_empty());
  used->add_flag("--csv", wanted->csv, "comma-separated, with a header");
  used->callback([wanted, &chosen] {
    chosen.online = [wanted](Session& session) {
      if (wanted->csv && session.format() != OutputFormat::kTable) {
        fail(kExitUsage, "--csv and -o are two forms of one output; give one of them");
      }
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
  CLI::App* show = tenants->add_subcommand("show", "Show the settings of one tenant, and what it has");
  show->add_option("name", *name, "the tenant")->required();
  show->callback([name, &chosen] { chosen.online = [name](Session& session) { return show_tenant(session, *name); }; });
  add_settings_commands(*tenants,
                        {.command = "tenants",
                         .kind = "tenant",
                         .whole = "the whole tree",
                         .document = tenants_document,
                         .below = kBelow},
                        chosen);
  add_usage_command(app, chosen);
}

}  // namespace tidepool::ctl
