// How two versions of what operators set from a file (tenants, prices) differ, entry by entry and field by field, as
// JSON. Pure.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tidepool::live::http {

struct SettingsEntry {
  std::string name;  // unique
  nlohmann::json fields;
};
struct SettingsDocument {
  nlohmann::json of_all = nlohmann::json::object();  // fields that are of no entry
  std::vector<SettingsEntry> entries;                // in their order
};

// A list of {KIND, change, fields: {name: {from, to}}}: what is "removed", then in the order of `after` what is "added"
// or "changed", beside `defaults` if it is new. KIND null: what counts for all, with "order" if the same entries stand
// in another order. Empty: they are equal.
[[nodiscard]] nlohmann::json settings_changes(const char* kind, const SettingsDocument& before,
                                              const SettingsDocument& after, const nlohmann::json& defaults);

// Another one for other settings; with its quotes. `changes`: from nothing to what is set.
[[nodiscard]] std::string settings_etag(const nlohmann::json& changes);

}  // namespace tidepool::live::http
