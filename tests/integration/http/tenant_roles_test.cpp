// Roles by subtree: what tokens of an inner tenant see and may do, and that nothing beside their subtree is theirs.
#include <catch2/catch.hpp>

#include <set>
#include <vector>

#include "schedulerd/live/http/route_table.hpp"
#include "tests/support/rest_fixture.hpp"

namespace tidepool::test {
namespace {

using Catch::Matchers::Contains;
using live::http::Access;
using live::http::Route;
using nlohmann::json;

// lab has vision, with faces in it, and speech; guests stands beside it. One job each of faces, speech and guests.
struct RolesScene {
  RestFixture fixture{test_options(), "tidal"};
  JobId faces, speech, guests;

  RolesScene() {
    const json tree = json::parse(R"({"tenants": [
      {"name": "lab", "guarantee": 4, "priority_max": 10, "tenants": [
        {"name": "vision", "guarantee": 2, "tenants": [{"name": "faces", "guarantee": 1}]},
        {"name": "speech", "guarantee": 1}]},
      {"name": "guests"}]})");
    (void)fixture.json_of({.method = "PUT", .path = "/v1/tenants", .token = fixture.admin, .body = tree.dump()});
    fixture.service.join_node(8);
    faces = fixture.submit("faces", 2);
    speech = fixture.submit("speech", 2);
    guests = fixture.submit("guests", 2);
    for (const JobId job : {faces, speech, guests}) fixture.service.run_steps(job, 2);
    fixture.service.write_log(WorkerId(1), "hello\n", true);
  }

  [[nodiscard]] std::string token(const std::string& role, const std::string& tenant) {
    return fixture.service.add_token(role, tenant);
  }
  [[nodiscard]] std::set<std::string> jobs_of(const std::string& token) const {
    std::set<std::string> ids;
    const json list = fixture.json_of({.path = "/v1/jobs", .token = token});
    for (const auto& job : list.at("items")) ids.insert(job.at("id").get<std::string>());
    return ids;
  }
  [[nodiscard]] json put_below(const std::string& token, const std::string& above, const json& below, int status = 200,
                               const std::string& query = "") const {
    return fixture.json_of({.method = "PUT",
                            .path = "/v1/tenants/" + above + "/tenants" + query,
                            .token = token,
                            .body = json{{"tenants", below}}.dump()},
                           status);
  }
};

std::set<std::string> job_ids(std::initializer_list<JobId> jobs) {
  std::set<std::string> texts;
  for (const JobId job : jobs) texts.insert(job.text());
  return texts;
}

Ask role_ask(const Route& route, const std::string& token, const std::string& id) {
  Ask ask{
      .method = std::string(route.method), .path = std::string(route.path), .token = token, .body = "", .headers = ""};
  if (const auto at = ask.path.find("{id}"); at != std::string::npos) ask.path.replace(at, 4, id);
  if (ask.method == "PATCH") ask.body = R"({"priority": 3})";
  if (ask.path.ends_with("/resize")) ask.body = R"({"size": 1})";
  return ask;
}

}  // namespace

TEST_CASE("a token of an inner tenant sees the jobs of its whole subtree, those that have ended too, and no others") {
  RolesScene scene;
  CHECK(scene.jobs_of(scene.token("viewer", "lab")) == job_ids({scene.faces, scene.speech}));
  CHECK(scene.jobs_of(scene.token("viewer", "vision")) == job_ids({scene.faces}));
  CHECK(scene.jobs_of(scene.token("viewer", "guests")) == job_ids({scene.guests}));
  const std::string lab = scene.token("viewer", "lab");
  const json events = scene.fixture.json_of({.path = "/v1/events?limit=1000", .token = lab}).at("items");
  std::set<std::string> tenants;
  for (const auto& event : events) {
    if (event.at("tenant").is_string()) tenants.insert(event.at("tenant").get<std::string>());
  }
  CHECK(tenants == std::set<std::string>{"faces", "speech"});
  const Ask usage{.path = "/v1/usage?by=tenant", .token = lab};
  const json used = scene.fixture.json_of(usage);
  for (const auto& row : used.at("rows")) CHECK(row.at("by").at("tenant") != "guests");
  CHECK(used.at("rows").size() == 2);
  for (const std::string& token : {lab, scene.token("admin", "lab"), scene.token("submitter", "")}) {
    CHECK(scene.fixture.json_of({.path = usage.path, .token = token}).at("pool") == nullptr);
  }
  const json why = scene.fixture.json_of({.path = "/v1/jobs/" + scene.speech.text() + "/explain", .token = lab});
  CHECK(why.dump().find(scene.guests.text() + "\"") == std::string::npos);
  // A job that has ended stays its tenant's.
  for (const JobId job : {scene.faces, scene.guests}) {
    (void)scene.fixture.json_of({.method = "DELETE", .path = "/v1/jobs/" + job.text(), .token = scene.fixture.admin});
  }
  CHECK(scene.jobs_of(lab) == job_ids({scene.faces, scene.speech}));
  // No token sees a subtree that the newest tree does not have.
  const json flat = json::parse(R"({"tenants": [{"name": "lab"}, {"name": "vision", "tenants": [{"name": "faces"}]},
                                                 {"name": "speech"}, {"name": "guests"}]})");
  (void)scene.fixture.json_of(
      {.method = "PUT", .path = "/v1/tenants", .token = scene.fixture.admin, .body = flat.dump()});
  CHECK(scene.jobs_of(lab).empty());
  CHECK(scene.jobs_of(scene.token("viewer", "vision")) == job_ids({scene.faces}));
}

TEST_CASE("each role of a subtree may do what it is for to each of its jobs, and to no other job") {
  RolesScene scene;
  const std::vector<std::pair<std::string, Access>> roles = {
      {"viewer", Access::kViewer}, {"submitter", Access::kSubmitter}, {"admin", Access::kAdmin}};
  for (const auto& [role, access] : roles) {
    const std::string token = scene.token(role, "lab");
    for (const Route& route : live::http::routes()) {
      if (route.access == Access::kPublic || route.path == "/v1/events/stream") continue;
      INFO(role << ": " << route.method << " " << route.path);
      const bool of_job = route.path.starts_with("/v1/jobs/{id}");
      const bool ends = route.method == "DELETE";
      const bool too_high = route.access > access;
      const int foreign = scene.fixture.call(role_ask(route, token, of_job ? scene.guests.text() : "guests")).status;
      CHECK((foreign == 403) == (too_high || route.whole_cluster));
      if (!of_job) continue;
      if (!too_high) CHECK(foreign == 404);
      if (ends) continue;
      const int own = scene.fixture.call(role_ask(route, token, scene.faces.text())).status;
      CHECK((own == 403) == too_high);
      CHECK(own != 404);
    }
  }
  CHECK(scene.fixture.service.published()->state.find_job(scene.guests)->requests.pinned_size == 0);
}

TEST_CASE("a submitter of an inner tenant submits for the tenants below it") {
  RolesScene scene;
  const std::string lab = scene.token("submitter", "lab");
  const auto submit = [&](const char* tenant) {
    const json job = {{"tenant", tenant}, {"run", {{"trainer", "mlp"}, {"args", {{"data", "x.csv"}}}}}};
    return scene.fixture.call({.method = "POST", .path = "/v1/jobs", .token = lab, .body = job.dump()}).status;
  };
  CHECK(submit("faces") == 201);
  CHECK(submit("guests") == 403);
  CHECK(submit("lab") == 422);
}

TEST_CASE("an admin of a tenant makes and revokes tokens of its subtree, and of no other tenant") {
  RolesScene scene;
  const std::string lab = scene.token("admin", "lab");
  const auto make = [&](const std::string& token, const char* role, const char* tenant) {
    const json body = {{"name", "x"}, {"role", role}, {"tenant", tenant}};
    return scene.fixture.call({.method = "POST", .path = "/v1/tokens", .token = token, .body = body.dump()});
  };
  const auto made = make(lab, "admin", "faces");
  REQUIRE(made.status == 201);
  CHECK(make(lab, "viewer", "guests").status == 422);
  CHECK(make(lab, "viewer", "").status == 422);
  CHECK(make(scene.token("submitter", "lab"), "viewer", "faces").status == 403);
  const std::string faces = json::parse(made.body).at("token");
  CHECK(make(faces, "viewer", "lab").status == 422);  // not above its own
  CHECK(make(faces, "viewer", "faces").status == 201);
  const auto revoke = [&](const std::string& by, const std::string& token) {
    const std::string id = token.substr(3, token.rfind('_') - 3);
    return scene.fixture.call({.method = "DELETE", .path = "/v1/tokens/" + id, .token = by}).status;
  };
  CHECK(revoke(faces, lab) == 404);
  CHECK(revoke(lab, scene.token("viewer", "guests")) == 404);
  CHECK(revoke(lab, faces) == 200);
  CHECK(scene.fixture.call({.path = "/v1/jobs", .token = faces}).status == 401);
}

TEST_CASE("an admin of a tenant sets the tree below it with a dry run and a condition, and nothing else") {
  RolesScene scene;
  const std::string lab = scene.token("admin", "lab");
  const json below = json::parse(R"([{"name": "vision", "guarantee": 1, "tenants": [{"name": "faces", "guarantee": 1}]},
                                     {"name": "speech", "guarantee": 3, "priority_max": 9}, {"name": "new"}])");
  const json planned = scene.put_below(lab, "lab", below, 200, "?dry_run=true");
  CHECK(planned.at("refused").is_null());
  REQUIRE(planned.at("changes").size() == 3);
  CHECK(planned.at("changes").at(1).at("fields").at("guarantee") == json::parse(R"({"from": 1, "to": 3})"));
  CHECK(planned.at("changes").at(2).at("change") == "added");
  Ask guarded{.method = "PUT",
              .path = "/v1/tenants/lab/tenants",
              .token = lab,
              .body = json{{"tenants", below}}.dump(),
              .headers = "If-Match: " + planned.at("etag").get<std::string>() + "\r\n"};
  (void)scene.fixture.json_of(guarded);
  CHECK(scene.fixture.json_of(guarded, 412).at("code") == "Changed");
  const json tree = scene.fixture.json_of({.path = "/v1/tenants", .token = scene.fixture.admin}).at("tenants");
  REQUIRE(tree.size() == 6);
  CHECK(tree.at(0).at("guarantee") == 4);
  CHECK(tree.at(3).at("priority_max") == 9);
  CHECK(tree.at(4).at("parent") == "lab");
  CHECK(tree.at(5).at("name") == "guests");
  // Looser than its own, more than its own, another's, its own row, or a role too low.
  const json loose =
      json::parse(R"([{"name": "vision", "tenants": [{"name": "faces"}]}, {"name": "speech", "priority_max": 11}])");
  CHECK_THAT(scene.put_below(lab, "lab", loose, 200, "?dry_run=true").at("refused").get<std::string>(),
             Contains("looser than the 10 of tenant \"lab\""));
  CHECK(scene.put_below(lab, "lab", loose, 422).at("code") == "InvalidArgument");
  const json greedy =
      json::parse(R"([{"name": "vision", "tenants": [{"name": "faces"}]}, {"name": "speech", "guarantee": 5}])");
  CHECK_THAT(scene.put_below(lab, "lab", greedy, 422).at("detail").get<std::string>(), Contains("guaranteed 5 slots"));
  CHECK_THAT(scene.put_below(lab, "lab", json::array(), 409).at("detail").get<std::string>(), Contains("has jobs"));
  CHECK(scene.put_below(lab, "guests", json::array(), 404).at("code") == "UnknownTenant");
  CHECK(scene.put_below(scene.token("submitter", "lab"), "lab", below, 403).at("code") == "Forbidden");
  const Ask whole{.method = "PUT", .path = "/v1/tenants", .token = lab, .body = R"({"tenants": []})"};
  CHECK_THAT(scene.fixture.json_of(whole, 403).at("hint").get<std::string>(),
             Contains("schedctl tenants apply FILE --below TENANT (PUT /v1/tenants/TENANT/tenants)"));
  // What is left of a tenant that was elsewhere does not become the lab's by its name.
  (void)scene.token("viewer", "gone");
  json named = below;
  named.push_back({{"name", "gone"}});
  CHECK_THAT(scene.put_below(lab, "lab", named, 409).at("detail").get<std::string>(), Contains("tenant gone"));
  CHECK_THAT(scene.put_below(lab, "lab", named, 200, "?dry_run=true").at("refused").get<std::string>(),
             Contains("take another name"));
  // An operator is bound by no tenant's limits, and by the tree's own rules alone.
  CHECK(scene.put_below(scene.fixture.admin, "lab", loose).at("changes").size() >= 1);
  const json wrong = scene.put_below(lab, "vision", {{{"name", "faces"}, {"wieght", 1}}}, 422);
  CHECK(wrong.at("errors").at(0).at("pointer") == "/tenants/0/wieght");
}

TEST_CASE("an event names who asked for what it tells to those who may see that token") {
  RolesScene scene;
  const auto resize = [&](const std::string& token, const char* size) {
    (void)scene.fixture.json_of({.method = "POST",
                                 .path = "/v1/jobs/" + scene.faces.text() + "/resize",
                                 .token = token,
                                 .body = std::string(R"({"size":)") + size + "}"});
  };
  const std::string lab = scene.token("admin", "lab");
  resize(lab, "1");
  resize(scene.fixture.admin, "0");
  const auto actors_for = [&](const std::string& token) {
    std::vector<json> actors;
    const json list = scene.fixture.json_of({.path = "/v1/events?type=job.resize_requested", .token = token});
    for (const json& event : list.at("items")) actors.push_back(event.at("actor"));
    return actors;
  };
  const auto id_of = [](const std::string& token) { return token.substr(3, token.rfind('_') - 3); };
  const json by_lab = {{"token", id_of(lab)}, {"name", "admin"}};
  const json by_admin = {{"token", id_of(scene.fixture.admin)}, {"name", "admin"}};
  CHECK(actors_for(scene.fixture.admin) == std::vector<json>{by_lab, by_admin});
  CHECK(actors_for(lab) == std::vector<json>{by_lab, json(nullptr)});
  const json started = scene.fixture.json_of({.path = "/v1/events?type=job.started", .token = lab});
  for (const json& event : started.at("items")) CHECK(event.at("actor").is_null());
}

TEST_CASE("an admin of a tenant may not take a name whose teams had jobs or tokens that it does not see") {
  RestFixture fixture{test_options(), "tidal"};
  const JobId ended = fixture.submit("closed/team", 1);
  (void)fixture.json_of({.method = "DELETE", .path = "/v1/jobs/" + ended.text(), .token = fixture.admin});
  const json tree = json::parse(R"({"tenants": [{"name": "lab"}]})");
  (void)fixture.json_of({.method = "PUT", .path = "/v1/tenants", .token = fixture.admin, .body = tree.dump()});
  (void)fixture.service.add_token("viewer", "gone/team");
  const std::string lab = fixture.service.add_token("admin", "lab");
  const auto put = [&](const std::string& name) {
    const std::string body = R"({"tenants": [{"name": ")" + name + R"("}]})";
    return fixture.call({.method = "PUT", .path = "/v1/tenants/lab/tenants", .token = lab, .body = body}).status;
  };
  CHECK(put("gone") == 409);
  CHECK(put("closed") == 409);
  CHECK(put("gon") == 200);
  CHECK(put("close") == 200);
}

}  // namespace tidepool::test
