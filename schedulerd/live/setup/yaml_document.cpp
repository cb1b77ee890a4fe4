#include "schedulerd/live/setup/yaml_document.hpp"

#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cmath>
#include <optional>

namespace tidepool::live {
namespace {

using nlohmann::json;

template <class Number>
std::optional<json> number_of(const std::string& text) {
  Number number = 0;
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(number)) return std::nullopt;
  }
  return json(number);
}

json scalar_to_json(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return text;
  if (text.empty() || text == "~" || text == "null") return nullptr;
  if (text == "true" || text == "false") return text == "true";
  if (auto whole = number_of<std::int64_t>(text)) return *whole;
  if (auto real = number_of<double>(text)) return *real;
  return text;
}

json to_json(const YAML::Node& node) {
  if (node.IsMap()) {
    json object = json::object();
    for (const auto& entry : node) object[entry.first.as<std::string>()] = to_json(entry.second);
    return object;
  }
  if (node.IsSequence()) {
    json array = json::array();
    for (const auto& entry : node) array.push_back(to_json(entry));
    return array;
  }
  return node.IsScalar() ? scalar_to_json(node) : json();
}

}  // namespace

Result<json> read_yaml(const std::string& text) {
  try {
    return to_json(YAML::Load(text));
  } catch (const YAML::Exception& broken) {
    return invalid_argument(std::string("it is not YAML: ") + broken.what());
  }
}

}  // namespace tidepool::live
