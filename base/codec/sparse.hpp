// Stored structs leave out the fields that say what a blank one says (text_writer.hpp); here they are whole again.
#pragma once

#include <utility>

#include <nlohmann/json.hpp>

namespace tidepool::codec {

// Fields that the blank does not have are kept: the decoder refuses them.
inline void fill_in(nlohmann::json& value, const nlohmann::json& blank) {
  for (auto usual = blank.begin(); usual != blank.end(); ++usual) {
    const auto [field, is_missing] = value.emplace(usual.key(), *usual);
    if (!is_missing && field->is_object() && usual->is_object()) fill_in(*field, *usual);
  }
}

}  // namespace tidepool::codec
