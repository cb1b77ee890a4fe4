// Which events are routine: they occur continuously while jobs train and report no problem. Brief lists omit them, and
// they are stored for a shorter time than others. This is the only definition; the journal's condition on its rows
// (schedulerd/live/store/routine_events.hpp) repeats it, and a test checks that both agree.
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

namespace tidepool::core {

// For the data of a data.epoch_audited event: each sample was used exactly once.
[[nodiscard]] inline bool audit_is_sound(const nlohmann::json& data) {
  const auto checksum = data.find("checksum_ok");
  const auto used = data.find("used");
  const auto expected = data.find("expected");
  if (checksum == data.end() || used == data.end() || expected == data.end()) return false;
  return checksum->is_boolean() && checksum->get<bool>() && used->is_number() && *used == *expected;
}

// The progress of a job, and epochs that used each sample once.
[[nodiscard]] inline bool is_routine(std::string_view type, const nlohmann::json& data) {
  return type == "job.progressed" || (type == "data.epoch_audited" && audit_is_sound(data));
}

}  // namespace tidepool::core
