// The list of prices, as a file or a request states it: strict to read. docs/prices.md says what the fields mean.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/json.hpp"
#include "base/price_list.hpp"

namespace tidepool::api::v1 {

// Reads {rules: [{name, slot_type, pool, labels, spot_discount, entries: [{from, price, schedule: [{hours, days,
// price}]}]}]}; on failure every finding with its JSON pointer.
struct PriceListFindings {
  std::vector<FieldError> errors;  // empty = list is good
  PriceList list;
};
[[nodiscard]] PriceListFindings read_price_list(const nlohmann::json& document);

}  // namespace tidepool::api::v1
