#include "tests/support/schema_check.hpp"

#include <map>
#include <memory>
#include <utility>

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "schedulerd/live/http/openapi.hpp"

namespace tidepool::test {
namespace {

using nlohmann::json;

// The validator compiles the expression of a format for each value, and that of a pattern once.
json with_times_as_patterns(json schema) {
  if (schema.is_object() && schema.value("format", json()) == "date-time") {
    schema.erase("format");
    schema["pattern"] =
        "^[0-9]{4}-(0[1-9]|1[012])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?Z$";
  }
  if (!schema.is_structured()) return schema;
  for (json& part : schema) part = with_times_as_patterns(std::move(part));
  return schema;
}

// Schemas refer to each other inside the whole document, so each is parsed as a document that holds
// all components and is itself a reference.
std::shared_ptr<valijson::Schema> schema_named(const std::string& name) {
  static std::map<std::string, std::shared_ptr<valijson::Schema>> parsed;
  auto& schema = parsed[name];
  if (schema) return schema;
  schema = std::make_shared<valijson::Schema>();
  static const json components = with_times_as_patterns(openapi().at("components"));
  const json document = {{"components", components}, {"$ref", "#/components/schemas/" + name}};
  valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
  parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(document), *schema);
  return schema;
}

}  // namespace

const json& openapi() {
  static const json document = json::parse(live::http::openapi_json());
  return document;
}

std::string misfit(const json& value, const std::string& name) {
  if (!openapi().at("components").at("schemas").contains(name)) return "the document has no schema " + name;
  static valijson::Validator validator(valijson::Validator::kStrongTypes);  // it keeps the patterns
  valijson::ValidationResults results;
  if (validator.validate(*schema_named(name), valijson::adapters::NlohmannJsonAdapter(value), &results)) return {};
  std::string text = name + " does not describe this:";
  valijson::ValidationResults::Error error;
  while (results.popError(error)) {
    text += "\n ";
    for (const auto& step : error.context) text += step;
    text += ": " + error.description;
  }
  return text + "\n" + value.dump(1);
}

}  // namespace tidepool::test
