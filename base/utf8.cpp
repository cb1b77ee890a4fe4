#include "base/utf8.hpp"

#include <algorithm>

namespace tidepool {

std::size_t whole_utf8_length(std::string_view text) {
  // Looks back over at most three continuation bytes for the lead byte of the last sequence.
  for (std::size_t back = 1; back <= std::min<std::size_t>(4, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0U) == 0x80U) continue;
    std::size_t length = 1;
    if ((byte & 0xE0U) == 0xC0U) length = 2;
    if ((byte & 0xF0U) == 0xE0U) length = 3;
    if ((byte & 0xF8U) == 0xF0U) length = 4;
    return length > back ? text.size() - back : text.size();
  }
  return text.size();
}

std::string cut_to(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  const std::string_view begin = text.substr(0, bytes_max);
  return std::string(begin.substr(0, whole_utf8_length(begin)));
}

std::string shortened_to(std::string_view text, std::size_t bytes_max) {
  constexpr std::string_view kRest = "…";
  if (text.size() <= bytes_max) return std::string(text);
  return cut_to(text, bytes_max - kRest.size()).append(kRest);
}

}  // namespace tidepool
