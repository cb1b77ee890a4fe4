// Events of nodes, pools, windows, tenants and prices as sentences; those of jobs are in progress.hpp. Pure.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace tidepool::ctl {

// Empty if there are no words for this type of event. Fields that are missing or of another type read as "?".
[[nodiscard]] std::string node_event_sentence(const std::string& type, const nlohmann::json& data);
// Of those for which there are words.
[[nodiscard]] std::vector<std::string> node_event_types();

}  // namespace tidepool::ctl
