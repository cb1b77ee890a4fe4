#include "schedulerd/live/http/openapi.hpp"

#include <yaml-cpp/yaml.h>
#include <nlohmann/json.hpp>

#include "base/json.hpp"

namespace tidepool::live::http {

extern const char* const kOpenapiYaml;  // made by CMake from api/openapi.yaml

namespace {

using nlohmann::json;

// A plain scalar is what the JSON schema of YAML 1.2 says (section 10.2); a quoted one is a text.
json scalar_to_json(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return text;
  if (text == "null" || text == "~") return nullptr;
  if (text == "true" || text == "false") return text == "true";
  const json number = json::parse(text, nullptr, false);
  return number.is_number() ? number : json(text);
}

json to_json(const YAML::Node& node) {
  if (node.IsSequence()) {
    json list = json::array();
    for (const auto& entry : node) list.push_back(to_json(entry));
    return list;
  }
  if (node.IsMap()) {
    json object = json::object();
    for (const auto& entry : node) object[entry.first.Scalar()] = to_json(entry.second);
    return object;
  }
  return node.IsScalar() ? scalar_to_json(node) : json(nullptr);
}

}  // namespace

const std::string& openapi_json() {
  static const std::string document = canonical_json(to_json(YAML::Load(kOpenapiYaml)));
  return document;
}

}  // namespace tidepool::live::http
