#include <cstdlib>
#include <map>
#include <sstream>

#include <catch2/catch.hpp>

#include "api/v1/job_spec.hpp"
#include "tests/support/file_text.hpp"
#include "tests/support/schema_check.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

// The smallest job file that leaves a field out.
json least_file(const std::string& without) {
  if (without == "run.command") return {{"run", {{"trainer", "mlp"}, {"args", {{"data", "x.csv"}}}}}};
  return {{"run", {{"command", json::array({"train"})}}}};
}

// Without one in the schema, because it follows from other fields.
const std::map<std::string, std::string> kFollowing = {
    {"name", "job"}, {"elastic.max", "1"}, {"elastic.preferred", "1"}, {"elastic.sizes", "[1]"}};

// The fields of a job file by their path, such as "elastic.min", each with its schema. A field that has a default is
// one by itself, whatever lies below it.
void collect(const json& schema, const std::string& prefix, std::map<std::string, json>& fields) {
  for (const auto& [name, part] : schema.at("properties").items()) {
    if (part.contains("properties") && !part.contains("default")) {
      collect(part, prefix + name + ".", fields);
    } else {
      fields[prefix + name] = part;
    }
  }
}

std::map<std::string, json> fields_of_schema() {
  std::map<std::string, json> fields;
  collect(test::openapi().at("components").at("schemas").at("JobSpec"), "", fields);
  return fields;
}

json::json_pointer pointer_of(std::string path) {
  for (char& c : path) c = c == '.' ? '/' : c;
  return json::json_pointer("/" + path);
}

json effective(const json& file) {
  const auto findings = api::v1::read_job_spec(file);
  for (const auto& error : findings.errors) UNSCOPED_INFO(error.pointer << ": " << error.message);
  REQUIRE(findings.errors.empty());
  return api::v1::effective_document(findings.spec);
}

// Rows "| `field` | default | ..." of the first table of docs/jobs.md.
std::map<std::string, std::string> rows_of_page() {
  const char* source = std::getenv("TIDEPOOL_SOURCE_DIR");
  REQUIRE(source != nullptr);
  std::istringstream page(test::text_of_file(std::string(source) + "/docs/jobs.md"));
  std::map<std::string, std::string> rows;
  bool within = false;
  for (std::string line; std::getline(page, line);) {
    if (line == "| field | default | meaning |") within = true;
    if (within && line.empty()) break;
    if (!within || !line.starts_with("| `")) continue;
    const auto name_ends = line.find("` | ");
    const auto value_ends = line.find(" | ", name_ends + 4);
    REQUIRE(value_ends != std::string::npos);
    rows[line.substr(3, name_ends - 3)] = line.substr(name_ends + 4, value_ends - name_ends - 4);
  }
  return rows;
}

std::string in_words(const json& value) {
  if (value.is_null()) return "–";
  return "`" + (value.is_string() ? value.get<std::string>() : value.dump()) + "`";
}

TEST_CASE("each field of a job file has the default that the document says, and is explained there") {
  std::size_t following = 0;
  for (const auto& [path, schema] : fields_of_schema()) {
    INFO(path);
    CHECK(schema.contains("description"));
    const json least = effective(least_file(path));
    const auto pointer = pointer_of(path);
    const json does = least.contains(pointer) ? least.at(pointer) : json();
    if (!schema.contains("default")) {
      REQUIRE(kFollowing.contains(path));
      CHECK((does.is_string() ? does.get<std::string>() : does.dump()) == kFollowing.at(path));
      ++following;
      continue;
    }
    const json& said = schema.at("default");
    if (least.contains(pointer) || said.is_null()) CHECK(does == said);
    json file = least_file(path);
    file[pointer] = said;
    CHECK(effective(file) == least);
  }
  CHECK(following == kFollowing.size());
}

TEST_CASE("the page of job files has each field with its default, and no other") {
  const auto fields = fields_of_schema();
  const auto rows = rows_of_page();
  CHECK(rows.size() == fields.size());
  for (const auto& [path, schema] : fields) {
    INFO(path);
    REQUIRE(rows.contains(path));
    if (schema.contains("default")) CHECK(rows.at(path) == in_words(schema.at("default")));
  }
}

}  // namespace
}  // namespace tidepool::live::http
