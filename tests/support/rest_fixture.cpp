#include "tests/support/rest_fixture.hpp"

#include <catch2/catch.hpp>

#include "policies/registry.hpp"
#include "schedulerd/live/http/route_table.hpp"
#include "straggler/registry.hpp"
#include "tests/support/schema_check.hpp"

namespace tidepool::test {
namespace {

using nlohmann::json;

// The schema that the document gives for this answer; empty if its body is no JSON.
std::string schema_for(const Ask& ask, const RawResponse& response) {
  const auto type = response.headers.find("content-type");
  if (type == response.headers.end()) return {};
  if (type->second == "application/problem+json") return "Problem";
  const std::string path = ask.path.substr(0, ask.path.find('?'));
  const auto match = live::http::match_route(ask.method, path);
  if (match.route == nullptr) return {};
  std::string method(match.route->method);
  for (char& c : method) c = static_cast<char>(std::tolower(c));
  const json& answers = openapi().at("paths").at(std::string(match.route->path)).at(method).at("responses");
  INFO(ask.method << " " << ask.path << " answered " << response.status << " " << type->second);
  REQUIRE(answers.contains(std::to_string(response.status)));
  const json& content = answers.at(std::to_string(response.status)).at("content");
  const std::string media(type->second.substr(0, type->second.find(';')));
  REQUIRE(content.contains(media));
  const json& schema = content.at(media).at("schema");
  if (!schema.contains("$ref")) return {};
  const auto reference = schema.at("$ref").get<std::string>();
  return reference.substr(reference.rfind('/') + 1);
}

}  // namespace

live::http::RestOptions test_options() {
  live::http::RestOptions options;
  options.heartbeat = Duration::millis(50);
  options.log_poll = Duration::millis(10);
  for (const auto& detector : straggler::kDetectors) options.detectors.emplace_back(detector.name);
  for (const auto& policy : policies::known_policies()) {
    options.policies.push_back(
        {.name = policy.name, .summary = policy.summary, .source = policy.source, .scope = policy.scope});
  }
  return options;
}

RestFixture::RestFixture(live::http::RestOptions options, const std::string& policy)
    : service(policy), rest(live::http::Rest::create(service, std::move(options))) {
  auto started = rest->start();
  if (!started) FAIL(started.error().message);
  url = started.value();
  host = url.substr(url.find("//") + 2);
  port = std::stoi(host.substr(host.rfind(':') + 1));
}

RestFixture::~RestFixture() {
  rest->stop();
}

std::string RestFixture::request(const Ask& ask) const {
  std::string text = ask.method + " " + ask.path + " HTTP/1.1\r\nHost: " + host + "\r\n" + ask.headers;
  if (!ask.token.empty()) text += "Authorization: Bearer " + ask.token + "\r\n";
  if (!ask.body.empty()) {
    text += "Content-Type: application/json\r\nContent-Length: " + std::to_string(ask.body.size()) + "\r\n";
  }
  return text + "\r\n" + ask.body;
}

RawResponse RestFixture::call(const Ask& ask) const {
  RawConnection connection(port);
  connection.send(request(ask));
  RawResponse response = connection.response(ask.method == "HEAD");
  INFO(ask.method << " " << ask.path << " answered " << response.status << "\n" << response.body);
  REQUIRE(response.status != 0);
  CHECK(response.headers["x-request-id"].starts_with("req-"));
  const std::string schema = schema_for(ask, response);
  if (!schema.empty() && ask.method != "HEAD") CHECK(misfit(json::parse(response.body), schema).empty());
  if (!schema.empty() && ask.method != "HEAD") UNSCOPED_INFO(misfit(json::parse(response.body), schema));
  return response;
}

json RestFixture::json_of(const Ask& ask, int status) const {
  const RawResponse response = call(ask);
  INFO(ask.method << " " << ask.path << "\n" << response.body);
  REQUIRE(response.status == status);
  return json::parse(response.body);
}

JobId RestFixture::submit(const std::string& tenant, int max) const {
  const json spec = {{"tenant", tenant},
                     {"run", {{"trainer", "charlm"}, {"args", {{"data", "x"}, {"steps", 400}}}}},
                     {"elastic", {{"min", 1}, {"max", max}}}};
  const json job = json_of({.method = "POST", .path = "/v1/jobs", .token = admin, .body = spec.dump()}, 201);
  return JobId::parse(job.at("id").get<std::string>()).value();
}

}  // namespace tidepool::test
