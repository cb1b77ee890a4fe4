#include "schedulerd/live/http/settings/settings_changes.hpp"

#include <map>
#include <utility>

#include "base/digest.hpp"
#include "base/json.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;
using ByName = std::map<std::string, const SettingsEntry*>;

ByName by_name(const SettingsDocument& document) {
  ByName names;
  for (const SettingsEntry& entry : document.entries) names.emplace(entry.name, &entry);
  return names;
}

// What counts for all, and the order of the entries that the other has too.
json of_all(const SettingsDocument& document, const ByName& other) {
  json fields = document.of_all;
  json& order = fields["order"] = json::array();
  for (const SettingsEntry& entry : document.entries) {
    if (other.contains(entry.name)) order.push_back(entry.name);
  }
  return fields;
}

// Both have the same names. What a new entry had before is null.
json changed_fields(const json& before, const json& after, bool is_new) {
  json fields = json::object();
  for (const auto& [name, value] : after.items()) {
    if (before.at(name) != value) fields[name] = {{"from", is_new ? json(nullptr) : before.at(name)}, {"to", value}};
  }
  return fields;
}

}  // namespace

json settings_changes(const char* kind, const SettingsDocument& before, const SettingsDocument& after,
                      const json& defaults) {
  const ByName old = by_name(before);
  const ByName kept = by_name(after);
  json changes = json::array();
  const auto add = [&](json name, const char* change, json fields) {
    changes.push_back({{kind, std::move(name)}, {"change", change}, {"fields", std::move(fields)}});
  };
  json fields = changed_fields(of_all(before, kept), of_all(after, old), false);
  if (!fields.empty()) add(nullptr, "changed", std::move(fields));
  for (const SettingsEntry& entry : before.entries) {
    if (!kept.contains(entry.name)) add(entry.name, "removed", json::object());
  }
  for (const SettingsEntry& entry : after.entries) {
    const auto found = old.find(entry.name);
    const bool is_new = found == old.end();
    fields = changed_fields(is_new ? defaults : found->second->fields, entry.fields, is_new);
    if (is_new || !fields.empty()) add(entry.name, is_new ? "added" : "changed", std::move(fields));
  }
  return changes;
}

std::string settings_etag(const json& changes) {
  Digest digest;
  digest.mix(canonical_json(changes));
  return "\"" + digest.text() + "\"";
}

}  // namespace tidepool::live::http
