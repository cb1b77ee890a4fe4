// THE table of providers: a new one is its own files and one row of provider_table.cpp; nothing else lists them. The
// configuration is checked by the row, so every mistake in it is told before the daemon starts.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "schedulerd/live/providers/node_provider.hpp"

namespace tidepool::live {

// What a pool's entry in the configuration says to its provider; null and empty where it says nothing, or not rightly.
struct ProviderFields {
  const std::vector<std::string>& command;
  const nlohmann::json& settings;
};

struct ProviderKind {
  const char* name;
  // Reports in the pool's entry what the provider needs and lacks, and what it does not take.
  void (*check)(const ProviderFields& fields, ObjectReader& in);
  std::unique_ptr<NodeProvider> (*make)(ProviderSetup setup);
};

// Null if there is no provider of that name.
[[nodiscard]] const ProviderKind* provider_kind(std::string_view name);
[[nodiscard]] std::vector<std::string> provider_names();

// Null if there is no provider of that name.
[[nodiscard]] std::unique_ptr<NodeProvider> make_provider(const std::string& name, ProviderSetup setup);

}  // namespace tidepool::live
