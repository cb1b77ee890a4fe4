// Stored structs omit the fields that equal those of a blank struct (text_writer.hpp); this completes them again.
#pragma once

#include <utility>

#include <nlohmann/json.hpp>

namespace tidepool::codec {

// Keeps fields that the blank does not have: the decoder refuses them.
inline void fill_in(nlohmann::json& value, const nlohmann::json& blank) {
  for (auto usual = blank.begin(); usual != blank.end(); ++usual) {
    const auto [field, is_missing] = value.emplace(usual.key(), *usual);
    if (!is_missing && field->is_object() && usual->is_object()) fill_in(*field, *usual);
  }
}

}  // namespace tidepool::codec
