#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include <catch2/catch.hpp>

#include "core/codec/reason_numbers.hpp"
#include "core/state/cluster_state.hpp"
#include "schedulerd/live/http/route_table.hpp"
#include "tests/support/schema_check.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

const json& resolved(const json& value) {
  if (!value.contains("$ref")) return value;
  const auto pointer = value.at("$ref").get<std::string>().substr(1);
  return test::openapi().at(json::json_pointer(pointer));
}

std::string lower(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) c = static_cast<char>(std::tolower(c));
  return lowered;
}

std::set<std::string> query_parameters(const json& operation) {
  std::set<std::string> names;
  if (!operation.contains("parameters")) return names;
  for (const auto& entry : operation.at("parameters")) {
    const json& parameter = resolved(entry);
    if (parameter.at("in") == "query") names.insert(parameter.at("name"));
  }
  return names;
}

std::set<std::string> words(std::string_view text) {
  std::set<std::string> found;
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(' '));
    found.emplace(word);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return found;
}

TEST_CASE("every route is in the document, with its parameters and whether it is public") {
  for (const auto& route : routes()) {
    INFO(route.method << " " << route.path);
    const json& paths = test::openapi().at("paths");
    REQUIRE(paths.contains(std::string(route.path)));
    const json& item = paths.at(std::string(route.path));
    REQUIRE(item.contains(lower(route.method)));
    const json& operation = item.at(lower(route.method));
    CHECK(query_parameters(operation) == words(route.query));
    const bool is_public = operation.contains("security") && operation.at("security").empty();
    CHECK(is_public == (route.access == Access::kPublic));
    const bool takes_id = route.path.find("{id}") != std::string_view::npos;
    CHECK(takes_id == item.contains("parameters"));
    REQUIRE((route.body != BodyKind::kNone) == operation.contains("requestBody"));
    const bool yaml = operation.value("/requestBody/content"_json_pointer, json::object()).contains("application/yaml");
    CHECK((route.body == BodyKind::kJobFile) == yaml);
  }
}

TEST_CASE("every operation of the document is a route") {
  std::set<std::string> ids;
  for (const auto& [path, item] : test::openapi().at("paths").items()) {
    for (const auto& [method, operation] : item.items()) {
      if (method == "parameters") continue;
      INFO(method << " " << path);
      std::string upper = method;
      for (char& c : upper) c = static_cast<char>(std::toupper(c));
      const auto match = match_route(upper, path);
      REQUIRE(match.route != nullptr);
      CHECK(match.route->path == path);
      CHECK(ids.insert(operation.at("operationId")).second);
      CHECK(operation.at("responses").contains("default"));
    }
  }
  CHECK(ids.size() == routes().size());
}

TEST_CASE("every reference of the document leads somewhere") {
  const json flat = test::openapi().flatten();
  int references = 0;
  for (const auto& [pointer, value] : flat.items()) {
    if (!pointer.ends_with("/$ref")) continue;
    ++references;
    INFO(pointer << " -> " << value);
    CHECK(test::openapi().contains(json::json_pointer(value.get<std::string>().substr(1))));
  }
  CHECK(references > 100);
}

TEST_CASE("the document lists every reason code and every job state") {
  const json& schemas = test::openapi().at("components").at("schemas");
  std::set<std::string> codes;
  for (const std::string_view name : core::reason_names()) codes.emplace(name);
  CHECK(schemas.at("ReasonCode").at("enum").get<std::set<std::string>>() == codes);
  std::set<std::string> states;
  for (int state = 0; state <= static_cast<int>(core::JobState::kCancelled); ++state) {
    states.emplace(core::to_text(static_cast<core::JobState>(state)));
  }
  CHECK(schemas.at("JobState").at("enum").get<std::set<std::string>>() == states);
}

// Of the refusals that a source file makes.
void add_problem_codes(const std::filesystem::path& file, std::set<std::string>& codes) {
  static const std::regex made(R"~((?:\.code = |bad_request\(|unreadable\(|\b[45][0-9][0-9],\s*)"([A-Z][A-Za-z]+)")~");
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  for (std::sregex_iterator found(text.begin(), text.end(), made), end; found != end; ++found) {
    codes.insert((*found)[1].str());
  }
}

TEST_CASE("the document lists every code of a refusal") {
  const char* source = std::getenv("TIDEPOOL_SOURCE_DIR");
  REQUIRE(source != nullptr);
  std::set<std::string> codes;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::string(source) + "/schedulerd/live/http")) {
    if (entry.path().extension() == ".cpp") add_problem_codes(entry.path(), codes);
  }
  REQUIRE(codes.size() > 50);
  const json& schemas = test::openapi().at("components").at("schemas");
  CHECK(schemas.at("ProblemCode").at("enum").get<std::set<std::string>>() == codes);
}

TEST_CASE("the examples are what the document describes") {
  const char* source = std::getenv("TIDEPOOL_SOURCE_DIR");
  REQUIRE(source != nullptr);
  for (const auto& [file, schema] : {std::pair{"decision", "Decision"},
                                     {"event", "Event"},
                                     {"explain", "Explanation"},
                                     {"job", "Job"},
                                     {"job_batch", "JobBatch"},
                                     {"job_batch_problem", "Problem"},
                                     {"job_batch_stored", "JobBatchStored"},
                                     {"job_list", "JobList"},
                                     {"job_metrics", "JobMetrics"},
                                     {"node", "Node"},
                                     {"plan", "Plan"},
                                     {"policy", "Policy"},
                                     {"pool", "Pool"},
                                     {"price_changes", "PriceChanges"},
                                     {"prices", "PriceList"},
                                     {"problem", "Problem"},
                                     {"submit_decision", "SubmitDecision"},
                                     {"tenant_changes", "TenantChanges"},
                                     {"tenants", "TenantTree"},
                                     {"usage", "Usage"},
                                     {"worker", "Worker"}}) {
    std::ifstream stream(std::string(source) + "/api/examples/" + file + ".json");
    REQUIRE(stream.good());
    const std::string problem = test::misfit(json::parse(stream), schema);
    INFO(file << ": " << problem);
    CHECK(problem.empty());
  }
}

TEST_CASE("the check of schemas finds what does not fit") {
  const json good = {{"code", "AtMax"}, {"numbers", {{"size", 4}}}, {"text", "keeps 4"}};
  CHECK(test::misfit(good, "Reason").empty());
  for (const char* broken :
       {R"({"code":"AtMax","numbers":{}})", R"({"code":"Nope","numbers":{},"text":""})",
        R"({"code":"AtMax","numbers":{"a":"b"},"text":""})", R"({"code":"AtMax","numbers":{},"text":"","more":1})"}) {
    CHECK(!test::misfit(json::parse(broken), "Reason").empty());
  }
}

}  // namespace
}  // namespace tidepool::live::http
