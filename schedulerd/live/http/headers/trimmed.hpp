// A header's value, or a part of one, without blanks and tabs at its ends (RFC 9110, section 5.6.3).
#pragma once

#include <string_view>

namespace tidepool::live::http {

[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

}  // namespace tidepool::live::http
