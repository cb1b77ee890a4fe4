// A value as the API and the files of users write it: durations and amounts of money as texts, null where there is
// none. What has been written so is read back by the readers of files as the same value.
#pragma once

#include <optional>

#include <nlohmann/json.hpp>

#include "base/money.hpp"
#include "base/time.hpp"

namespace tidepool {

template <class T>
nlohmann::json written(const T& value) {
  return value;
}
inline nlohmann::json written(const Duration& value) {
  return to_text(value);
}
inline nlohmann::json written(const Money& value) {
  return to_text(value);
}
template <class T>
nlohmann::json written(const std::optional<T>& value) {
  return value ? written(*value) : nlohmann::json(nullptr);
}

}  // namespace tidepool
