#include "schedctl/nodes/pools_command.hpp"

#include <CLI/CLI.hpp>

#include "base/timestamp.hpp"
#include "schedctl/app.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/session.hpp"
#include "schedctl/tables.hpp"
#include "schedctl/text_table.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

// Nodes of a pool by what is to be known of them at a glance.
struct NodeCounts {
  int coming = 0;
  int up = 0;
  int idle = 0;  // of those that are up
  int leaving = 0;
};

NodeCounts counts_of(const json& pool) {
  NodeCounts counts;
  for (const auto& node : list_at(pool, "/nodes")) {
    const std::string state = text_at(node, "/state");
    if (state == "asked" || state == "created") ++counts.coming;
    if (state == "draining" || state == "releasing") ++counts.leaving;
    if (state != "joined" || !text_at(node, "/away_since").empty()) continue;
    ++counts.up;
    if (!text_at(node, "/idle_since").empty()) ++counts.idle;
  }
  return counts;
}

// One that no request of this daemon has made has no name.
std::string called(const json& node) {
  const std::string name = text_at(node, "/name");
  return name.empty() ? text_at(node, "/provider_id", "-") : name;
}

std::string note_of(const json& node, std::string_view now) {
  if (text_at(node, "/name").empty()) return "was not requested, so it is ended";
  const auto since = [&](const char* pointer) { return utc_beside(text_at(node, pointer), now); };
  if (!text_at(node, "/away_since").empty()) return "its agent is away since " + since("/away_since");
  if (text_at(node, "/state") == "joined" && !text_at(node, "/idle_since").empty()) {
    return "idle since " + since("/idle_since");
  }
  const auto ends_at = micros_of(text_at(node, "/ends_at"));
  if (!ends_at) return "";
  return std::string("its provider ") + (*ends_at <= micros_of(now) ? "was to end" : "ends") + " it at " +
         since("/ends_at");
}

// A program's output, in which each line ends.
std::string detail_of(const json& problem) {
  std::string text = text_at(problem, "/detail");
  text.erase(text.find_last_not_of(" \r\n\t") + 1);
  return text;
}

std::string nodes_of(const json& pools, const Style& style) {
  TextTable table({{.title = "NODE"},
                   {.title = "POOL"},
                   {.title = "STATE"},
                   {.title = "SINCE (UTC)"},
                   {.title = "PROVIDER ID", .flexible = true},
                   {.title = "NOTE", .flexible = true}});
  bool any = false;
  for (const auto& pool : pools) {
    for (const auto& node : list_at(pool, "/nodes")) {
      any = true;
      table.add({called(node), text_at(pool, "/name"), text_at(node, "/state"),
                 time_beside(text_at(node, "/since"), style.now), text_at(node, "/provider_id", "-"),
                 note_of(node, style.now)});
    }
  }
  return any ? "\n" + table.text(style) : "";
}

// Without the time of an attempt that has passed: it is made when a node is wanted again.
std::string problem_line(const std::string& what, const json& problem, const Style& style) {
  const std::string failures = integer_at(problem, "/failures");
  const std::string retry = text_at(problem, "/retry_at");
  const std::string line = what + " has failed" + (failures == "1" ? "" : " " + failures + " times in a row, last") +
                           " at " + utc_beside(text_at(problem, "/failed_at"), style.now) + ": " + detail_of(problem) +
                           (retry.empty() ? "" : "; the next attempt is at " + utc_beside(retry, style.now));
  return wrapped(printable(line), 2, style) + "\n";
}

std::string list_problem_line(const std::string& pool, const json& problem, const Style& style) {
  const std::string line = "listing the nodes of " + pool + " has failed since " +
                           utc_beside(text_at(problem, "/since"), style.now) + ": " + detail_of(problem) +
                           "; nodes that end there are not seen";
  return wrapped(printable(line), 2, style) + "\n";
}

std::string problems_of(const json& pools, const Style& style) {
  std::string lines;
  for (const auto& pool : pools) {
    const std::string name = text_at(pool, "/name");
    if (pool.value("retired", false)) {
      lines += wrapped(name +
                           " is no longer configured: no provider ends its nodes, and they may continue to cost money. "
                           "Configure it again, or drain each, end it at its provider, and then: "
                           "schedctl node remove NODE",
                       2, style) +
               "\n";
    }
    if (!pool.at("problem").is_null()) lines += problem_line("creating a node of " + name, pool.at("problem"), style);
    const json listing = pool.value("list_problem", json());
    if (!listing.is_null()) lines += list_problem_line(name, listing, style);
    for (const auto& node : list_at(pool, "/nodes")) {
      if (node.at("problem").is_null()) continue;
      lines += problem_line("ending " + called(node), node.at("problem"), style);
    }
  }
  return lines.empty() ? "" : "\n" + lines;
}

// "the pool gpu: 1 node is coming, 1 is being given back; it may have 4"
std::string doing_of(const json& pool) {
  const NodeCounts counts = counts_of(pool);
  std::string text = "the pool " + text_at(pool, "/name") + ": ";
  if (counts.coming > 0) {
    text += count_of(counts.coming, "node") + (counts.coming == 1 ? " is" : " are") + " coming";
  } else {
    text += "no node is requested";
  }
  if (counts.leaving > 0) {
    text += ", " + std::to_string(counts.leaving) + (counts.leaving == 1 ? " is" : " are") + " being given back";
  }
  if (number_at(pool, "/max").value_or(0) == 0) return text + "; it may have none (max: 0)";
  const bool awaits_job = counts.coming == 0 && number_at(pool, "/min").value_or(0) == 0;
  return text + "; it may have " + integer_at(pool, "/max") +
         (awaits_job ? ", and requests one when a job needs it" : "");
}

// None: pools are closed to a token of one tenant.
json pools_seen(Session& session) {
  try {
    return session.list("/v1/pools").items;
  } catch (const Failure& failure) {
    if (!failure.answered || failure.may_pass) throw;
    return json::array();
  }
}

}  // namespace

std::string no_nodes_page(const json& pools, const Style& style) {
  std::string out;
  for (const auto& pool : pools) {
    if (pool.value("retired", false)) continue;
    out += wrapped(printable(doing_of(pool)), 2, style) + "\n";
    const json& problem = pool.at("problem");
    if (!problem.is_null()) out += problem_line("creating a node of " + text_at(pool, "/name"), problem, style);
  }
  if (out.empty()) return nodes_table(json::array(), style);
  return "there are no nodes now\n" + out + "see: schedctl pools; why a job waits: schedctl why JOB\n";
}

std::string pools_page(const json& pools, const Style& style) {
  if (pools.empty()) return "no pools; the daemon's configuration file names them under pools:\n";
  TextTable table({{.title = "POOL", .flexible = true},
                   {.title = "TYPE"},
                   {.title = "SLOTS", .right = true},
                   {.title = "PRICE/H", .right = true},
                   {.title = "MIN", .right = true},
                   {.title = "MAX", .right = true},
                   {.title = "COMING", .right = true},
                   {.title = "UP", .right = true},
                   {.title = "IDLE", .right = true},
                   {.title = "LEAVING", .right = true}});
  for (const auto& pool : pools) {
    const NodeCounts counts = counts_of(pool);
    table.add({text_at(pool, "/name") + (pool.value("spot", false) ? " (spot)" : ""), text_at(pool, "/slot_type", "-"),
               integer_at(pool, "/slots_per_node"), text_at(pool, "/price_per_slot_hour"), integer_at(pool, "/min"),
               integer_at(pool, "/max"), std::to_string(counts.coming), std::to_string(counts.up),
               std::to_string(counts.idle), std::to_string(counts.leaving)});
  }
  return table.text(style) + nodes_of(pools, style) + problems_of(pools, style);
}

void add_nodes_command(CLI::App& app, Chosen& chosen) {
  app.add_subcommand("nodes", "List nodes and their slots")->callback([&chosen] {
    chosen.online = [](Session& session) {
      const Listed listed = session.list("/v1/nodes");
      session.print(listed.items, [&] {
        return listed.items.empty() ? no_nodes_page(pools_seen(session), session.style())
                                    : nodes_table(listed.items, session.style());
      });
      return static_cast<int>(kExitOk);
    };
  });
}

void add_pools_command(CLI::App& app, Chosen& chosen) {
  CLI::App* pools = app.add_subcommand("pools", "List pools of nodes that a provider creates and ends");
  pools->callback([&chosen] {
    chosen.online = [](Session& session) {
      const Listed listed = session.list("/v1/pools");
      session.print(listed.items, [&] { return pools_page(listed.items, session.style()); });
      return static_cast<int>(kExitOk);
    };
  });
}

}  // namespace tidepool::ctl
