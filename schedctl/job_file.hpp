// Reads a job file or another one, YAML or JSON, into JSON and remembers on which line each field stands.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/yaml/yaml_document.hpp"

namespace tidepool::ctl {

// As read_yaml(), and not empty.
[[nodiscard]] Result<nlohmann::json> parse_job_text(const std::string& text, FieldLines& lines,
                                                    const YamlLimits& limits = {});

// A file that the command line names, and where its fields stand.
struct NamedFile {
  std::string shown;  // its name
  nlohmann::json document;
  FieldLines lines;
};
// "-" is standard input. Throws Failure if it cannot be read, or is neither YAML nor JSON.
[[nodiscard]] NamedFile read_named_file(const std::string& name);
// The same of a job to submit: relative paths in it mean the folder where that is done.
[[nodiscard]] NamedFile read_job_file(const std::string& name);

}  // namespace tidepool::ctl
