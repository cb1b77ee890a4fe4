// What tests ask of a reason: which one it is, and its numbers as documents tell them.
#pragma once

#include <string_view>
#include <vector>

#include "core/codec/reason_numbers.hpp"
#include "core/state/reason_read.hpp"

namespace tidepool::test {

template <core::ToldReason R>
[[nodiscard]] bool says(const core::Reason& reason) {
  return core::is_any_of<R>(reason);
}

// 0 if the reason does not tell it.
[[nodiscard]] inline double number_in(const core::Reason& reason, std::string_view name) {
  for (const core::ReasonNumber& number : core::numbers_of(reason)) {
    if (number.name == name) return number.value;
  }
  return 0;
}

// One reason of each struct, with nothing in it.
[[nodiscard]] inline std::vector<core::Reason> one_reason_of_each() {
  std::vector<core::Reason> all;
  for (const std::string_view name : core::reason_names()) all.push_back(core::reason_from(name, "", {}).value());
  return all;
}

}  // namespace tidepool::test
