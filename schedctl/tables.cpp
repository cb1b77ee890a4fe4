#include "schedctl/tables.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/byte_size.hpp"
#include "base/timestamp.hpp"
#include "base/word_list.hpp"
#include "schedctl/folded_rows.hpp"
#include "schedctl/forecast_words.hpp"
#include "schedctl/text_table.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

constexpr int kForecastWidth = 100;  // a narrower list would have no room for the reason

// "2", or "2>3" while it changes, or "0/4" of a job that has none yet.
std::string size_cell(const json& job) {
  const auto size = number_at(job, "/size").value_or(0);
  const auto target = number_at(job, "/target_size").value_or(size);
  if (size != target && target > 0) return whole(size) + ">" + whole(target);
  return whole(size);
}

std::string done_cell(const json& job) {
  if (const auto fraction = number_at(job, "/progress/fraction")) return percent(*fraction);
  const auto step = number_at(job, "/progress/step");
  return step && *step > 0 ? "step " + whole(*step) : "-";
}

// A job that has lost workers keeps the newest error for good; it says why the job is as it is only if it has failed.
std::string why_cell(const json& job) {
  const std::string why = text_at(job, "/reason/text");
  return text_at(job, "/state") == "failed" ? text_at(job, "/error", why) : why;
}

std::string would_change(const json& unblocks) {
  std::string out;
  for (const auto& each : unblocks) out += (out.empty() ? " (would change it: " : "; ") + each.get<std::string>();
  return out.empty() ? out : out + ")";
}

struct DecisionsTold {
  const Style& style;
  const std::string& only;  // a job: what is about it alone; empty = all
  bool each = false;        // of a decision that changes nothing each job, however many
};

// Jobs by their ids, which are unique, as in events. A row for each intent, also of nodes; of a decision without any,
// for each finding; of one without those, for each size given. True: of several jobs that it leaves as they are, which
// a busy pool has many of, it tells how many.
bool add_decision(FoldedRows& rows, const json& decision, const DecisionsTold& how) {
  const std::string at = utc_beside(text_at(decision, "/at"), how.style.now);
  const std::string head = text_at(decision, "/id") + "  " + at;
  bool told = false;
  const auto add = [&](const std::string& job, const std::string& kind, const std::string& why) {
    if (!how.only.empty() && job != how.only) return;
    told = true;
    rows.add({.head = head, .subject = job + " " + kind, .words = job + "  " + kind + ":  " + why, .at = at});
  };
  for (const auto& intent : list_at(decision, "/intents")) {
    add(text_at(intent, "/job"), text_at(intent, "/kind"), text_at(intent, "/reason/text"));
  }
  for (const auto& intent : list_at(decision, "/nodes")) {
    add(text_at(intent, "/name"), text_at(intent, "/kind"), text_at(intent, "/reason/text"));
  }
  if (told) return false;
  const json& verdicts = list_at(decision, "/verdicts");
  const json& targets = list_at(decision, "/targets");
  const std::size_t jobs = (verdicts.empty() ? targets : verdicts).size();
  if (!how.each && how.only.empty() && jobs > 1) {
    const char* what = verdicts.empty() ? "no change yet; a new plan for " : "no change; new reasons for ";
    rows.add({.head = head, .subject = "", .words = what + count_of(static_cast<double>(jobs), "job"), .at = at});
    return true;
  }
  for (const auto& verdict : verdicts) {
    add(text_at(verdict, "/job"), "keep",
        text_at(verdict, "/reason/text") + would_change(list_at(verdict, "/unblocks")));
  }
  if (told) return false;
  for (const auto& given : targets) {
    add(text_at(given, "/job"), "plan",
        count_of(number_at(given, "/size").value_or(0), "worker") + ", " + text_at(given, "/reason/text"));
  }
  return false;
}

}  // namespace

std::string jobs_table(const json& jobs, const Style& style) {
  if (jobs.empty()) return "no jobs; submit one with: schedctl submit FILE\n";
  const bool has_forecasts =
      std::any_of(jobs.begin(), jobs.end(), [](const json& job) { return job.value("forecast", json()).is_object(); });
  std::vector<Column> columns{{.title = "JOB"},
                              {.title = "NAME", .flexible = true},
                              {.title = "TENANT", .flexible = true, .spare = 2},
                              {.title = "STATE", .state = true},
                              {.title = "SIZE", .right = true},
                              {.title = "DONE", .right = true, .spare = 1},
                              {.title = "SAMPLES/S", .right = true, .spare = 3}};
  if (has_forecasts) columns.push_back({.title = "EXPECTED (UTC)", .needs = kForecastWidth});
  columns.push_back({.title = "WHY", .flexible = true, .least = 12});
  TextTable table(std::move(columns));
  for (const auto& job : jobs) {
    std::vector<std::string> cells{text_at(job, "/id"),
                                   text_at(job, "/name"),
                                   text_at(job, "/tenant"),
                                   text_at(job, "/state"),
                                   size_cell(job),
                                   done_cell(job),
                                   rate(number_at(job, "/progress/samples_per_second"))};
    if (has_forecasts) cells.push_back(forecast_cell(job.value("forecast", json()), style.now));
    cells.push_back(why_cell(job));
    table.add(std::move(cells));
  }
  return table.text(style);
}

// Which parts "some" are is told by -o json. A system call filter alone keeps no job from another.
std::string isolation_of(const json& node) {
  const json& kept = list_at(node, "/isolation/kept");
  if (node.value("isolation", json()).is_null()) return "-";
  if (kept.empty() || kept == json::array({"syscalls"})) return "none";
  if (list_at(node, "/isolation/missing").empty()) return "all";
  return "some";
}

// What a slot brings of its node's memory: "memory per slot: 14.4GiB"; where nodes differ with how many they are, or
// which one: "14.4GiB on 12 nodes, 64GiB on node-3". Empty where no node has told.
std::string memory_note(const json& nodes) {
  std::map<std::int64_t, std::vector<std::string>> nodes_by_share;
  for (const json& node : nodes) {
    const auto bytes = number_at(node, "/memory_per_slot");
    if (bytes) nodes_by_share[static_cast<std::int64_t>(*bytes)].push_back(text_at(node, "/id"));
  }
  if (nodes_by_share.empty()) return "";
  const bool alike = nodes_by_share.begin()->second.size() == nodes.size();
  return "memory per slot: " +
         word_list(nodes_by_share,
                   [&](const auto& entry) {
                     const auto& [bytes, ids] = entry;
                     const std::string share = bytes == 0 ? "no bound" : rounded_byte_size(bytes);
                     if (alike) return share;
                     return share + " on " + (ids.size() == 1 ? ids.front() : std::to_string(ids.size()) + " nodes");
                   }) +
         "\n";
}

// "3 losses in 10 min", "1 loss, 2 failed starts in 90 s"
std::string faults_of(const json& node) {
  const json faults = node.value("faults", json::object());
  std::string text = faults_in_words(faults);
  const auto first = micros_of(text_at(faults, "/first_at"));
  const auto newest = micros_of(text_at(faults, "/newest_at"));
  const double count = number_at(faults, "/losses").value_or(0) + number_at(faults, "/failed_starts").value_or(0);
  if (first && newest && count > 1) {
    text += " in " + seconds_in_words(static_cast<double>(*newest - *first) / 1e6);
  }
  return text;
}

// "0.80 by h100" where a rule of the price list sets it.
std::string price_of(const json& node) {
  const std::string rule = text_at(node, "/price_rule");
  return text_at(node, "/price_per_slot_hour", "-") + (rule.empty() ? "" : printable(" by " + rule));
}

// Whether it takes workers while its agent is there, and why not.
std::string openness(const json& node, std::string_view now) {
  if (!text_at(node, "/drain/deadline").empty()) {
    const bool drained = node.at("drain").value("drained", false);
    const std::string until = utc_beside(text_at(node, "/drain/deadline"), now);
    if (text_at(node, "/drain/cause") == "reclaim")
      return (drained ? "drained, reclaimed at " : "reclaimed at ") + until;
    if (text_at(node, "/drain/cause") == "maintenance") {
      const bool begun = node.at("drain").at("maintenance").value("begun", false);
      return begun ? "maintenance until " + utc_beside(text_at(node, "/drain/maintenance/ends"), now)
                   : (drained ? "drained, maintenance at " : "draining, maintenance at ") + until;
    }
    return drained ? "drained" : "draining until " + until;
  }
  if (node.value("cordoned", false)) return "cordoned";
  const std::string until = text_at(node, "/faults/unsteady_until");
  return until.empty() ? "up" : "unsteady until " + utc_beside(until, now) + " (" + faults_of(node) + ")";
}

std::string availability(const json& node, std::string_view now) {
  const std::string state = text_at(node, "/state");
  if (!text_at(node, "/access/revoked_at").empty()) return state + ", revoked";
  if (state == "up") return openness(node, now);
  const bool comes_back_closed = !text_at(node, "/drain/deadline").empty() || node.value("cordoned", false);
  return comes_back_closed ? state + ", " + openness(node, now) : state;
}

bool is_quarantined(const json& slot) {
  const auto found = slot.find("quarantine");
  return found != slot.end() && found->is_object();
}

std::string node_state(const json& node, std::string_view now) {
  const json& slots = list_at(node, "/slots");
  const auto held = std::count_if(slots.begin(), slots.end(), is_quarantined);
  return availability(node, now) +
         (held == 0 ? "" : ", " + count_of(static_cast<double>(held), "slot") + " quarantined");
}

std::string opened_node(const json& node, const std::string& said, std::string_view now) {
  const std::string state = availability(node, now);
  return state == "up" ? said : "is " + state;
}

// One line for each worker whose slots are quarantined.
std::string quarantine_notes(const json& node, std::string_view now) {
  std::map<std::string, std::string> slots_by_why;
  for (const json& slot : list_at(node, "/slots")) {
    if (!is_quarantined(slot)) continue;
    const std::string worker = text_at(slot, "/worker");
    const std::string holder = worker.empty() ? "" : " of " + worker + " (" + text_at(slot, "/job") + ")";
    std::string& slots =
        slots_by_why[holder + " quarantined since " + utc_beside(text_at(slot, "/quarantine/since"), now) + ": " +
                     printable(text_at(slot, "/quarantine/why"))];
    slots += (slots.empty() ? "" : ",") + slot.at("index").dump();
  }
  std::string notes;
  for (const auto& [why, slots] : slots_by_why) {
    notes += text_at(node, "/id") + ": slots " + slots + why + "; if you know that they are free: schedctl node " +
             "release-slots " + text_at(node, "/id") + "\n";
  }
  return notes;
}

std::string nodes_table(const json& nodes, const Style& style) {
  if (nodes.empty())
    return "no nodes; start the daemon with --local-slots 4, or see: schedctl node token create --help\n";
  TextTable table({{.title = "NODE"},
                   {.title = "NAME", .flexible = true},
                   {.title = "STATE", .flexible = true, .state = true, .least = 24},
                   {.title = "FREE", .right = true},
                   {.title = "TYPE"},
                   {.title = "PRICE/H", .right = true, .spare = 3},
                   {.title = "SPEED", .right = true, .spare = 2},
                   {.title = "ADDRESS", .spare = 4},
                   {.title = "ISOLATION", .spare = 1},
                   {.title = "JOBS", .flexible = true}});
  std::string notes;
  for (const auto& node : nodes) {
    const json& slots = list_at(node, "/slots");
    std::size_t free = 0;
    std::string jobs;
    for (const auto& slot : slots) {
      const std::string job = text_at(slot, "/job");
      if (job.empty()) {
        free += slot.value("busy", false) ? 0U : 1U;  // busy without a name: another tenant's job
      } else if (jobs.find(job) == std::string::npos) {
        jobs += (jobs.empty() ? "" : " ") + job;
      }
    }
    const auto speed = number_at(node, "/health/speed");
    const bool is_up = text_at(node, "/state") == "up" && text_at(node, "/access/revoked_at").empty();
    const std::string left = is_up ? std::to_string(free) : "-";
    table.add({text_at(node, "/id"), text_at(node, "/name"), node_state(node, style.now),
               left + "/" + std::to_string(slots.size()), text_at(node, "/slot_type"), price_of(node),
               speed ? percent(*speed) : "-", text_at(node, "/data_address", "-"), isolation_of(node),
               jobs.empty() ? "-" : jobs});
    notes += quarantine_notes(node, style.now);
  }
  notes = memory_note(nodes) + notes;
  return table.text(style) + (notes.empty() ? "" : "\n" + notes);
}

std::string workers_table(const json& workers, const Style& style) {
  TextTable table({{.title = "WORKER"},
                   {.title = "NODE", .flexible = true},
                   {.title = "SLOTS"},
                   {.title = "RANK", .right = true},
                   {.title = "PHASE"},
                   {.title = "COMPUTE", .right = true},
                   {.title = "OF MEDIAN", .right = true},
                   {.title = "NOTE", .flexible = true}});
  for (const auto& worker : workers) {
    std::string slots;
    for (const auto& slot : list_at(worker, "/slots")) slots += (slots.empty() ? "" : ",") + slot.dump();
    const auto compute = number_at(worker, "/compute_ms");
    const auto score = number_at(worker, "/straggler_score");
    const auto flag = worker.find("straggler");
    const bool slow = flag != worker.end() && flag->is_boolean() && flag->get<bool>();
    const double share = number_at(worker, "/share").value_or(1);
    const std::string rebalanced = share < 1 ? percent(share) + " of a full share" : "";
    table.add({text_at(worker, "/id"), text_at(worker, "/node_name", text_at(worker, "/node")), slots,
               integer_at(worker, "/rank"), text_at(worker, "/phase"), compute ? rate(compute) + " ms" : "-",
               score ? percent(*score) : "-",
               slow && !rebalanced.empty() ? "slow, " + rebalanced
               : slow                      ? "slow"
                                           : rebalanced});
  }
  return table.text(style);
}

std::string decisions_text(const json& decisions, const Style& style, Rows rows, const std::string& only) {
  if (decisions.empty()) return "no decisions yet\n";
  FoldedRows lines(rows == Rows::kFolded, "first");
  const DecisionsTold how{.style = style, .only = only, .each = rows == Rows::kAll};
  bool any_counted = false;
  for (const auto& decision : decisions) any_counted = add_decision(lines, decision, how) || any_counted;
  const auto told = lines.lines();
  if (told.empty()) {
    return "nothing to show of the newest " + count_of(static_cast<double>(decisions.size()), "decision") +
           "; look further back with --limit\n";
  }
  std::string out;
  for (const std::string& line : told) out += wrapped(printable(line), 4, style) + "\n";
  if (any_counted) {
    out += wrapped("each job with its reason: schedctl decisions --all; of one job: schedctl decisions JOB", 0, style) +
           "\n";
  }
  return out;
}

std::string policies_table(const json& policies, const Style& style) {
  TextTable table({{.title = ""},
                   {.title = "POLICY"},
                   {.title = "KIND"},
                   {.title = "SIZES"},
                   {.title = "WHAT IT DOES", .flexible = true}});
  for (const auto& policy : policies) {
    const std::string standing = policy.value("active", false) ? "*" : policy.value("shadow", false) ? "s" : "";
    table.add({standing + (policy.value("default", false) ? "d" : ""), text_at(policy, "/name"),
               text_at(policy, "/kind"), text_at(policy, "/scope") == "cluster" ? "all jobs" : "each job",
               text_at(policy, "/summary")});
  }
  return table.text(style) + "* decides   d the default, where rollbacks end   s a shadow, asked beside it\n";
}

std::string node_tokens_table(const json& tokens, const Style& style) {
  if (tokens.empty()) return "no node tokens; make one with: schedctl node token create\n";
  TextTable table({{.title = "TOKEN"},
                   {.title = "STATE", .state = true},
                   {.title = "USES", .right = true},
                   {.title = "EXPIRES (UTC)"},
                   {.title = "NAMES", .flexible = true},
                   {.title = "LABELS", .flexible = true},
                   {.title = "TYPE"},
                   {.title = "PRICE/H", .right = true}});
  for (const auto& token : tokens) {
    std::string labels;
    const json named = token.value("labels", json::object());
    for (const auto& [name, value] : named.items()) {
      labels += (labels.empty() ? "" : ",") + name + "=" + (value.is_string() ? value.get<std::string>() : "");
    }
    const std::string prefix = text_at(token, "/name_prefix");
    const std::string type = text_at(token, "/slot_type");
    table.add({text_at(token, "/id"), text_at(token, "/state"),
               std::to_string(token.value("uses", 0)) + "/" + std::to_string(token.value("uses_max", 0)),
               moment_of(text_at(token, "/expires_at")), prefix.empty() ? "any" : prefix + "...",
               labels.empty() ? "-" : labels, type.empty() ? "-" : type, text_at(token, "/price_per_slot_hour", "-")});
  }
  return table.text(style);
}

std::string tokens_table(const json& tokens, const Style& style) {
  TextTable table({{.title = "TOKEN"},
                   {.title = "NAME", .flexible = true},
                   {.title = "ROLE"},
                   {.title = "TENANT"},
                   {.title = "CREATED"},
                   {.title = "EXPIRES (UTC)"},
                   {.title = "STATE", .state = true}});
  for (const auto& token : tokens) {
    const std::string tenant = text_at(token, "/tenant");
    table.add({text_at(token, "/id"), text_at(token, "/name"), text_at(token, "/role"), tenant.empty() ? "all" : tenant,
               text_at(token, "/created_at").substr(0, 10), moment_of(text_at(token, "/expires_at", "never")),
               text_at(token, "/state")});
  }
  return table.text(style);
}

std::string sizes_table(const json& sizes, int chosen, const Style& style) {
  TextTable table({{.title = "SIZE", .right = true},
                   {.title = "STEPS", .right = true},
                   {.title = "STEP", .right = true},
                   {.title = "SAMPLES/S", .right = true},
                   {.title = "SCALING EFFICIENCY", .right = true},
                   {.title = ""}});
  for (const auto& size : sizes) {
    const auto efficiency = number_at(size, "/efficiency");
    const auto step_ms = number_at(size, "/step_ms");
    table.add({integer_at(size, "/size"), integer_at(size, "/steps"), step_ms ? rate(step_ms) + " ms" : "-",
               rate(number_at(size, "/samples_per_second")), efficiency ? percent(*efficiency) : "-",
               number_at(size, "/size") == chosen ? "<- kept" : ""});
  }
  return table.text(style);
}

}  // namespace tidepool::ctl
