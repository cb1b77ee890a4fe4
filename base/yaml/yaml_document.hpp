// A YAML or JSON text that a person wrote, converted to JSON, with the line of each field. Types follow YAML's core
// schema: a quoted "1" stays a text, and yes and 1_000 are texts too. A text that is too large, or becomes too large
// when its aliases are expanded, is refused.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/result.hpp"

namespace tidepool {

class FieldLines {
 public:
  void remember(std::string pointer, int line) { lines_.emplace(std::move(pointer), line); }
  // The line of the field at a JSON pointer, else of its nearest parent in the file; 0 = unknown.
  [[nodiscard]] int line_of(std::string_view pointer) const;

 private:
  std::map<std::string, int, std::less<>> lines_;
};

// The errors in such a text, one per line: "tenants.yaml line 3, /tenants/0: ...".
[[nodiscard]] std::string findings_text(const std::string& shown, const FieldLines& lines,
                                        const std::vector<FieldError>& errors);

struct YamlLimits {
  std::size_t bytes_max = 1U << 20U;
  std::size_t depth_max = 32;       // also stops anchors that contain themselves
  std::size_t values_max = 65'536;  // counted after aliases are expanded
};

// Reads one document; null for an empty text. Errors are sentences that contain the line but not the file's name:
// syntax, duplicate keys, several documents, .inf and .nan, unknown tags.
[[nodiscard]] Result<nlohmann::json> read_yaml(const std::string& text, FieldLines& lines,
                                               const YamlLimits& limits = {});
[[nodiscard]] Result<nlohmann::json> read_yaml(const std::string& text);  // with the default limits

// YAML that reads back to the same value.
[[nodiscard]] std::string to_yaml(const nlohmann::json& value);
[[nodiscard]] std::string to_yaml(const nlohmann::ordered_json& value);  // keeps the order of the fields

}  // namespace tidepool
