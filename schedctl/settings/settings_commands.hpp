// The commands diff, apply and export of what operators set whole from a file: tenants, prices.
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "schedctl/app.hpp"

namespace CLI {
class App;
}

namespace tidepool::ctl {

struct SettingsFile {
  std::string command;  // "tenants", of schedctl; the path is /v1/ and this
  std::string kind;     // what an entry is called, "tenant"
  std::string whole;    // "the whole tree"
  // The file from which what the daemon tells can be set again: all, or what lies below one entry.
  std::function<nlohmann::ordered_json(const nlohmann::json&, const std::string& below)> document;
  // What --below does, where what lies below one entry can be set by itself; null = there is no such flag.
  const char* below = nullptr;
};

// Adds them below `parent`. Requires: `chosen` outlives it.
void add_settings_commands(CLI::App& parent, const SettingsFile& file, Chosen& chosen);

}  // namespace tidepool::ctl
