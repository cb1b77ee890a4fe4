#include "schedctl/job_file.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "schedctl/failure.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

std::string read_whole(const std::string& file) {
  if (file == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) fail(kExitUsage, file + " is a folder; name a file in it");
  std::ifstream in(file, std::ios::binary);
  if (!in) fail(kExitUsage, "the file " + file + " cannot be read; check its name and rights");
  return {std::istreambuf_iterator<char>(in), {}};
}

// Relative paths in a job file mean the folder where it was submitted.
void fill_workdir(json& document) {
  if (!document.is_object() || !document.contains("run") || !document.at("run").is_object()) return;
  json& run = document.at("run");
  if (!run.contains("workdir") || run.at("workdir").is_null()) {
    run["workdir"] = std::filesystem::current_path().string();
  } else if (run.at("workdir").is_string()) {
    run["workdir"] = std::filesystem::absolute(run.at("workdir").get<std::string>()).lexically_normal().string();
  }
}

}  // namespace

Result<json> parse_job_text(const std::string& text, FieldLines& lines, const YamlLimits& limits) {
  auto document = tidepool::read_yaml(text, lines, limits);
  if (document.ok() && document->is_null()) return invalid_argument("the file has no content");
  return document;
}

NamedFile read_named_file(const std::string& name) {
  NamedFile file{.shown = name == "-" ? "standard input" : name, .document = {}, .lines = {}};
  auto document = parse_job_text(read_whole(name), file.lines);
  if (!document.ok()) fail(kExitUsage, file.shown + ": " + document.error().message);
  file.document = *std::move(document);
  return file;
}

NamedFile read_job_file(const std::string& name) {
  NamedFile file = read_named_file(name);
  fill_workdir(file.document);
  return file;
}

}  // namespace tidepool::ctl
