#include "schedctl/words.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <nlohmann/json.hpp>

namespace tidepool::ctl {
namespace {

constexpr std::size_t kDayLength = 10;  // "2026-11-20"

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

// Of the character at the front of the text, if it steers the terminal or the order of what stands beside it; else 0.
std::size_t steering_bytes(std::string_view text) {
  const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  if (byte(0) < 0x20 || byte(0) == 0x7f) return 1;
  // U+0080 to U+009F, the second set of control characters; U+061C turns the order, too.
  if (byte(0) == 0xc2 && byte(1) < 0xa0) return std::min<std::size_t>(2, text.size());
  if (byte(0) == 0xd8 && byte(1) == 0x9c) return 2;
  if (byte(0) != 0xe2) return 0;
  // U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069: order, and ends of lines.
  const bool marks = byte(1) == 0x80 && (byte(2) == 0x8e || byte(2) == 0x8f || (byte(2) >= 0xa8 && byte(2) <= 0xae));
  const bool isolates = byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9;
  return marks || isolates ? 3 : 0;
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

std::string quantity(double number) {
  return number < 100 ? formatted(number == 0 ? "%.0f" : "%.1f", number) : whole(number);
}

std::pair<std::string, std::string> distinguished(double left, double right) {
  const auto as = [&](const char* format) { return std::pair(formatted(format, left), formatted(format, right)); };
  const auto short_ones = as(left < 100 ? "%.1f" : "%.0f");
  if (left == right || short_ones.first != short_ones.second) return {quantity(left), quantity(right)};
  for (const char* format : {"%.1f", "%.2f", "%.3f", "%.4f", "%.5f"}) {
    if (const auto told = as(format); told.first != told.second) return told;
  }
  return as("%.6f");
}

std::string slot_hours(std::optional<double> number) {
  constexpr double kLeast = 0.0001;
  if (!number || *number == 0) return "-";
  return *number < kLeast ? "<0.0001" : formatted("%.4f", *number);
}

std::string rate(std::optional<double> number) {
  return number && *number != 0 ? quantity(*number) : "-";
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
  const long long hours = total / 3600;
  if (hours < 48) return std::to_string(hours) + "h " + std::to_string(total / 60 % 60) + "m";
  return std::to_string(hours / 24) + "d " + std::to_string(hours % 24) + "h";
}

std::string count_of(double n, const char* noun) {
  return whole(n) + " " + noun + (n == 1 ? "" : "s");
}

std::string faults_in_words(const json& faults) {
  const double losses = number_at(faults, "/losses").value_or(0);
  const double starts = number_at(faults, "/failed_starts").value_or(0);
  std::string text = losses > 0 ? whole(losses) + (losses == 1 ? " loss" : " losses") : "";
  if (starts > 0) text += (text.empty() ? "" : ", ") + count_of(starts, "failed start");
  return text;
}

std::string clock_of(std::string_view timestamp) {
  if (timestamp.size() < 19 || timestamp[10] != 'T') return printable(timestamp);
  return printable(timestamp.substr(11, 8));
}

std::string moment_of(std::string_view timestamp) {
  if (timestamp.size() < 19 || timestamp[10] != 'T') return printable(timestamp);
  return printable(timestamp.substr(0, 10)) + " " + clock_of(timestamp);
}

std::string time_beside(std::string_view timestamp, std::string_view now) {
  const bool same_day = timestamp.substr(0, kDayLength) == now.substr(0, kDayLength);
  return same_day || now.empty() ? clock_of(timestamp) : moment_of(timestamp);
}

std::string utc_beside(std::string_view timestamp, std::string_view now) {
  return time_beside(timestamp, now) + " UTC";
}

std::string printable(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bytes = steering_bytes(text);
    const bool is_blank = text.front() == '\t' || text.front() == '\n' || text.front() == '\r';
    clean += is_blank ? ' ' : bytes > 0 ? '?' : text.front();
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return clean;
}

bool is_final_state(std::string_view state) {
  return state == "succeeded" || state == "failed" || state == "cancelled";
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

std::string warnings_text(const json& answer, const Style& style) {
  std::string lines;
  for (const auto& warning : list_at(answer, "/warnings")) {
    lines += wrapped(printable("warning: " + warning.get<std::string>()), 2, style) + "\n";
  }
  return lines;
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
