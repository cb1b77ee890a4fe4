#include "api/v1/optional_fields.hpp"

namespace tidepool::api::v1 {

using nlohmann::json;

std::optional<Duration> optional_duration(ObjectReader& in, std::string_view field) {
  const json& value = in.raw(field);
  if (value.is_null()) return std::nullopt;
  if (!value.is_string()) {
    in.fail(field, "WrongType", "must be a duration with a unit, such as \"30s\" or \"2h\"");
    return std::nullopt;
  }
  auto parsed = parse_duration(value.get<std::string>());
  if (!parsed) {
    in.fail(field, "Invalid", "is no duration: " + parsed.error().message);
    return std::nullopt;
  }
  return parsed.value();
}

json or_null(const std::optional<Duration>& duration) {
  return duration ? json(to_text(*duration)) : json(nullptr);
}
json or_null(const std::optional<std::int64_t>& number) {
  return number ? json(*number) : json(nullptr);
}

json or_null(const std::string& text) {
  return text.empty() ? json(nullptr) : json(text);
}

}  // namespace tidepool::api::v1
