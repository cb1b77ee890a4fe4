#include "schedctl/words.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <nlohmann/json.hpp>

namespace tidepool::ctl {
namespace {

using nlohmann::json;

std::string formatted(const char* format, double number) {
  std::array<char, 64> buffer{};
  const int length = std::snprintf(buffer.data(), buffer.size(), format, number);
  return {buffer.data(), static_cast<std::size_t>(std::max(0, length))};
}

// By names alone, as in "/progress/step": a table of many jobs asks for many.
const json* find(const json& value, std::string_view pointer) {
  const json* at = &value;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::string_view name = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(name.size());
    const auto found = at->is_object() ? at->find(name) : at->end();
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

std::string painted(const char* code, const std::string& text, const Style& style) {
  return style.colour ? std::string("\033[") + code + "m" + text + "\033[0m" : text;
}

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

}  // namespace

std::optional<double> number_at(const json& value, const std::string& pointer) {
  const json* found = find(value, pointer);
  if (found == nullptr || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::string integer_at(const json& value, const std::string& pointer) {
  const auto number = number_at(value, pointer);
  return number ? whole(*number) : "-";
}

std::string text_at(const json& value, const std::string& pointer, std::string fallback) {
  const json* found = find(value, pointer);
  return found != nullptr && found->is_string() ? found->get<std::string>() : fallback;
}

const json& list_at(const json& value, const std::string& pointer) {
  static const json kEmpty = json::array();
  const json* found = find(value, pointer);
  return found != nullptr && found->is_array() ? *found : kEmpty;
}

std::string whole(double number) {
  std::string digits = formatted("%.0f", std::fabs(number));
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return number < 0 && digits != "0" ? "-" + digits : digits;
}

std::string rate(std::optional<double> number) {
  if (!number || *number == 0) return "-";
  return *number < 100 ? formatted("%.1f", *number) : whole(*number);
}

std::string loss(std::optional<double> number) {
  return number ? formatted("%.4g", *number) : "-";
}

std::string money(const std::string& amount, const std::string& currency) {
  char* end = nullptr;
  const double number = std::strtod(amount.c_str(), &end);
  const bool is_number = !amount.empty() && *end == '\0';
  return (is_number ? formatted("%.4f", number) : printable(amount)) +
         (currency.empty() ? "" : " " + printable(currency));
}

std::string percent(double fraction) {
  return formatted("%.0f", fraction * 100) + " %";
}

std::string seconds_in_words(double seconds) {
  if (seconds < 60) return formatted("%.1f", seconds) + " s";
  const auto total = static_cast<long long>(std::llround(seconds));
  if (total < 3600) return std::to_string(total / 60) + "m " + std::to_string(total % 60) + "s";
  return std::to_string(total / 3600) + "h " + std::to_string(total / 60 % 60) + "m";
}

std::string count_of(double n, const char* noun) {
  return whole(n) + " " + noun + (n == 1 ? "" : "s");
}

std::string clock_of(std::string_view timestamp) {
  if (timestamp.size() < 19 || timestamp[10] != 'T') return printable(timestamp);
  return printable(timestamp.substr(11, 8));
}

std::string moment_of(std::string_view timestamp) {
  if (timestamp.size() < 19 || timestamp[10] != 'T') return printable(timestamp);
  return printable(timestamp.substr(0, 10)) + " " + clock_of(timestamp);
}

std::string printable(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F, the second set of control characters, are c2 80 to c2 9f.
    const bool second_set = byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (second_set) ++i;
    clean += byte < 0x20 || byte == 0x7f || second_set ? '?' : text[i];
  }
  return clean;
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (const char c : text) columns += continues_character(c) ? 0U : 1U;
  return columns;
}

std::string shorten(const std::string& text, std::size_t columns) {
  if (columns_of(text) <= columns) return text;
  if (columns == 0) return "";
  std::size_t end = 0;
  for (std::size_t kept = 0; end < text.size(); ++end) {
    if (continues_character(text[end])) continue;
    if (kept + 1 == columns) break;
    ++kept;
  }
  return text.substr(0, end) + "…";
}

std::string wrapped(std::string_view text, std::size_t indent, const Style& style) {
  const auto width = static_cast<std::size_t>(std::max(style.width, 20));
  std::string out;
  std::size_t column = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    auto end = text.find(' ', begin);
    if (end == std::string_view::npos) end = text.size();
    const std::string_view word = text.substr(begin, end - begin);
    begin = end + 1;
    if (word.empty()) continue;
    const std::size_t columns = columns_of(word);
    if (column > 0 && column + 1 + columns > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!out.empty()) {
      out += ' ';
      ++column;
    }
    out += word;
    column += columns;
  }
  return out;
}

std::string bold(const std::string& text, const Style& style) {
  return painted("1", text, style);
}

std::string dim(const std::string& text, const Style& style) {
  return painted("2", text, style);
}

std::string coloured_state(const std::string& padded, std::string_view state, const Style& style) {
  if (state == "running" || state == "succeeded" || state == "up") return painted("32", padded, style);
  if (state == "failed" || state == "lost" || state == "down") return painted("31", padded, style);
  if (state == "pending" || state == "suspended" || state == "suspending") return painted("33", padded, style);
  if (state == "starting" || state == "resizing") return painted("36", padded, style);
  return padded;
}

}  // namespace tidepool::ctl
