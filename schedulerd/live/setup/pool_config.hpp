// The section "pools" of the configuration file: pools of nodes that a provider creates and deletes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/money.hpp"
#include "base/time.hpp"

namespace tidepool::live {

struct PoolConfig {
  std::string name;
  std::string provider;
  std::vector<std::string> command;  // of the provider exec
  nlohmann::json settings = nlohmann::json::object();
  std::string slot_type;
  int slots_per_node = 1;
  std::optional<std::int64_t> memory_per_slot;  // bytes; none = unknown
  Money price_per_slot_hour;
  Money worth_per_slot_hour;  // the worth of an hour of a fully used slot
  int min = 0;
  int max = 0;
  Duration idle = Duration::seconds(600);
  Duration lead_time = Duration::seconds(120);
  bool spot = false;
  Duration timeout = Duration::seconds(60);  // of one call of the provider
  Duration list_every = Duration::seconds(30);
};

struct PoolsConfig {
  double spot_share = 1;
  std::vector<PoolConfig> pools;
};

[[nodiscard]] PoolsConfig read_pools(const nlohmann::json& value, std::vector<FieldError>& findings);

}  // namespace tidepool::live
