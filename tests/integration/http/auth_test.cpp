#include <map>
#include <sstream>

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <catch2/catch.hpp>

#include "schedulerd/live/http/route_table.hpp"
#include "tests/support/rest_fixture.hpp"

namespace tidepool::test {
namespace {

using live::http::Access;
using nlohmann::json;

// A path of the route with ids that exist: job-1 and node-1 and dec-1 are there in every test below.
Ask ask_for(const live::http::Route& route, const std::string& token) {
  std::string path(route.path);
  const auto at = path.find("{id}");
  if (at != std::string::npos) {
    const bool job = path.starts_with("/v1/jobs");
    path.replace(at, 4,
                 job                             ? "job-1"
                 : path.starts_with("/v1/nodes") ? "node-1"
                 : path.starts_with("/v1/dec")   ? "dec-1"
                                                 : "t1");
  }
  Ask ask{.method = std::string(route.method), .path = path, .token = token, .body = "", .headers = ""};
  if (path.ends_with("/resize")) ask.body = R"({"size":1})";
  if (path == "/v1/jobs" && ask.method == "POST") ask.body = R"({"run":{"trainer":"mlp","args":{"data":"x.csv"}}})";
  if (path == "/v1/jobs:batch") ask.body = R"({"jobs":[{"run":{"trainer":"mlp","args":{"data":"x.csv"}}}]})";
  if (path == "/v1/tokens" && ask.method == "POST") ask.body = R"({"name":"x","role":"viewer"})";
  return ask;
}

bool is_stream(const live::http::Route& route) {
  return route.path == "/v1/events/stream";
}

struct AuthScene {
  std::int64_t now = 1'000;
  RestFixture fixture;
  explicit AuthScene()
      : fixture([this] {
          auto options = test_options();
          options.unix_now = [this] { return now; };
          return options;
        }()) {
    fixture.service.join_node(4);
    const JobId job = fixture.submit("blue");
    fixture.service.write_log(WorkerId(1), "hello\n", true);
    fixture.service.run_steps(job, 2);
  }
};

TEST_CASE("a request that may change something leaves a line with its token and what came of it, and no secret") {
  const auto logged = spdlog::default_logger();
  std::ostringstream log;
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log)));
  std::string admin;
  std::string made;
  {
    AuthScene scene;
    admin = scene.fixture.admin;
    const auto body = R"({"name":"x","role":"viewer"})";
    made =
        scene.fixture.json_of({.method = "POST", .path = "/v1/tokens", .token = admin, .body = body}, 201).at("token");
    scene.fixture.json_of({.method = "DELETE", .path = "/v1/tokens/nobody", .token = admin}, 404);
    scene.fixture.json_of({.path = "/v1/jobs", .token = admin});
  }
  spdlog::set_default_logger(logged);
  const std::string text = log.str();
  const std::string id = admin.substr(3, admin.rfind('_') - 3);
  const std::string made_id = made.substr(3, made.rfind('_') - 3);
  CHECK_THAT(text, Catch::Contains("method=POST path=\"/v1/tokens\" token=" + id));
  CHECK_THAT(text, Catch::Contains("status=201 id=\"" + made_id + "\""));
  CHECK_THAT(text, Catch::Contains("method=DELETE path=\"/v1/tokens/nobody\""));
  CHECK_THAT(text, Catch::Contains("status=404"));
  CHECK(text.find("method=GET") == std::string::npos);
  CHECK(text.find(made) == std::string::npos);
}

TEST_CASE("every route but the public ones needs a good token") {
  AuthScene scene;
  auto& fixture = scene.fixture;
  const std::string expired = fixture.service.add_token("admin", "", 999);
  const std::string revoked = fixture.service.add_token("admin");
  const std::string revoked_id = revoked.substr(3, revoked.rfind('_') - 3);
  fixture.json_of({.method = "DELETE", .path = "/v1/tokens/" + revoked_id, .token = fixture.admin});
  const std::string wrong_secret =
      fixture.admin.substr(0, fixture.admin.size() - 1) + (fixture.admin.back() == '0' ? '1' : '0');
  for (const auto& route : live::http::routes()) {
    if (route.access == Access::kPublic) {
      CHECK(fixture.call(ask_for(route, "")).status == 200);
      continue;
    }
    for (const std::string& token : {std::string(), std::string("tp_"), std::string("tp_t1_"), std::string("nonsense"),
                                     std::string("tp_nobody_0123"), expired, revoked, wrong_secret}) {
      auto response = fixture.call(ask_for(route, token));
      INFO(route.method << " " << route.path << " with " << token);
      CHECK(response.status == 401);
      CHECK(response.headers["www-authenticate"].starts_with("Bearer"));
      CHECK(json::parse(response.body).at("code") == "Unauthenticated");
    }
  }
  CHECK(fixture.service.commands_carried_out() == 2);  // the submission and the revocation above
}

TEST_CASE("a role may do what it is for and no more") {
  AuthScene scene;
  auto& fixture = scene.fixture;
  const std::string viewer = fixture.service.add_token("viewer");
  const std::string submitter = fixture.service.add_token("submitter");
  for (const auto& route : live::http::routes()) {
    if (route.access == Access::kPublic || is_stream(route)) continue;
    INFO(route.method << " " << route.path);
    const int as_viewer = fixture.call(ask_for(route, viewer)).status;
    CHECK((as_viewer == 403) == (route.access != Access::kViewer));
    const int as_submitter = fixture.call(ask_for(route, submitter)).status;
    CHECK((as_submitter == 403) == (route.access == Access::kAdmin));
  }
}

TEST_CASE("each token is told its own role and tenant") {
  AuthScene scene;
  auto& fixture = scene.fixture;
  const json red = fixture.json_of({.path = "/v1/whoami", .token = fixture.service.add_token("viewer", "red", 2'000)});
  CHECK(red.at("role") == "viewer");
  CHECK(red.at("tenant") == "red");
  CHECK(red.at("state") == "valid");
  CHECK(!red.at("expires_at").is_null());
  CHECK(!red.contains("token"));
  const json all = fixture.json_of({.path = "/v1/whoami", .token = fixture.admin});
  CHECK(all.at("role") == "admin");
  CHECK(all.at("tenant").is_null());
  CHECK(all.at("id") != red.at("id"));
}

TEST_CASE("resources of another tenant are answered like resources that do not exist") {
  AuthScene scene;
  auto& fixture = scene.fixture;
  const std::string red = fixture.service.add_token("admin", "red");
  for (const auto& route : live::http::routes()) {
    const bool of_job = route.path.starts_with("/v1/jobs/{id}");
    if (!of_job) continue;
    Ask foreign = ask_for(route, red);
    Ask unknown = foreign;
    unknown.path.replace(unknown.path.find("job-1"), 5, "job-9");
    const auto of_foreign = fixture.call(foreign);
    const auto of_unknown = fixture.call(unknown);
    INFO(route.method << " " << route.path);
    CHECK(of_foreign.status == 404);
    CHECK(of_unknown.status == 404);
    json a = json::parse(of_foreign.body);
    json b = json::parse(of_unknown.body);
    for (json* problem : {&a, &b}) {
      problem->erase("request_id");
      problem->erase("instance");
      problem->erase("detail");  // names the id that was asked for
    }
    CHECK(a == b);
  }
  CHECK(fixture.json_of({.path = "/v1/jobs", .token = red}).at("items").empty());
  CHECK(fixture.json_of({.path = "/v1/decisions", .token = red}).at("items").empty());
  CHECK(fixture.call({.path = "/v1/decisions/dec-1", .token = red}).status == 404);
  CHECK(fixture.call({.path = "/v1/events?job=job-1", .token = red}).status == 404);
  const json events = fixture.json_of({.path = "/v1/events", .token = red});
  for (const auto& event : events.at("items")) CHECK(event.at("type").get<std::string>().starts_with("node."));
  const json node = fixture.json_of({.path = "/v1/nodes", .token = red}).at("items").at(0);
  CHECK(node.at("slots").at(0).at("busy") == true);
  CHECK(node.at("slots").at(0).at("job").is_null());
  const json tokens = fixture.json_of({.path = "/v1/tokens", .token = red});
  CHECK(tokens.at("items").size() == 1);
}

TEST_CASE("a token of one tenant is refused what concerns the whole cluster") {
  AuthScene scene;
  const std::string red = scene.fixture.service.add_token("admin", "red");
  for (const auto& route : live::http::routes()) {
    if (!route.whole_cluster) continue;
    INFO(route.path);
    CHECK(scene.fixture.call(ask_for(route, red)).status == 403);
  }
}

TEST_CASE("a tenant's token submits for its own tenant, and only for it") {
  AuthScene scene;
  auto& fixture = scene.fixture;
  const std::string red = fixture.service.add_token("submitter", "red");
  const Ask without{.method = "POST",
                    .path = "/v1/jobs",
                    .token = red,
                    .body = R"({"run":{"trainer":"mlp","args":{"data":"x.csv"}}})"};
  CHECK(fixture.json_of(without, 201).at("tenant") == "red");
  const Ask foreign{.method = "POST",
                    .path = "/v1/jobs",
                    .token = red,
                    .body = R"({"tenant":"blue","run":{"trainer":"mlp","args":{"data":"x.csv"}}})"};
  CHECK(fixture.call(foreign).status == 403);
}

TEST_CASE("a tenant's token sees the teams below it, and no neighbour with a similar name") {
  AuthScene scene;
  auto& fixture = scene.fixture;
  fixture.submit("red");
  fixture.submit("red/vision");
  fixture.submit("redder");
  const std::string red = fixture.service.add_token("viewer", "red");
  const json jobs = fixture.json_of({.path = "/v1/jobs", .token = red}).at("items");
  REQUIRE(jobs.size() == 2);
  CHECK(jobs.at(0).at("tenant") == "red/vision");
  CHECK(jobs.at(1).at("tenant") == "red");
}

TEST_CASE("a token that is made works, is shown once, expires and can be revoked") {
  AuthScene scene;
  auto& fixture = scene.fixture;
  const Ask make{.method = "POST",
                 .path = "/v1/tokens",
                 .token = fixture.admin,
                 .body = R"({"name":"ci","role":"viewer","lifetime":"30d"})",
                 .headers = "Idempotency-Key: k\r\n"};
  const json made = fixture.json_of(make, 201);
  const std::string token = made.at("token");
  CHECK(fixture.call({.path = "/v1/jobs", .token = token}).status == 200);
  CHECK(fixture.json_of(make, 201).at("token").is_null());  // the repetition cannot know the secret
  const json listed = fixture.json_of({.path = "/v1/tokens", .token = fixture.admin});
  for (const auto& item : listed.at("items")) CHECK(!item.contains("token"));
  const std::string id = made.at("id");
  const json by_name = fixture.json_of({.method = "DELETE", .path = "/v1/tokens/ci", .token = fixture.admin}, 404);
  CHECK(by_name.at("detail") == "there is no token with the id ci");
  const json revoked = fixture.json_of({.method = "DELETE", .path = "/v1/tokens/" + id, .token = fixture.admin});
  CHECK(revoked.at("revoked") == true);
  CHECK(fixture.call({.path = "/v1/jobs", .token = token}).status == 401);

  const std::string ending = fixture.service.add_token("viewer", "", 2'000);
  CHECK(fixture.call({.path = "/v1/jobs", .token = ending}).status == 200);
  scene.now = 2'000;
  CHECK(fixture.call({.path = "/v1/jobs", .token = ending}).status == 401);
  std::map<std::string, int> states;
  const json all = fixture.json_of({.path = "/v1/tokens", .token = fixture.admin});
  for (const auto& item : all.at("items")) ++states[item.at("state")];
  CHECK(states.at("expired") == 1);
  CHECK(states.at("revoked") == 1);
}

TEST_CASE("an empty tenant makes no token of all tenants") {
  RestFixture fixture;
  const auto made_by = [&](const std::string& token, const char* tenant, int status) {
    const std::string body = std::string(R"({"name":"ci","role":"submitter")") + tenant + "}";
    return fixture.json_of({.method = "POST", .path = "/v1/tokens", .token = token, .body = body}, status);
  };
  for (const auto& [token, left_out] : {std::pair{fixture.admin, "a token of all tenants"},
                                        std::pair{fixture.service.add_token("admin", "lab"), "lab"}}) {
    const json refused = made_by(token, R"(,"tenant":"")", 422);
    REQUIRE(refused.at("errors").size() == 1);
    CHECK(refused.at("errors").at(0).at("pointer") == "/tenant");
    CHECK(refused.at("errors").at(0).at("message") ==
          std::string("tenant is empty; name a tenant, or leave the field out for ") + left_out);
  }
  CHECK(made_by(fixture.admin, "", 201).at("tenant").is_null());
  CHECK(made_by(fixture.admin, R"(,"tenant":null)", 201).at("tenant").is_null());
}

TEST_CASE("the last valid token of an admin of the whole pool cannot be revoked") {
  AuthScene scene;
  auto& fixture = scene.fixture;
  const auto revoke = [&](const std::string& token) {
    return fixture.call(
        {.method = "DELETE", .path = "/v1/tokens/" + token.substr(3, token.rfind('_') - 3), .token = fixture.admin});
  };
  fixture.service.add_token("admin", "red");
  fixture.service.add_token("submitter");
  const std::string other = fixture.service.add_token("admin");
  CHECK(revoke(other).status == 200);
  fixture.service.add_token("admin", "", 2'000);
  scene.now = 2'000;  // when it has expired
  const auto refused = revoke(fixture.admin);
  CHECK(refused.status == 409);
  CHECK(json::parse(refused.body).at("code") == "LastAdmin");
  CHECK(fixture.call({.path = "/v1/jobs", .token = fixture.admin}).status == 200);
  fixture.service.add_token("admin");
  CHECK(revoke(fixture.admin).status == 200);
}

TEST_CASE("a key that was used before is told as such, also where the last admin's token was to be revoked with it") {
  AuthScene scene;
  auto& fixture = scene.fixture;
  const auto revoke = [&](const std::string& token) {
    return fixture.call({.method = "DELETE",
                         .path = "/v1/tokens/" + token.substr(3, token.rfind('_') - 3),
                         .token = fixture.admin,
                         .headers = "Idempotency-Key: k\r\n"});
  };
  CHECK(revoke(fixture.service.add_token("submitter")).status == 200);
  const auto refused = revoke(fixture.admin);
  CHECK(refused.status == 409);
  CHECK(json::parse(refused.body).at("code") == "Conflict");
}

TEST_CASE("no token outlives the one that it was made with") {
  AuthScene scene;
  auto& fixture = scene.fixture;
  scene.now = 1'000;
  const std::string ending = fixture.service.add_token("admin", "", 1'600);
  const auto make = [&](const char* body) {
    return fixture.call({.method = "POST", .path = "/v1/tokens", .token = ending, .body = body});
  };
  const auto refused = make(R"({"name":"x","role":"admin","lifetime":"30d"})");
  CHECK(refused.status == 422);
  CHECK(refused.body.find("must be at most 10m, as your own token expires then") != std::string::npos);
  for (const char* body : {R"({"name":"x","role":"viewer"})", R"({"name":"x","role":"viewer","lifetime":"10m"})"}) {
    const auto made = make(body);
    REQUIRE(made.status == 201);
    const std::string token = json::parse(made.body).at("token");
    CHECK(fixture.call({.path = "/v1/jobs", .token = token}).status == 200);
    CHECK(json::parse(made.body).at("expires_at") == "2026-11-20T22:03:24Z");  // ten minutes after it was made
  }
}

TEST_CASE("no token grants more than it has itself, and a bad description is explained") {
  AuthScene scene;
  auto& fixture = scene.fixture;
  const std::string red = fixture.service.add_token("admin", "red");
  const auto make = [&](const std::string& token, const char* body) {
    return fixture.call({.method = "POST", .path = "/v1/tokens", .token = token, .body = body});
  };
  CHECK(make(red, R"({"name":"x","role":"admin","tenant":"blue"})").status == 422);
  CHECK(make(red, R"({"name":"x","role":"admin","tenant":""})").status == 422);
  CHECK(json::parse(make(red, R"({"name":"x","role":"admin"})").body).at("tenant") == "red");
  for (const char* lifetime : {"0s", "999ms", ""}) {
    CHECK(make(fixture.admin, json{{"name", "x"}, {"role", "viewer"}, {"lifetime", lifetime}}.dump().c_str()).status ==
          422);
  }
  CHECK(make(fixture.admin, R"({"name":"","role":"viewer"})").status == 422);
  const json problem = json::parse(make(fixture.admin, R"({"role":"root","lifetime":"long","more":1})").body);
  CHECK(problem.at("errors").size() == 4);  // name is missing, role and lifetime are wrong, more is unknown
}

}  // namespace
}  // namespace tidepool::test
