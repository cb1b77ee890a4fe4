// A value as the API and users' files write it: durations and amounts of money as texts, null for none. The readers of
// files read the text back as the same value.
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
