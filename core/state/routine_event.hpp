// Which events are routine: they come all the time while jobs train and tell of nothing amiss. Brief lists leave them
// out, and they are kept for less long than others. The only definition; the journal's condition on its rows
// (schedulerd/live/store/routine_events.hpp) says the same, and a test holds it to this.
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

namespace tidepool::core {

// Of the data of a data.epoch_audited event: each sample was used exactly once.
[[nodiscard]] inline bool audit_is_sound(const nlohmann::json& data) {
  const auto checksum = data.find("checksum_ok");
  const auto used = data.find("used");
  const auto expected = data.find("expected");
  if (checksum == data.end() || used == data.end() || expected == data.end()) return false;
  return checksum->is_boolean() && checksum->get<bool>() && used->is_number() && *used == *expected;
}

// How far a job is, and epochs that used each sample once.
[[nodiscard]] inline bool is_routine(std::string_view type, const nlohmann::json& data) {
  return type == "job.progressed" || (type == "data.epoch_audited" && audit_is_sound(data));
}

}  // namespace tidepool::core
