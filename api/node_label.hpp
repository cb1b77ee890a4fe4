// What the labels of nodes may be, wherever they come from: node tokens, operators, job files.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace tidepool::api {

inline constexpr std::size_t kLabelBytesMax = 63;
inline constexpr const char* kLabelRule = "at most 63 letters, digits, '-', '.', '_' or '/'";

[[nodiscard]] inline bool is_label_value(std::string_view text) {
  const auto legal = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_' || c == '/';
  };
  return text.size() <= kLabelBytesMax && std::all_of(text.begin(), text.end(), legal);
}

// ASCII without control characters: safe in tables, CSV files and terminals.
[[nodiscard]] inline bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

[[nodiscard]] inline bool is_label_key(std::string_view text) {
  return !text.empty() && is_label_value(text);
}

}  // namespace tidepool::api
