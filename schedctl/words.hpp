// Numbers and texts as people read them: "9,121", "0.0042 USD", "1m 20s", "62 %". Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json_fwd.hpp>

namespace tidepool::ctl {

// How much room there is and whether colours may be used.
struct Style {
  int width = 80;
  bool colour = false;
  bool terminal = false;  // a person reads it: columns that are left out are named
  bool whole = false;     // tables are not cut: a program reads them, and COLUMNS does not say how wide they may be
  std::string now = "";   // as /v1 writes times; "": not known, then no time has its day and no forecast is late
};

// The value at a JSON pointer, or nothing / the fallback if it is absent, null or of another type.
[[nodiscard]] std::optional<double> number_at(const nlohmann::json& value, const std::string& pointer);
[[nodiscard]] std::string text_at(const nlohmann::json& value, const std::string& pointer, std::string fallback = "");
// The number there as whole() writes it; "-" if there is none.
[[nodiscard]] std::string integer_at(const nlohmann::json& value, const std::string& pointer);
// The array at a pointer, or an empty one.
[[nodiscard]] const nlohmann::json& list_at(const nlohmann::json& value, const std::string& pointer);

[[nodiscard]] std::string whole(double number);     // 9120.5 -> "9,121"
[[nodiscard]] std::string quantity(double number);  // below 100 with one decimal, 0 without
// Two that are held against each other: as quantity(), with more decimals, up to six, until they read differently.
[[nodiscard]] std::pair<std::string, std::string> distinguished(double left, double right);
// "-" if absent or 0; at four decimals, as money: the third of a second of one slot.
[[nodiscard]] std::string slot_hours(std::optional<double> number);
[[nodiscard]] std::string rate(std::optional<double> number);  // below 100 with one decimal; "-" if absent or 0
[[nodiscard]] std::string loss(std::optional<double> number);  // four significant digits; "-" if absent
// A decimal amount as /v1 writes it, at four decimals: "0.012882", "USD" -> "0.0129 USD".
[[nodiscard]] std::string money(const std::string& amount, const std::string& currency);
[[nodiscard]] std::string percent(double fraction);  // 0.62 -> "62 %"
// 80.2 -> "1m 20s", 3.21 -> "3.2 s", of two days on "2d 1h"
[[nodiscard]] std::string seconds_in_words(double seconds);
[[nodiscard]] std::string count_of(double n, const char* noun);  // "1 worker", "2 workers"
// Of a node, by its counts: "3 losses", "1 loss, 2 failed starts"
[[nodiscard]] std::string faults_in_words(const nlohmann::json& faults);
// "2026-11-20T21:53:31.004Z" -> "21:53:31"; anything else unchanged.
[[nodiscard]] std::string clock_of(std::string_view timestamp);
// With the day, for what may lie long ago: "2026-11-20 21:53:31".
[[nodiscard]] std::string moment_of(std::string_view timestamp);

// "21:53:31", and with its day where that is not the day of `now`.
[[nodiscard]] std::string time_beside(std::string_view timestamp, std::string_view now);
// The same in a sentence: "21:53:31 UTC".
[[nodiscard]] std::string utc_beside(std::string_view timestamp, std::string_view now);

// Control characters, and those that turn the order of others, replaced by '?', tabs and line ends by a space: names
// and log lines of others must not steer the terminal.
[[nodiscard]] std::string printable(std::string_view text);
// A job in this state has ended and stays in it.
[[nodiscard]] bool is_final_state(std::string_view state);
// Columns that a text takes on a terminal, counted in code points.
[[nodiscard]] std::size_t columns_of(std::string_view text);
// At most `columns` wide; the end of a longer text becomes "…".
[[nodiscard]] std::string shorten(const std::string& text, std::size_t columns);
// Breaks at blanks into lines of at most `style.width` columns, each after the first begins with `indent` blanks.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t indent, const Style& style);
// The `warnings` of an answer, a paragraph each: "warning: ...".
[[nodiscard]] std::string warnings_text(const nlohmann::json& answer, const Style& style);

[[nodiscard]] std::string bold(const std::string& text, const Style& style);
[[nodiscard]] std::string dim(const std::string& text, const Style& style);
// Green for what runs or has succeeded, red for what failed, yellow for what waits.
[[nodiscard]] std::string coloured_state(const std::string& padded, std::string_view state, const Style& style);

}  // namespace tidepool::ctl
