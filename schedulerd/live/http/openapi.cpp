#include "schedulerd/live/http/openapi.hpp"

#include <span>
#include <string>

#include "base/json.hpp"
#include "base/yaml/yaml_document.hpp"

namespace tidepool::live::http {

std::span<const char* const> openapi_yaml();  // made by CMake from api/openapi.yaml

const std::string& openapi_json() {
  static const std::string document = [] {
    std::string yaml;
    for (const char* piece : openapi_yaml()) yaml += piece;
    return canonical_json(read_yaml(yaml).value());
  }();
  return document;
}

const std::vector<std::string>& event_types() {
  static const auto types = parse_own_json(openapi_json())
                                .value()
                                .at("components")
                                .at("schemas")
                                .at("EventType")
                                .at("enum")
                                .get<std::vector<std::string>>();
  return types;
}

}  // namespace tidepool::live::http
