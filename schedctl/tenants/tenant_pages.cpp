#include "schedctl/tenants/tenant_pages.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/money.hpp"
#include "base/written.hpp"
#include "core/state/tenant_settings.hpp"
#include "schedctl/settings/changes_text.hpp"
#include "schedctl/text_table.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* kNone = "no tenants are set; docs/operations.md shows a file for: schedctl tenants apply FILE\n";
constexpr std::array<const char*, 11> kNumbers = {
    "entitled", "entitled_by_type", "held",         "wanted",     "satisfied", "loan",
    "jobs",     "jobs_waiting",     "jobs_running", "slot_hours", "cost"};
constexpr std::size_t kFieldColumns = 18;  // columns

std::string indented_name(const json& tenant) {
  const std::size_t depth = list_at(tenant, "/path").size();
  return std::string(depth > 1 ? 2 * (depth - 1) : 0, ' ') + text_at(tenant, "/name");
}

std::string hours(const json& tenant) {
  return slot_hours(number_at(tenant, "/now/slot_hours"));
}

std::string cost(const json& tenant) {
  const std::string amount = text_at(tenant, "/now/cost");
  return amount.empty() ? "-" : money(amount, "");
}

// "500.00 a month: warn at 80 %, pause at 100 %"
std::string budget_text(const json& budget) {
  if (budget.is_null()) return "none";
  std::string text = text_at(budget, "/limit") + " a " + text_at(budget, "/window");
  const char* before = ": ";
  for (const auto& threshold : list_at(budget, "/thresholds")) {
    text += before + text_at(threshold, "/action") + " at " + integer_at(threshold, "/percent") + " %";
    before = ", ";
  }
  return text;
}

// "elastic.cooldown 1m, priority 5": what stands in a part of a job file, field by field. A map of labels is one field.
std::string job_fields_text(const json& part, const std::string& prefix = "") {
  std::string text;
  for (const auto& [name, value] : part.items()) {
    const bool is_part = value.is_object() && name != "selector";
    text += (text.empty() ? "" : ", ") +
            (is_part ? job_fields_text(value, prefix + name + ".") : prefix + name + " " + value_text(value));
  }
  return text;
}

// Slots by type as "a100 4, v100 2".
std::string field_text(const json& value) {
  if (!value.is_object()) return value_text(value);
  return value.empty() ? "none" : job_fields_text(value);
}

// What a threshold that was reached does to jobs.
std::string effect_of(const std::string& action) {
  if (action == "shrink") return "leaves its jobs their smallest sizes";
  return action == "pause" ? "pauses its jobs" : "stops its jobs";
}

// The daemon tells no time both of a limit that is reached already and of one that will not be.
std::string limit_words(const json& tenant) {
  const json& budget = tenant.at("now").at("budget");
  if (const std::string at = text_at(budget, "/limit_reached_at"); !at.empty()) return moment_of(at) + " UTC";
  const auto spent = parse_money(text_at(budget, "/spent"));
  const auto limit = parse_money(text_at(tenant, "/budget/limit"));
  return spent.ok() && limit.ok() && *spent >= *limit ? "already" : "not in this window at this rate";
}

// What is done to jobs next, if anything is in this window: "stop at 80 %, 2026-11-30 23:13:21 UTC".
std::string next_action(const json& budget) {
  const std::string at = text_at(budget, "/next/at");
  if (at.empty()) return "";
  return text_at(budget, "/next/action") + " at " + integer_at(budget, "/next/percent") + " %, " + moment_of(at) +
         " UTC";
}

// What of its budget is spent, and when it will be.
std::string spending_text(const json& tenant) {
  const json& budget = tenant.at("now").at("budget");
  const std::string action = text_at(budget, "/action");
  const std::string next = next_action(budget);
  const auto line = [](const std::string& name, const std::string& value) {
    return "  " + name + std::string(kFieldColumns - name.size(), ' ') + value + "\n";
  };
  return line("spent", money(text_at(budget, "/spent"), "") + (action.empty() ? "" : ", which " + effect_of(action))) +
         line("spending", money(text_at(budget, "/rate_per_hour"), "") + " an hour") +
         (next.empty() ? "" : line("next action", next)) + line("limit reached", limit_words(tenant)) +
         line("expected", money(text_at(budget, "/expected"), "") + " when the window ends, " +
                              moment_of(text_at(budget, "/window_ends_at")) + " UTC");
}

// As RFC 4180 has it. A cell that a spreadsheet would take for a formula is made a text,
// and characters that steer are replaced.
std::string csv_cell(const std::string& stored) {
  std::string text = printable(stored);
  if (!text.empty() && std::string("=+-@").find(text.front()) != std::string::npos) text.insert(0, "'");
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

// The daemon's warnings say why a token sees none of a tree.
std::string without_tenants(const json& tree, const Style& style) {
  if (list_at(tree, "/warnings").empty()) return kNone;
  return "no tenant can be shown\n" + warnings_text(tree, style);
}

using Children = std::map<std::string, std::vector<const json*>>;  // by their parent's name

ordered_json level_of(const Children& children, const std::string& parent) {
  ordered_json level = ordered_json::array();
  const auto found = children.find(parent);
  if (found == children.end()) return level;
  const core::Tenant blank;
  for (const json* tenant : found->second) {
    ordered_json entry = {{"name", text_at(*tenant, "/name")}};
    core::for_each_setting([&](const auto& row) {
      const json& value = tenant->at(row.name);
      if (value != written(blank.*row.field)) entry[row.name] = value;
    });
    if (!tenant->at("budget").is_null()) entry["budget"] = tenant->at("budget");
    if (!tenant->at("defaults").empty()) entry["defaults"] = tenant->at("defaults");
    ordered_json below = level_of(children, text_at(*tenant, "/name"));
    if (!below.empty()) entry["tenants"] = std::move(below);
    level.push_back(std::move(entry));
  }
  return level;
}

}  // namespace

std::string tenants_table(const json& tree, const Style& style) {
  if (list_at(tree, "/tenants").empty()) return without_tenants(tree, style);
  TextTable table({{.title = "TENANT", .flexible = true},
                   {.title = "GUARANTEE", .right = true},
                   {.title = "WEIGHT", .right = true},
                   {.title = "ENTITLED", .right = true},
                   {.title = "HELD", .right = true},
                   {.title = "WANTED", .right = true},
                   {.title = "WAITING", .right = true},
                   {.title = "JOBS", .right = true},
                   {.title = "SLOT-HOURS", .right = true},
                   {.title = "COST", .right = true}});
  for (const auto& tenant : list_at(tree, "/tenants")) {
    table.add({indented_name(tenant), integer_at(tenant, "/guarantee"), integer_at(tenant, "/weight"),
               integer_at(tenant, "/now/entitled"), integer_at(tenant, "/now/held"), integer_at(tenant, "/now/wanted"),
               integer_at(tenant, "/now/jobs_waiting"), integer_at(tenant, "/now/jobs_running"), hours(tenant),
               cost(tenant)});
  }
  return table.text(style) + warnings_text(tree, style);
}

std::string tenant_page(const json& tenant, const Style& style) {
  std::string path;
  for (const auto& name : list_at(tenant, "/path")) path += (path.empty() ? "" : " / ") + value_text(name);
  std::string page = bold(path, style) + "\n";
  const auto line = [&](const std::string& name, const std::string& value) {
    page += "  " + name + std::string(kFieldColumns - std::min(kFieldColumns - 1, name.size()), ' ') + value + "\n";
  };
  core::for_each_setting([&](const auto& row) { line(row.name, field_text(tenant.at(row.name))); });
  line("budget", budget_text(tenant.at("budget")));
  const std::string defaults = job_fields_text(tenant.at("defaults"));
  line("defaults", defaults.empty() ? "none" : defaults);
  if (tenant.at("now").is_null()) return page;
  for (const char* field : kNumbers) {
    const json& value = tenant.at("now").at(field);
    const bool is_hours = std::string_view(field) == "slot_hours" && value.is_number();
    line(field, is_hours                            ? slot_hours(value.get<double>())
                : std::string_view(field) == "cost" ? cost(tenant)
                : value.is_number_float()           ? rate(value.get<double>())
                                                    : field_text(value));
  }
  if (!tenant.at("now").at("budget").is_null()) page += spending_text(tenant);
  return page;
}

ordered_json tenants_document(const json& tree, const std::string& below) {
  Children children;
  for (const auto& tenant : list_at(tree, "/tenants")) children[text_at(tenant, "/parent")].push_back(&tenant);
  if (!below.empty()) return {{"tenants", level_of(children, below)}};
  ordered_json document = {{"half_life", text_at(tree, "/half_life")},
                           {"rebalance_every", text_at(tree, "/rebalance_every")}};
  if (const std::string after = text_at(tree, "/preempt_after"); after != "0s") document["preempt_after"] = after;
  if (!tree.at("churn").is_null()) {
    ordered_json& churn = document["churn"];
    for (const char* field : {"per_job", "pool", "window"}) {
      if (!tree.at("churn").at(field).is_null()) churn[field] = tree.at("churn").at(field);
    }
  }
  document["tenants"] = level_of(children, "");
  return document;
}

std::string usage_table(const json& tree, const Style& style) {
  if (list_at(tree, "/tenants").empty()) {
    return without_tenants(tree, style) + "usage without tenants: schedctl usage --by job\n";
  }
  TextTable table({{.title = "TENANT", .flexible = true},
                   {.title = "SLOT-HOURS", .right = true},
                   {.title = "COST", .right = true},
                   {.title = "CURRENCY"}});
  for (const auto& tenant : list_at(tree, "/tenants")) {
    table.add({indented_name(tenant), hours(tenant), cost(tenant), text_at(tenant, "/now/currency")});
  }
  return table.text(style);
}

namespace {

// Of the pool's account, for those who see it. What slots that no job holds have none of is empty.
std::vector<std::string> pool_values(const json& usage, const json& row) {
  std::vector<std::string> values;
  for (const auto& key : list_at(usage, "/by")) values.push_back(row.at("by").value(key.get<std::string>(), ""));
  return values;
}

bool is_by_class(const json& usage) {
  const json& keys = list_at(usage, "/by");
  return std::find(keys.begin(), keys.end(), "class") != keys.end();
}

}  // namespace

std::string usage_rows_table(const json& usage, const Style& style) {
  std::vector<Column> columns;
  for (const auto& key : list_at(usage, "/by")) {
    std::string title = key.get<std::string>();
    std::transform(title.begin(), title.end(), title.begin(), [](unsigned char c) { return std::toupper(c); });
    columns.push_back({.title = title, .flexible = columns.empty()});
  }
  columns.push_back({.title = "JOBS", .right = true});
  columns.push_back({.title = "SLOT-HOURS", .right = true});
  columns.push_back({.title = "COST", .right = true});
  TextTable table(columns);
  const auto add = [&](std::vector<std::string> cells, const json& sum) {
    cells.push_back(sum.contains("jobs") ? integer_at(sum, "/jobs") : "");
    cells.push_back(slot_hours(number_at(sum, "/slot_seconds").value_or(0) / 3600));
    cells.push_back(money(text_at(sum, "/cost"), ""));
    table.add(std::move(cells));
  };
  for (const auto& row : list_at(usage, "/rows")) {
    std::vector<std::string> cells;
    for (const auto& key : list_at(usage, "/by")) cells.push_back(value_text(row.at("by").at(key)));
    add(std::move(cells), row);
  }
  std::vector<std::string> total(list_at(usage, "/by").size());
  total.front() = "total";
  add(std::move(total), usage.at("total"));
  for (const json& row : list_at(usage, "/pool/rows")) {
    std::vector<std::string> cells = pool_values(usage, row);
    if (!is_by_class(usage)) cells.front() += (cells.front().empty() ? "" : " ") + row.at("by").value("class", "");
    cells.front() = "pool " + cells.front();
    for (std::string& cell : cells) cell = value_text(cell);
    add(std::move(cells), row);
  }
  return text_at(usage, "/from") + " to " + text_at(usage, "/to") + " UTC, " + text_at(usage, "/currency") + "\n" +
         table.text(style);
}

std::string usage_rows_csv(const json& usage) {
  std::string csv;
  for (const auto& key : list_at(usage, "/by")) csv += csv_cell(key.get<std::string>()) + ",";
  csv += "jobs,slot_seconds,cost,currency\r\n";
  for (const auto& row : list_at(usage, "/rows")) {
    for (const auto& key : list_at(usage, "/by")) csv += csv_cell(row.at("by").at(key).get<std::string>()) + ",";
    csv += row.at("jobs").dump() + "," + row.at("slot_seconds").dump() + "," + text_at(row, "/cost") + "," +
           text_at(usage, "/currency") + "\r\n";
  }
  // Without their class they would be taken for rows of jobs.
  if (!is_by_class(usage)) return csv;
  for (const json& row : list_at(usage, "/pool/rows")) {
    for (const std::string& value : pool_values(usage, row)) csv += csv_cell(value) + ",";
    csv +=
        "0," + row.at("slot_seconds").dump() + "," + text_at(row, "/cost") + "," + text_at(usage, "/currency") + "\r\n";
  }
  return csv;
}

// Names of tenants and amounts hold nothing that would need quotes.
std::string usage_csv(const json& tree) {
  std::string csv = "tenant,parent,slot_hours,cost,currency\r\n";
  for (const auto& tenant : list_at(tree, "/tenants")) {
    if (tenant.at("now").is_null()) continue;
    csv += text_at(tenant, "/name") + "," + text_at(tenant, "/parent") + "," +
           tenant.at("now").at("slot_hours").dump() + "," + text_at(tenant, "/now/cost") + "," +
           text_at(tenant, "/now/currency") + "\r\n";
  }
  return csv;
}

}  // namespace tidepool::ctl
