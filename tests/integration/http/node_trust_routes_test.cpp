// Node tokens over HTTP, and the end of a node's certificate.
#include <catch2/catch.hpp>

#include "api/node_token.hpp"
#include "tests/support/rest_fixture.hpp"
#include "tests/support/schema_check.hpp"

namespace tidepool::test {
namespace {

using nlohmann::json;

live::http::RestOptions with_joining() {
  auto options = test_options();
  options.join_fingerprint = [] { return "sha256:" + std::string(64, 'a'); };
  options.agents_port = [] { return std::uint16_t{7'481}; };
  return options;
}

}  // namespace

TEST_CASE("a node token is shown once, carries the fingerprint, and is listed without its secret") {
  RestFixture fixture(with_joining());
  const auto make = [&](const char* body, const char* headers = "") {
    return fixture.call(
        {.method = "POST", .path = "/v1/node-tokens", .token = fixture.admin, .body = body, .headers = headers});
  };
  const char* wanted =
      R"({"ttl":"2h","uses":4,"labels":{"rack":"r1"},"name_prefix":"gpu-","price_per_slot_hour":"2.50"})";
  const json made = json::parse(make(wanted, "Idempotency-Key: k\r\n").body);
  CHECK(misfit(made, "NodeToken").empty());
  CHECK(made.at("agents_port") == 7'481);
  const auto text = api::read_node_token(made.at("token").get<std::string>());
  REQUIRE(text.ok());
  CHECK(made.at("id") == text->id);
  CHECK(text->ca_fingerprint == "sha256:" + std::string(64, 'a'));
  CHECK(json::parse(make(wanted, "Idempotency-Key: k\r\n").body).at("token").is_null());
  const json listed = fixture.json_of({.path = "/v1/node-tokens", .token = fixture.admin});
  CHECK(misfit(listed, "NodeTokenList").empty());
  REQUIRE(listed.at("items").size() == 1);
  CHECK(listed.dump().find(text->secret) == std::string::npos);
  CHECK(listed.at("items").at(0).at("state") == "valid");
  const std::string id = made.at("id");
  const json gone = fixture.json_of({.method = "DELETE", .path = "/v1/node-tokens/" + id, .token = fixture.admin});
  CHECK(gone.at("state") == "revoked");
  CHECK(fixture.call({.method = "DELETE", .path = "/v1/node-tokens/x", .token = fixture.admin}).status == 404);
  const auto wrong = make(
      R"({"ttl":"31d","uses":0,"labels":{"a b":"c"},"name_prefix":"rack/gpu","price_per_slot_hour":"much","more":1})");
  CHECK(wrong.status == 422);
  CHECK(json::parse(wrong.body).at("errors").size() == 6);
  // No job could ask for such a type.
  const auto steering = make(R"({"slot_type":"h100\n"})");
  CHECK(steering.status == 422);
  CHECK(json::parse(steering.body).at("errors").at(0).at("pointer") == "/slot_type");
  // GPUs under that name would be taken for CPU slots: workers there are given none.
  const auto hidden = make(R"({"slot_type":"cpu"})");
  CHECK(hidden.status == 422);
  const json finding = json::parse(hidden.body).at("errors").at(0);
  CHECK(finding.at("pointer") == "/slot_type");
  CHECK(finding.at("message").get<std::string>().find("leave it out") != std::string::npos);
}

TEST_CASE("node tokens are for admins of no tenant, and for daemons that machines can join") {
  RestFixture open(with_joining());
  for (const auto& [role, tenant] : {std::pair{"submitter", ""}, {"viewer", ""}, {"admin", "red"}}) {
    const std::string token = open.service.add_token(role, tenant);
    CHECK(open.call({.method = "POST", .path = "/v1/node-tokens", .token = token, .body = "{}"}).status == 403);
    CHECK(open.call({.path = "/v1/node-tokens", .token = token}).status == 403);
  }
  const RestFixture closed;
  const auto refused = closed.call({.method = "POST", .path = "/v1/node-tokens", .token = closed.admin, .body = "{}"});
  CHECK(refused.status == 409);
  CHECK(json::parse(refused.body).at("code") == "NoJoining");
  CHECK_THAT(json::parse(refused.body).at("hint").get<std::string>(), Catch::Contains("tls: {}"));
}

TEST_CASE("a node's certificate is shown with it and ends by its id or its name") {
  RestFixture fixture(with_joining());
  fixture.service.join_node(4);
  json node = fixture.json_of({.path = "/v1/nodes", .token = fixture.admin}).at("items").at(0);
  CHECK(misfit(node, "Node").empty());
  CHECK(node.at("access").at("by") == "shared_token");
  const std::string path = "/v1/nodes/" + node.at("id").get<std::string>() + "/revoke";
  const auto shared = fixture.call({.method = "POST", .path = path, .token = fixture.admin});
  CHECK(shared.status == 409);
  fixture.service.certify({.node = node.at("name").get<std::string>(), .key_sha256 = "k", .token_id = "t"});
  fixture.service.certify({.node = "never-seen", .key_sha256 = "k", .token_id = "t"});
  node = fixture.json_of({.path = "/v1/nodes", .token = fixture.admin}).at("items").at(0);
  CHECK(misfit(node, "Node").empty());
  CHECK(node.at("access").at("by") == "certificate");
  const json refused = fixture.json_of(
      {.method = "POST", .path = path, .token = fixture.admin, .body = R"({"reason":"\u001b[2J"})"}, 422);
  CHECK(refused.at("code") == "InvalidReason");
  CHECK(refused.at("errors").at(0).at("pointer") == "/reason");
  const json revoked =
      fixture.json_of({.method = "POST", .path = path, .token = fixture.admin, .body = R"({"reason":"stolen"})"});
  CHECK(misfit(revoked, "RevokedNode").empty());
  CHECK(revoked.at("access").at("reason") == "stolen");
  CHECK(fixture.json_of({.path = "/v1/nodes", .token = fixture.admin}).at("items").at(0).at("state") == "lost");
  const auto by_name = [&](const std::string& name) {
    return fixture.call({.method = "POST", .path = "/v1/nodes/" + name + "/revoke", .token = fixture.admin}).status;
  };
  CHECK(by_name("never-seen") == 200);
  CHECK(by_name("unknown") == 404);
}

}  // namespace tidepool::test
