// Reads a job file or another one, YAML or JSON, into JSON and remembers on which line each field stands.
// Types are kept by YAML's core schema: a quoted "1" stays a text, yes and 1_000 are texts too.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/result.hpp"

namespace tidepool::ctl {

class FieldLines {
 public:
  void remember(std::string pointer, int line) { lines_.emplace(std::move(pointer), line); }
  // The line of the field at a JSON pointer, else of its nearest parent that the file has; 0 = unknown.
  [[nodiscard]] int line_of(std::string_view pointer) const;

 private:
  std::map<std::string, int, std::less<>> lines_;
};

struct YamlLimits {
  std::size_t bytes_max = 1U << 20U;
  std::size_t depth_max = 32;       // also stops anchors that contain themselves
  std::size_t values_max = 65'536;  // counted after aliases are expanded
};

// One document. Errors name the line: syntax, duplicate keys, several documents, .inf and .nan, unknown tags.
[[nodiscard]] Result<nlohmann::json> parse_job_text(const std::string& text, FieldLines& lines,
                                                    const YamlLimits& limits = {});

// YAML that reads back to the same value.
[[nodiscard]] std::string to_yaml(const nlohmann::json& value);
[[nodiscard]] std::string to_yaml(const nlohmann::ordered_json& value);  // in that order

// A file that the command line names, and where its fields stand.
struct NamedFile {
  std::string shown;  // its name
  nlohmann::json document;
  FieldLines lines;
};
// "-" is standard input. Throws Failure if it cannot be read, or is neither YAML nor JSON.
[[nodiscard]] NamedFile read_named_file(const std::string& name);
// What is wrong with such a file, a line each: "tenants.yaml line 3, /tenants/0: ...".
[[nodiscard]] std::string findings_text(const std::string& shown, const FieldLines& lines,
                                        const std::vector<FieldError>& errors);
// The same of a job to submit: relative paths in it mean the folder where that is done.
[[nodiscard]] NamedFile read_job_file(const std::string& name);

}  // namespace tidepool::ctl
