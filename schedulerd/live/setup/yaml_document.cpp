#include "schedulerd/live/setup/yaml_document.hpp"

#include "base/yaml/yaml_document.hpp"

namespace tidepool::live {

Result<nlohmann::json> read_yaml(const std::string& text) {
  FieldLines lines;
  return tidepool::read_yaml(text, lines);
}

}  // namespace tidepool::live
