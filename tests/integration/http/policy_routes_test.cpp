// Policy files over HTTP with a real sandboxed host behind. Every answer is held against api/openapi.yaml by call().
#include <catch2/catch.hpp>

#include "schedulerd/live/service/tenant_sharing.hpp"
#include "tests/support/rest_fixture.hpp"

namespace tidepool::test {
namespace {

using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using nlohmann::json;

constexpr const char* kCapped = R"(
local P = {}
function P.size(view, params)
  local sizes = {}
  for i = 1, view.n do sizes[i] = math.min(view.size_wanted[i], params.most) end
  return sizes
end
return P
)";

json upload(int most = 2) {
  return {{"manifest", {{"name", "capped"}, {"about", "a cap"}, {"params", {{"most", {{"default", most}}}}}}},
          {"source", kCapped},
          {"tests",
           {{"basic.yaml", json::array({{{"name", "cut"},
                                         {"cluster", {{"nodes", 1}, {"slots_per_node", 8}}},
                                         {"jobs", json::array({{{"name", "large"}, {"wanted", 8}}})},
                                         {"expect", {{"sizes", {{"large", 2}}}}}}})}}}};
}

struct Policies {
  RestFixture fixture;
  json post(const std::string& path, const json& body, int status = 200) {
    return fixture.json_of({.method = "POST", .path = path, .token = fixture.admin, .body = body.dump()}, status);
  }
  json get(const std::string& path, int status = 200) {
    return fixture.json_of({.path = path, .token = fixture.admin}, status);
  }
};

TEST_CASE("a version is stored once under its hash, looked over, tested, shadowed, activated and rolled back") {
  Policies api;
  const json stored = api.post("/v1/policies/capped/versions", upload(), 201);
  CHECK(api.post("/v1/policies/capped/versions", upload(), 201).at("version") == stored.at("version"));
  const std::string version = stored.at("version");
  CHECK(api.get("/v1/policies/capped/versions").at("items").size() == 1);
  CHECK(api.get("/v1/policies/capped").at("source") == kCapped);

  CHECK(api.post("/v1/policies/capped/validate", {{"version", version.substr(0, 6)}}).at("hooks") == json{"size"});
  const json tested = api.post("/v1/policies/capped/test", json::object());
  CHECK(tested.at("failed") == 0);
  CHECK(tested.at("tests").size() == 1);
  CHECK(api.get("/v1/policies/capped/versions").at("items")[0].at("checks").at("tests") == 1);

  CHECK(api.post("/v1/policies/capped/shadow", json::object()).at("shadow").at("name") == "capped");
  CHECK(api.get("/v1/policies/capped/shadow-report").at("rounds") == 0);
  CHECK(api.get("/v1/policies/capped/shadow-report").at("pools") == json::array());
  CHECK(api.post("/v1/policies/capped/shadow", {{"stop", true}}).at("shadow").is_null());
  CHECK(api.get("/v1/policies/capped/shadow-report", 404).at("code") == "NotShadowed");

  const json deployment = api.post("/v1/policies/capped/activate", {{"params", {{"most", 3}}}});
  CHECK(deployment.at("active").at("params") == json{{"most", 3}});
  bool shown = false;
  const json listed = api.get("/v1/policies");
  for (const json& policy : listed.at("items")) {
    if (policy.at("active") == true) {
      CHECK_FALSE(shown);
      shown = policy.at("name") == "capped" && policy.at("kind") == "file";
    }
  }
  CHECK(shown);
  CHECK(api.post("/v1/policies/capped/activate", {{"params", {{"most", 3}}}}, 409).at("code") == "Conflict");
  CHECK(api.post("/v1/policies/capped/rollback", json::object()).at("active").is_null());
  CHECK(api.post("/v1/policies/capped/rollback", json::object(), 409).at("code") == "Conflict");
  CHECK(api.get("/v1/policies/status").at("active").is_null());
}

TEST_CASE("activating, or rolling back to, a policy without the hook share tells whose guarantees do not hold") {
  Policies api{.fixture = RestFixture(test_options(), "tidal")};
  const json tree = json::parse(R"({"tenants": [
    {"name": "lab", "guarantee": 3, "tenants": [{"name": "vision", "guarantee": 2}]}, {"name": "guests"}]})");
  api.post("/v1/policies/capped/versions", upload(), 201);
  CHECK(api.post("/v1/policies/capped/activate", json::object()).at("warnings").empty());  // there are no tenants
  CHECK(api.post("/v1/policies/capped/rollback", json::object()).at("warnings").empty());
  const Ask put{.method = "PUT", .path = "/v1/tenants", .token = api.fixture.admin, .body = tree.dump()};
  (void)api.fixture.json_of(put);

  const json told = api.post("/v1/policies/capped/activate", json::object()).at("warnings");
  REQUIRE(told.size() == 1);
  CHECK_THAT(told.at(0).get<std::string>(), StartsWith("the policy file capped has no hook share") &&
                                                EndsWith("that do not hold meanwhile: lab 3, vision 2"));
  CHECK(api.get("/v1/policies/status").at("warnings") == told);
  const json sharing = {{"manifest", {{"name", "sharing"}, {"api", 2}, {"hooks", json::array({"share"})}}},
                        {"source", "local P = {} function P.share(view) return {} end return P"}};
  api.post("/v1/policies/sharing/versions", sharing, 201);
  CHECK(api.post("/v1/policies/sharing/activate", json::object()).at("warnings") ==
        json::array({"sharing decides and has no tests: write some to tests/*.yaml beside it (docs/policies.md)"}));
  CHECK(api.post("/v1/policies/sharing/rollback", json::object()).at("warnings") == told);
  CHECK(api.post("/v1/policies/capped/rollback", json::object()).at("warnings").empty());
}

TEST_CASE("a tree without guarantees loses none, and the first of many are named") {
  CHECK(live::unheld_guarantees({.tenants = {{.name = "guests"}}}).empty());
  core::TenantTree tree;
  for (int i = 0; i < 11; ++i) tree.tenants.push_back({.name = "t" + std::to_string(i), .guarantee = i});
  CHECK(live::unheld_guarantees(tree) == "t1 1, t2 2, t3 3, t4 4, t5 5, t6 6, t7 7, t8 8 and 2 more");
}

TEST_CASE("what cannot be stored is refused with the field that must change") {
  Policies api;
  json wrong = upload();
  wrong["manifest"]["engine"] = "perl";
  wrong["tests"]["basic.yaml"][0]["expcet"] = json::object();
  const json problem = api.post("/v1/policies/capped/versions", wrong, 422);
  CHECK(problem.at("code") == "InvalidPolicy");
  std::string pointers;
  for (const json& error : problem.at("errors")) pointers += error.at("pointer").get<std::string>() + " ";
  CHECK(pointers.find("/manifest/engine") != std::string::npos);
  CHECK(pointers.find("/tests/basic.yaml/0/expcet") != std::string::npos);
  CHECK(api.post("/v1/policies/other/versions", upload(), 422).at("errors")[0].at("pointer") == "/manifest/name");
  json large = upload();
  large["source"] = std::string(300'000, '-');
  CHECK(api.post("/v1/policies/capped/versions", large, 422).at("errors")[0].at("pointer") == "/source");
  json many = upload();
  many["tests"]["basic.yaml"] = json::array();
  many["tests"]["more.yaml"] = json::array();
  for (int i = 0; i < 251; ++i) {
    for (json& list : many["tests"]) list.push_back({{"cluster", {{"nodes", 10'000}}}});
  }
  // Refused by their number, and not read.
  const json refused = api.post("/v1/policies/capped/versions", many, 422).at("errors");
  CHECK(refused ==
        json::array({{{"pointer", "/tests"}, {"code", "OutOfRange"}, {"message", "a version has at most 500 tests"}}}));
  CHECK(api.get("/v1/policies/capped/versions").at("items").empty());
}

TEST_CASE("a policy that fails its tests, or cannot be run, may not decide") {
  Policies api;
  api.post("/v1/policies/capped/versions", upload(5), 201);
  const json failed = api.post("/v1/policies/capped/activate", json::object(), 409);
  CHECK(failed.at("code") == "PolicyTestsFailed");
  CHECK(failed.at("errors").size() == 1);
  api.post("/v1/policies/broken/versions", {{"manifest", {{"name", "broken"}}}, {"source", "not Lua"}}, 201);
  const json problem = api.post("/v1/policies/broken/activate", json::object(), 409);
  CHECK(problem.at("code") == "PolicyDoesNotRun");
  CHECK(problem.at("detail").get<std::string>().find("policy.syntax_error") != std::string::npos);
  // Nor is it held against what was recorded, as if it had answers.
  CHECK(api.post("/v1/policies/broken/diff", json::object(), 409).at("code") == "PolicyDoesNotRun");
  CHECK(api.get("/v1/policies/status").at("active").is_null());
}

TEST_CASE("native policies are refused where the daemon does not allow them") {
  Policies api;
  const json body{{"manifest", {{"name", "fast"}, {"engine", "native"}}}, {"library", "f0VMRg=="}};
  const json problem = api.post("/v1/policies/fast/versions", body, 403);
  CHECK(problem.at("code") == "NativePoliciesOff");
  CHECK(problem.at("hint").get<std::string>().find("--allow-native-policies") != std::string::npos);
}

TEST_CASE("only an admin of the whole cluster stores, activates or rolls back; any reader may list") {
  Policies api;
  api.post("/v1/policies/capped/versions", upload(), 201);
  const std::string submitter = api.fixture.service.add_token("submitter");
  const std::string tenant = api.fixture.service.add_token("admin", "red");
  for (const char* path : {"versions", "validate", "test", "shadow", "diff", "activate", "rollback"}) {
    for (const std::string& token : {submitter, tenant}) {
      const json problem = api.fixture.json_of(
          {.method = "POST", .path = std::string("/v1/policies/capped/") + path, .token = token, .body = "{}"}, 403);
      CHECK(problem.at("code") == "Forbidden");
    }
  }
  const std::string viewer = api.fixture.service.add_token("viewer");
  CHECK(api.fixture.json_of({.path = "/v1/policies/capped/versions", .token = viewer}).at("items").size() == 1);
}

TEST_CASE("a policy that is not known, a version that is not, and a built-in one each say what to do") {
  Policies api;
  CHECK(api.get("/v1/policies/none", 404).at("detail") == "there is no policy file none; none is stored");
  api.post("/v1/policies/capped/versions", upload(), 201);
  const json none = api.post("/v1/policies/none/diff", json::object(), 404);
  CHECK(none.at("code") == "UnknownPolicyVersion");
  CHECK(none.at("detail") == "there is no policy file none; those that are stored: capped");
  const json builtin = api.post("/v1/policies/fifo/diff", json::object(), 404);
  CHECK(builtin.at("code") == "UnknownPolicyVersion");
  CHECK(builtin.at("detail") == "fifo is built in, and this takes policy files only; those that are stored: capped");
  CHECK_THAT(builtin.at("hint").get<std::string>(), EndsWith("schedctl sim compare --policies tidal,fifo"));
  CHECK(api.post("/v1/policies/capped/activate", {{"version", "abc"}}, 404).at("hint") ==
        "give at least the first 6 digits");
  const json unknown = api.post("/v1/policies/capped/activate", {{"version", "zzzzzz"}}, 404);
  CHECK(unknown.at("code") == "UnknownPolicyVersion");
  CHECK(unknown.at("hint") == "schedctl policy versions capped lists them");
  CHECK(api.post("/v1/policies/fixed/activate", json::object(), 409).at("code") == "BuiltInPolicy");
  CHECK(api.post("/v1/policies/autoscaling_engine/activate", {{"params", {{"most", 8}}}}, 422)
            .at("errors")[0]
            .at("pointer") == "/params");
  CHECK(api.post("/v1/policies/autoscaling_engine/activate", {{"version", "abcdef"}}, 422)
            .at("errors")[0]
            .at("pointer") == "/version");
  CHECK(api.post("/v1/policies/autoscaling_engine/activate", json::object(), 409).at("code") == "Conflict");
  const json misnamed = api.post("/v1/policies/capped/activate", {{"params", {{"mots", 1}}}}, 422);
  CHECK(misnamed.at("code") == "InvalidParameters");
  CHECK(misnamed.at("errors").at(0).at("pointer") == "/params");
  const json no_duration = api.post("/v1/policies/capped/diff", {{"since", "yesterday"}}, 422);
  CHECK(no_duration.at("code") == "InvalidRequest");
  CHECK(no_duration.at("errors").at(0).at("pointer") == "/since");
}

}  // namespace
}  // namespace tidepool::test
