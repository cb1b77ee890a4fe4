#include "schedctl/node_events.hpp"

#include <map>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "schedctl/words.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

std::string after(const json& data, const char* pointer) {
  const auto seconds = number_at(data, pointer);
  return seconds ? seconds_in_words(*seconds) : "?";
}

std::string some(const json& data, const char* pointer, const char* noun) {
  return count_of(number_at(data, pointer).value_or(0), noun);
}

std::string name(const json& data) {
  const std::string called = text_at(data, "/name");
  return called.empty() ? text_at(data, "/provider_id", "?") : called;
}

std::string with(std::string text, const std::string& detail) {
  return detail.empty() ? text : std::move(text) + ": " + detail;
}

// A reason says by itself what it is for ("given back: ..."), which the sentence of its event has said.
std::string with_reason(std::string text, const json& data) {
  std::string why = text_at(data, "/reason/text");
  for (const std::string_view said : {"given back: ", "emptied: "}) {
    if (why.starts_with(said)) why.erase(0, said.size());
  }
  return with(std::move(text), why);
}

std::string listed(const json& data, const char* pointer) {
  std::string text;
  for (const json& each : list_at(data, pointer)) {
    if (each.is_string()) text += (text.empty() ? "" : ", ") + each.get<std::string>();
  }
  return text.empty() ? "none" : text;
}

// "rack=r1, zone=a" of an object; "no labels" of an empty one.
std::string labels(const json& data, const char* field) {
  std::string text;
  if (!data.contains(field) || !data.at(field).is_object()) return "no labels";
  for (const auto& [key, value] : data.at(field).items()) {
    text += (text.empty() ? "" : ", ") + key + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text.empty() ? "no labels" : text;
}

std::string draining(const json& d) {
  const std::string text =
      name(d) + " must be empty in " + after(d, "/seconds") + ", " + some(d, "/workers", "worker") + " on it";
  return with(text, text_at(d, "/reason"));
}

std::string unsteady(const json& d) {
  return with(name(d) + " gets no workers for " + after(d, "/seconds") + ": " + faults_in_words(d) + " within " +
                  after(d, "/within_seconds"),
              text_at(d, "/why", ""));
}

std::string window(const json& d, const char* what) {
  return "maintenance " + text_at(d, "/window", "?") + " of nodes with " + text_at(d, "/nodes", "?") + " " + what;
}

std::string failed(const json& d, const char* what) {
  return with(std::string(what) + name(d) + " failed (" + text_at(d, "/fault", "?") + "), tried again in " +
                  after(d, "/again_in_seconds"),
              text_at(d, "/detail"));
}

// "tenant vision has spent 80 % of its budget of 100 a month: warn"
std::string budget_reached(const json& d) {
  return "tenant " + text_at(d, "/tenant", "?") + " has spent " + integer_at(d, "/percent") + " % of its budget of " +
         text_at(d, "/limit", "?") + " a " + text_at(d, "/window", "?") + ": " + text_at(d, "/action", "?");
}

// "prices changed: h100 costs 1.90 per slot and hour, of 4 nodes"
std::string prices_changed(const json& d) {
  std::string changes;
  for (const json& one : list_at(d, "/prices")) {
    changes += (changes.empty() ? "" : ", ") + text_at(one, "/rule", "?") + " costs " + text_at(one, "/price", "?");
  }
  return "prices changed: " + changes + " per slot and hour, of " + some(d, "/nodes", "node");
}

using Sentence = std::string (*)(const json& data);

const std::map<std::string, Sentence>& pool_sentences() {
  static const std::map<std::string, Sentence> table = {
      {"pool.configured", [](const json& d) { return "pools: " + listed(d, "/pools"); }},
      {"pool.node_asked", [](const json& d) { return with(name(d) + " is requested", text_at(d, "/reason/text")); }},
      {"pool.node_created", [](const json& d) { return name(d) + " is being made"; }},
      {"pool.node_joined",
       [](const json& d) { return name(d) + " joined " + after(d, "/seconds") + " after it was requested"; }},
      {"pool.create_failed", [](const json& d) { return failed(d, "making "); }},
      {"pool.delete_failed", [](const json& d) { return failed(d, "ending "); }},
      {"pool.node_emptying",
       [](const json& d) { return with_reason(name(d) + " must be empty in " + after(d, "/seconds"), d); }},
      {"pool.node_released", [](const json& d) { return with_reason(name(d) + " is given back", d); }},
      {"pool.bill_runs_on",
       [](const json& d) {
         return name(d) + " was ended and is still listed; it is ended again (" + some(d, "/attempts", "attempt") + ")";
       }},
      {"pool.node_gone", [](const json& d) { return with(name(d) + " is gone", text_at(d, "/why")); }},
      {"pool.node_unknown",
       [](const json& d) {
         return "the provider of " + text_at(d, "/pool", "?") + " lists " + text_at(d, "/provider_id", "?") +
                ", for which there is no request; it is ended";
       }},
      {"pool.list_failed",
       [](const json& d) {
         return with("listing the nodes of " + text_at(d, "/pool", "?") + " failed", text_at(d, "/detail"));
       }},
  };
  return table;
}

const std::map<std::string, Sentence>& node_sentences() {
  static const std::map<std::string, Sentence> table = {
      {"worker.started", [](const json& d) { return "worker " + text_at(d, "/worker", "?") + " is placed"; }},
      {"slots.quarantined",
       [](const json& d) {
         return with("slots of " + text_at(d, "/worker", "?") + " in quarantine", text_at(d, "/why"));
       }},
      {"slots.released",
       [](const json& d) { return "slots of " + text_at(d, "/worker", "?") + " free after " + after(d, "/seconds"); }},
      {"node.joined",
       [](const json& d) {
         return name(d) + " joined with " + some(d, "/slots", "slot") + " of type " + text_at(d, "/slot_type", "?");
       }},
      {"node.lost", [](const json& d) { return with(name(d) + " is lost", text_at(d, "/why")); }},
      {"node.removed", [](const json& d) { return name(d) + " is removed"; }},
      {"node.cordoned",
       [](const json& d) {
         return name(d) + (d.value("cordoned", json()) == json(true) ? " is cordoned" : " takes workers again");
       }},
      {"node.labelled", [](const json& d) { return name(d) + " has " + labels(d, "labels"); }},
      {"node.draining", draining},
      {"node.drained", [](const json& d) { return name(d) + " is empty"; }},
      {"node.undrained", [](const json& d) { return name(d) + " is no longer drained"; }},
      {"node.reclaim_notice",
       [](const json& d) { return name(d) + " will be reclaimed by its provider in " + after(d, "/seconds"); }},
      {"node.reclaim_withdrawn", [](const json& d) { return name(d) + " will not be reclaimed after all"; }},
      {"node.unsteady", unsteady},
      {"node.steady", [](const json& d) { return name(d) + " counts as steady again"; }},
      {"node.probed",
       [](const json& d) {
         return name(d) + " was measured at " + percent(number_at(d, "/speed").value_or(0)) + " of its usual speed";
       }},
      {"maintenance.added", [](const json& d) { return window(d, "is planned"); }},
      {"maintenance.began", [](const json& d) { return window(d, "has begun"); }},
      {"maintenance.ended", [](const json& d) { return window(d, "has ended"); }},
      {"maintenance.removed", [](const json& d) { return window(d, "is cancelled"); }},
      {"budget.reached", budget_reached},
      {"budget.renewed",
       [](const json& d) {
         return "the budget of tenant " + text_at(d, "/tenant", "?") + " is renewed; " + text_at(d, "/spent", "?") +
                " of " + text_at(d, "/limit", "?") + " were spent";
       }},
      {"tenants.configured", [](const json& d) { return "tenants: " + listed(d, "/tenants"); }},
      {"prices.configured", [](const json& d) { return "price rules: " + listed(d, "/rules"); }},
      {"prices.changed", prices_changed},
  };
  return table;
}

}  // namespace

std::string node_event_sentence(const std::string& type, const json& data) {
  for (const auto* table : {&node_sentences(), &pool_sentences()}) {
    if (const auto found = table->find(type); found != table->end()) return found->second(data);
  }
  return "";
}

std::vector<std::string> node_event_types() {
  std::vector<std::string> types;
  for (const auto* table : {&node_sentences(), &pool_sentences()}) {
    for (const auto& [type, sentence] : *table) types.push_back(type);
  }
  return types;
}

}  // namespace tidepool::ctl
