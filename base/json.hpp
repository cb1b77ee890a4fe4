// Strict reading of JSON objects: every field is read by name, and a field that is never read is an error with a
// suggestion. All errors of a document are collected, each with its JSON pointer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.hpp"

namespace tidepool {

// One finding about one field.
struct FieldError {
  std::string pointer;  // RFC 6901, "/elastic/min"
  std::string code;     // "UnknownField", "WrongType", "OutOfRange", "Missing", "Invalid"
  std::string message;  // what is wrong and what would be right
  int line = 0;         // in the text, if its reader knows lines; 0 = not known
};

struct JsonLimits {
  std::size_t bytes_max = 1U << 20U;
  std::size_t depth_max = 32;
  std::size_t values_max = 65'536;
};

// Parses text by RFC 8259: refuses duplicate keys, invalid UTF-8, comments and text that exceeds the limits.
[[nodiscard]] Result<nlohmann::json> parse_json(std::string_view text, const JsonLimits& limits = {});

// For text that this program wrote, such as a row of its own database: no limits, and no check for duplicate keys.
[[nodiscard]] Result<nlohmann::json> parse_own_json(std::string_view text);

// One line, keys sorted, no blanks: the same value gives the same bytes everywhere.
[[nodiscard]] std::string canonical_json(const nlohmann::json& value);
// An amount as a file has it: a text unchanged, a number in digits only (0.000001, where JSON has 1e-06).
[[nodiscard]] std::string amount_text(const nlohmann::json& value);

// A field's name as part of a JSON pointer (RFC 6901 section 3).
[[nodiscard]] std::string escape_pointer(std::string_view name);

// The known word that differs only in case or has one more letter at its end, else a known word whose first part up to
// "_" is `word`, as "gpus_per_worker" for "gpus"; else the nearest by edit distance (at most 2 edits), or nothing.
[[nodiscard]] std::optional<std::string> nearest_word(std::string_view word, const std::vector<std::string>& known);

// Reads one object. Create it, read every field, then call finish() to report the unknown ones.
//   ObjectReader in(value, "/elastic", errors);
//   spec.min = in.integer("min", 1, {.low = 1, .high = 4096});
//   in.finish();
class ObjectReader {
 public:
  struct Range {
    std::int64_t low = 0;
    std::int64_t high = INT64_MAX;
  };

  // `errors` collects findings and must outlive the reader. A value that is not an object is one finding.
  ObjectReader(const nlohmann::json& value, std::string pointer, std::vector<FieldError>& errors);

  [[nodiscard]] bool has(std::string_view name);

  [[nodiscard]] std::string text(std::string_view name, std::string fallback);
  [[nodiscard]] std::string required_text(std::string_view name);
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t fallback, Range range);
  [[nodiscard]] std::int64_t required_integer(std::string_view name, Range range);
  [[nodiscard]] double number(std::string_view name, double fallback, double low, double high);
  [[nodiscard]] bool boolean(std::string_view name, bool fallback);
  // The raw value, or null if absent; the caller reads it with a reader of its own.
  [[nodiscard]] const nlohmann::json& raw(std::string_view name);

  // The pointer for a nested reader: pointer() + "/" + name.
  [[nodiscard]] std::string pointer_of(std::string_view name) const;
  void fail(std::string_view name, std::string code, std::string message);

  // Reports each field that was never read, with the nearest known name.
  void finish();

 private:
  const nlohmann::json* find(std::string_view name);

  const nlohmann::json& value_;
  std::string pointer_;
  std::vector<FieldError>& errors_;
  std::vector<std::string> asked_;
};

}  // namespace tidepool
