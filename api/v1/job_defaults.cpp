#include "api/v1/job_defaults.hpp"

#include <algorithm>
#include <utility>

#include "base/word_list.hpp"

namespace tidepool::api::v1 {
namespace {

using nlohmann::json;

bool has_default(std::string_view path) {
  return std::find(kFieldsWithDefaults.begin(), kFieldsWithDefaults.end(), path) != kFieldsWithDefaults.end();
}

bool has_fields_with_defaults(const std::string& part) {
  return std::any_of(kFieldsWithDefaults.begin(), kFieldsWithDefaults.end(),
                     [&](std::string_view field) { return field.starts_with(part + "."); });
}

json job_of(const json& defaults) {
  json job = defaults;
  job["run"] = {{"trainer", "charlm"}, {"args", {{"data", "any"}}}};
  return job;
}

class Reading {
 public:
  Reading(std::string pointer, std::vector<FieldError>& errors) : pointer_(std::move(pointer)), errors_(errors) {}

  // Keeps the fields that can have a default, and complains of the others.
  void read(const json& part, const std::string& prefix) {
    for (const auto& [name, value] : part.items()) {
      const std::string path = prefix + name;
      if (value.is_null()) continue;
      if (name.find('.') == std::string::npos && has_default(path)) {
        defaults[pointer_of_field(path)] = value;
      } else if (value.is_object() && has_fields_with_defaults(path)) {
        read(value, path + ".");
      } else {
        refuse(path);
      }
    }
  }

  json defaults = json::object();

 private:
  void refuse(const std::string& path) {
    const std::vector<std::string> fields(kFieldsWithDefaults.begin(), kFieldsWithDefaults.end());
    const auto near = nearest_word(path, fields);
    errors_.push_back({pointer_ + pointer_of_field(path).to_string(), "UnknownField",
                       path + " can have no default" + (near ? "; did you mean " + *near + "?" : "") +
                           "; these can: " + word_list(fields)});
  }

  std::string pointer_;
  std::vector<FieldError>& errors_;
};

}  // namespace

json::json_pointer pointer_of_field(std::string_view path) {
  json::json_pointer pointer;
  while (true) {
    const auto dot = path.find('.');
    pointer /= std::string(path.substr(0, dot));
    if (dot == std::string_view::npos) return pointer;
    path.remove_prefix(dot + 1);
  }
}

json read_job_defaults(const json& value, const std::string& pointer, std::vector<FieldError>& errors) {
  if (value.is_null()) return json::object();
  if (!value.is_object()) {
    errors.push_back({pointer, "WrongType", "must be a part of a job file, such as {elastic: {cooldown: 1m}}"});
    return json::object();
  }
  Reading reading(pointer, errors);
  reading.read(value, "");
  const auto types = pointer_of_field("resources.gpu.type");
  if (reading.defaults.contains(types) && reading.defaults[types].is_object()) {
    errors.push_back({pointer + types.to_string(), "WrongType",
                      "must be a type or a list of types; how fast a worker is on each is a job's own to say"});
    return reading.defaults;
  }
  for (FieldError& error : read_job_spec(job_of(reading.defaults)).errors) {
    error.pointer = pointer + error.pointer;
    errors.push_back(std::move(error));
  }
  return std::move(reading.defaults);
}

JobSpecV1 job_with_defaults(const json& defaults) {
  return read_job_spec(job_of(defaults)).spec;
}

}  // namespace tidepool::api::v1
