// The list of prices as JSON: as it is set, as it differs from another one, and what it makes of a node or pool. Pure.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/state/cluster_state.hpp"

namespace tidepool::live::http {

// The rule's fields but its name, as files call them.
[[nodiscard]] nlohmann::json rule_settings(const PriceRule& rule);

// As settings_changes.hpp has it, with each entry as a line of text.
[[nodiscard]] nlohmann::json price_changes(const PriceList& before, const PriceList& after);
[[nodiscard]] std::string prices_etag(const PriceList& list);

// What sets the price of a node or pool now, beside the price: "price_rule" (null: its own price holds) and
// "own_price_per_slot_hour".
void add_price_source(const core::ClusterState& state, const core::Node& node, nlohmann::json& out);
void add_price_source(const core::ClusterState& state, const core::PoolSpec& pool, nlohmann::json& out);

}  // namespace tidepool::live::http
