// Maintenance windows: for which nodes are drained before they begin, and which they come back from by themselves.
#include <CLI/CLI.hpp>
#include <memory>

#include <nlohmann/json.hpp>

#include "base/time.hpp"
#include "base/timestamp.hpp"
#include "schedctl/app.hpp"
#include "schedctl/checks.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/text_table.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

struct WindowOptions {
  std::string node;
  std::vector<std::string> selector;
  std::string from;
  std::string to;
  std::string lead;
  std::string every;
  std::string reason;
};

// "rack=r1,r2", or "rack=r1" and "rack=r2": a node has one of the values.
json selector_of(const std::vector<std::string>& words) {
  json selector = json::object();
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == word.size()) {
      fail(kExitUsage, "--selector " + word + ": write it as KEY=VALUE, or KEY=VALUE,VALUE for either");
    }
    json& values = selector[word.substr(0, equals)];  // null as yet, or those of a word before
    for (std::size_t begin = equals + 1; begin <= word.size();) {
      const std::size_t end = std::min(word.find(',', begin), word.size());
      values.push_back(word.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return selector;
}

// Seconds and the zone may be left out: "2026-11-25T02:00" is in UTC, as all times here.
std::string time_of(const char* flag, const std::string& text) {
  const std::string minutes = text.substr(0, std::string_view("2026-11-25T02:00").size());
  const std::string zone = text.substr(minutes.size());
  for (const std::string& whole : {text, text + "Z", text + ":00Z", minutes + ":00" + zone}) {
    if (micros_of(whole)) return whole;
  }
  fail(kExitUsage, std::string(flag) + " " + text + ": write it in UTC as 2026-11-25T02:00Z");
}

json body_of(const WindowOptions& asked) {
  if (asked.node.empty() == asked.selector.empty()) {
    fail(kExitUsage, "a window is of one node or of those with labels: give NODE or --selector KEY=VALUE");
  }
  json body = {{"from", time_of("--from", asked.from)}, {"to", time_of("--to", asked.to)}};
  if (!asked.node.empty()) body["node"] = asked.node;
  if (!asked.selector.empty()) body["selector"] = selector_of(asked.selector);
  const auto add_duration = [&](const char* name, const std::string& text) {
    if (text.empty()) return;
    if (const auto read = parse_duration(text); !read.ok()) {
      fail(kExitUsage, "--" + std::string(name) + ": " + read.error().message);
    }
    body[name] = text;
  };
  add_duration("lead", asked.lead);
  add_duration("every", asked.every);
  if (!asked.reason.empty()) body["reason"] = asked.reason;
  return body;
}

std::string nodes_of(const json& window) {
  std::string text;
  for (const auto& [key, values] : window.at("selector").items()) {
    text += (text.empty() ? "" : " ") + key + "=";
    for (std::size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : ",") + values[i].get<std::string>();
  }
  return text;
}

std::string windows_table(const json& windows, const Style& style) {
  if (windows.empty()) return "no maintenance windows; see: schedctl maintenance add --help\n";
  TextTable table({{.title = "WINDOW"},
                   {.title = "STATE", .state = true},
                   {.title = "NODES", .flexible = true},
                   {.title = "NOW", .right = true},
                   {.title = "FROM (UTC)"},
                   {.title = "TO (UTC)"},
                   {.title = "LEAD"},
                   {.title = "EVERY"},
                   {.title = "REASON", .flexible = true}});
  for (const auto& window : windows) {
    table.add({text_at(window, "/id"), text_at(window, "/state"), nodes_of(window),
               std::to_string(list_at(window, "/nodes").size()), moment_of(text_at(window, "/from")),
               moment_of(text_at(window, "/to")), text_at(window, "/lead"), text_at(window, "/every", "-"),
               text_at(window, "/reason", "-")});
  }
  return table.text(style);
}

void add_add(CLI::App& maintenance, Chosen& chosen) {
  const auto asked = std::make_shared<WindowOptions>();
  CLI::App* add = maintenance.add_subcommand("add", "Drain nodes before a window, and return them to service after it");
  add->add_option("node", asked->node, "id or name");
  add->add_option("--selector", asked->selector, "KEY=VALUE, or KEY=VALUE,VALUE: all nodes with these labels");
  add->add_option("--from", asked->from, "when the nodes must be empty, in UTC: 2026-11-25T02:00Z")->required();
  add->add_option("--to", asked->to, "when they take workers again")->required();
  add->add_option("--lead", asked->lead, "how long before that the drain begins (10m)")->check(not_empty());
  add->add_option("--every", asked->every, "repeat the window, such as 7d after its beginning")->check(not_empty());
  add->add_option("--reason", asked->reason, "shown with the nodes");
  add->callback([asked, &chosen] {
    chosen.online = [asked](Session& session) {
      const json window = session.send({.method = "POST", .path = "/v1/maintenance", .body = body_of(*asked).dump()});
      session.print(window, [&] {
        return text_at(window, "/id") + " is " + text_at(window, "/state") + ": " +
               count_of(static_cast<double>(list_at(window, "/nodes").size()), "node") + ", empty at " +
               moment_of(text_at(window, "/from")) + ", back at " + moment_of(text_at(window, "/to")) + " UTC\n";
      });
      return static_cast<int>(kExitOk);
    };
  });
}

}  // namespace

void add_maintenance_command(CLI::App& app, Chosen& chosen) {
  CLI::App* maintenance = app.add_subcommand("maintenance", "Add, list and remove maintenance windows of nodes");
  maintenance->require_subcommand(1);
  add_add(*maintenance, chosen);
  CLI::App* ls = maintenance->add_subcommand("ls", "List windows that are planned or open");
  ls->alias("list");
  ls->callback([&chosen] {
    chosen.online = [](Session& session) {
      const Listed listed = session.list("/v1/maintenance");
      session.print(listed.items, [&] { return windows_table(listed.items, session.style()); });
      return static_cast<int>(kExitOk);
    };
  });
  const auto id = std::make_shared<std::string>();
  CLI::App* remove = maintenance->add_subcommand("remove", "Remove a window; its nodes take workers again");
  remove->add_option("window", *id, "its id, see: schedctl maintenance ls")->required();
  remove->callback([id, &chosen] {
    chosen.online = [id](Session& session) {
      const json window = session.send({.method = "DELETE", .path = "/v1/maintenance/" + escape_url(*id)});
      session.print(window, [&] { return text_at(window, "/id") + " is removed\n"; });
      return static_cast<int>(kExitOk);
    };
  });
}

}  // namespace tidepool::ctl
