// Encoded structs without the fields that say what a blank one says, and whole again. Lists are all or nothing.
#pragma once

#include <utility>

#include <nlohmann/json.hpp>

namespace tidepool::core::codec {

// To the letter: -0.0 is a number of its own.
inline bool is_the_same(const nlohmann::json& one, const nlohmann::json& other) {
  if (one != other) return false;
  return one.is_structured() || one.is_number_float() ? one.dump() == other.dump() : true;
}

inline void make_sparse(nlohmann::json& value, const nlohmann::json& blank) {
  for (const auto& field : value.items()) {
    if (!blank.contains(field.key())) return;  // no struct: its names are its own
  }
  for (auto field = value.begin(); field != value.end();) {
    const nlohmann::json& usual = blank.at(field.key());
    if (is_the_same(*field, usual)) {
      field = value.erase(field);
      continue;
    }
    if (field->is_object() && usual.is_object()) make_sparse(*field, usual);
    ++field;
  }
}

// Fields that the blank does not have are kept: the decoder refuses them.
inline void fill_in(nlohmann::json& value, const nlohmann::json& blank) {
  for (auto usual = blank.begin(); usual != blank.end(); ++usual) {
    const auto [field, is_missing] = value.emplace(usual.key(), *usual);
    if (!is_missing && field->is_object() && usual->is_object()) fill_in(*field, *usual);
  }
}

}  // namespace tidepool::core::codec
