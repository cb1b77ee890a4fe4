#include "schedulerd/live/http/openapi.hpp"

#include "base/json.hpp"
#include "schedulerd/live/yaml_document.hpp"

namespace tidepool::live::http {

extern const char* const kOpenapiYaml;  // made by CMake from api/openapi.yaml

const std::string& openapi_json() {
  static const std::string document = canonical_json(read_yaml(kOpenapiYaml).value());
  return document;
}

}  // namespace tidepool::live::http
