// What a token of one tenant is told never names a job of another: every route, as the table has them, and the streams.
#include <catch2/catch.hpp>

#include <algorithm>
#include <regex>
#include <set>

#include "schedulerd/live/http/route_table.hpp"
#include "tests/support/rest_fixture.hpp"

namespace tidepool::test {
namespace {

using live::http::Access;
using live::http::Route;
using nlohmann::json;

const std::string kForeignName = "blue-secret";

// A job file that asks for one size of so many slots.
json job_file(const std::string& tenant, int size, int priority) {
  return {{"name", tenant == "blue" ? kForeignName : "mine"},
          {"tenant", tenant},
          {"priority", priority},
          {"run", {{"trainer", "charlm"}, {"args", {{"data", "x"}, {"steps", 400}}}}},
          {"elastic", {{"min", size}, {"max", size}, {"cooldown", "0s"}}}};
}

// Four slots. A job of red is preempted for one of blue, others of both wait for it. Ids of jobs are above a hundred,
// so that no other number is taken for one.
struct Scene {
  explicit Scene(const std::string& policy) : fixture(test_options(), policy) {
    for (int i = 0; i < 100; ++i)
      fixture.service.submit({.body = leader::CancelJob{submit("red", 1, 0)}, .actor = "", .idempotency = {}},
                             [](const auto&) {});
    fixture.service.join_node(4);
    mine.push_back(submit("red", 4, 0));
    fixture.service.run_steps(mine.back(), 30);
    foreign.push_back(submit("blue", 4, 20));
    foreign.push_back(submit("blue", 2, 10));
    mine.push_back(submit("red", 2, 0));
    mine.push_back(submit("red", 1, 0));
  }

  JobId submit(const std::string& tenant, int size, int priority) {
    const json job = fixture.json_of(
        {.method = "POST", .path = "/v1/jobs", .token = fixture.admin, .body = job_file(tenant, size, priority).dump()},
        201);
    return JobId::parse(job.at("id").get<std::string>()).value();
  }

  RestFixture fixture;
  std::vector<JobId> mine;
  std::vector<JobId> foreign;
};

// Where the answer tells which job a foreign one is; empty if it does not.
std::string leak_in(const json& said, const std::vector<JobId>& foreign, const std::string& at = "") {
  const auto is_foreign = [&](JobId id) { return std::find(foreign.begin(), foreign.end(), id) != foreign.end(); };
  if (said.is_number() && said.get<double>() > 100) {
    return is_foreign(JobId(static_cast<std::uint64_t>(said.get<double>()))) ? at : "";
  }
  if (said.is_string()) {
    const auto& text = said.get_ref<const std::string&>();
    static const std::regex kId("job-[0-9]+");
    for (std::sregex_iterator id(text.begin(), text.end(), kId), end; id != end; ++id) {
      if (is_foreign(JobId::parse(id->str()).value_or(JobId()))) return at + ": " + text;
    }
    return text.find(kForeignName) == std::string::npos ? "" : at + ": " + text;
  }
  if (!said.is_structured()) return "";
  for (const auto& [name, entry] : said.items()) {
    if (const std::string leak = leak_in(entry, foreign, at + "/" + name); !leak.empty()) return leak;
  }
  return "";
}

// Sequence numbers of events and decisions say nothing of jobs, and may be as high as their ids.
json without_sequences(json said) {
  for (auto entry = said.begin(); said.is_object() && entry != said.end();) {
    const bool counts = entry.key() == "seq" || entry.key() == "as_of_seq" || entry.key() == "steps_counted";
    entry = counts ? said.erase(entry) : std::next(entry);
  }
  for (auto& entry : said) {
    if (entry.is_structured()) entry = without_sequences(std::move(entry));
  }
  return said;
}

std::vector<std::string> ids_for(const Route& route, const Scene& scene) {
  if (route.path.find("{id}") == std::string_view::npos) return {""};
  std::vector<std::string> ids;
  if (route.path.starts_with("/v1/jobs")) {
    for (const JobId job : scene.mine) ids.push_back(job.text());
  } else if (route.path.starts_with("/v1/decisions")) {
    const auto newest = scene.fixture.service.published()->state.next_decision;
    for (std::uint64_t number = newest > 12 ? newest - 12 : 1; number < newest; ++number) {
      ids.push_back(DecisionId(number).text());
    }
  } else {
    ids.emplace_back("node-1");
  }
  return ids;
}

std::vector<Ask> asks_for(const Route& route, const Scene& scene, const std::string& token) {
  std::vector<Ask> asks;
  for (const std::string& id : ids_for(route, scene)) {
    Ask ask{.method = std::string(route.method),
            .path = std::string(route.path),
            .token = token,
            .body = {},
            .headers = {}};
    if (!id.empty()) ask.path.replace(ask.path.find("{id}"), 4, id);
    if (ask.method == "PATCH") ask.body = R"({"priority": 3})";
    if (ask.method == "POST") ask.body = "{}";
    if (ask.path == "/v1/jobs" && ask.method == "POST") ask.body = job_file("red", 2, 1000).dump();
    if (ask.path.ends_with("/resize")) ask.body = R"({"size": 2})";
    if (ask.path == "/v1/tokens" && ask.method == "POST") ask.body = R"({"name":"x","role":"viewer"})";
    asks.push_back(ask);
    if (route.query.find("dry_run") != std::string_view::npos) {
      asks.back().path += "?dry_run=true";
      asks.push_back(ask);
    }
  }
  return asks;
}

// Reads before changes, so that changes find what is read.
std::vector<Route> routes_of_tenants() {
  std::vector<Route> routes;
  for (const bool reads : {true, false}) {
    for (const Route& route : live::http::routes()) {
      const bool streams = route.path == "/v1/events/stream";
      if (route.access != Access::kPublic && !streams && (route.method == "GET") == reads) routes.push_back(route);
    }
  }
  return routes;
}

TEST_CASE("no answer to a tenant's token names a job of another tenant") {
  for (const char* policy : {"tidal", "autoscaling_engine"}) {
    Scene scene(policy);
    const std::string red = scene.fixture.service.add_token("admin", "red");
    int hidden = 0;  // answers that name one to a token that may see all
    for (const Route& route : routes_of_tenants()) {
      for (const Ask& ask : asks_for(route, scene, red)) {
        INFO(policy << ": " << ask.method << " " << ask.path);
        if (ask.method == "GET") {
          Ask whole = ask;
          whole.token = scene.fixture.admin;
          const json all = json::parse(scene.fixture.call(whole).body, nullptr, false);
          hidden += leak_in(without_sequences(all), scene.foreign).empty() ? 0 : 1;
        }
        const RawResponse response = scene.fixture.call(ask);
        const json said = json::parse(response.body, nullptr, false);
        if (said.is_discarded()) {
          CHECK(response.body.find(kForeignName) == std::string::npos);
        } else {
          CHECK(leak_in(without_sequences(said), scene.foreign) == "");
        }
      }
    }
    INFO(policy);
    CHECK(hidden > 5);
  }
}

TEST_CASE("no stream of a tenant's token names a job of another tenant") {
  Scene scene("tidal");
  const std::string red = scene.fixture.service.add_token("viewer", "red");
  for (const std::string& job : {std::string(), "&job=" + scene.mine.front().text()}) {
    RawConnection stream(scene.fixture.port);
    stream.send(scene.fixture.request(
        {.path = "/v1/events/stream?after=0" + job, .token = red, .headers = "Accept: application/x-ndjson\r\n"}));
    REQUIRE(stream.wait_for("\n\n"));  // a beat: all that has happened has been told
    const std::string& seen = stream.seen();
    int events = 0;
    for (std::size_t at = seen.find("\n{"); at != std::string::npos; at = seen.find("\n{", at + 1)) {
      const json event = json::parse(seen.substr(at + 1, seen.find('\n', at + 1) - at - 1));
      CHECK(leak_in(without_sequences(event), scene.foreign) == "");
      ++events;
    }
    CHECK(events > 5);
  }
}

TEST_CASE("what would change a verdict is told to those who may not do it as what it is") {
  RestFixture fixture;
  fixture.service.join_node(4);
  const auto submit = [&](const std::string& tenant, int size) {
    const Ask ask{
        .method = "POST", .path = "/v1/jobs", .token = fixture.admin, .body = job_file(tenant, size, 0).dump()};
    return fixture.json_of(ask, 201).at("id").get<std::string>();
  };
  submit("blue", 4);
  const std::string waits = submit("red", 2);
  const auto unblocks = [&](const std::string& token) {
    return fixture.json_of({.path = "/v1/jobs/" + waits + "/explain", .token = token}).at("unblocks");
  };
  CHECK(unblocks(fixture.admin).at(0) == "cancel job-1, which holds 4 slots");
  CHECK(unblocks(fixture.admin).at(1) == "add a node with 2 free slots");
  // No token of red may cancel it or add a node.
  for (const char* role : {"viewer", "submitter", "admin"}) {
    const json told = unblocks(fixture.service.add_token(role, "red"));
    CHECK(told.at(0) == "the end of a job of another tenant, which holds 4 slots");
    CHECK(told.at(1) == "add a node with 2 free slots (an admin can)");
  }
  CHECK(unblocks(fixture.service.add_token("submitter")).at(0) == "cancel job-1, which holds 4 slots");
}

TEST_CASE("a dry run gives the same advice as an explanation") {
  RestFixture fixture;
  fixture.service.join_node(4);
  const auto ask = [&](const std::string& tenant, int size, const std::string& query) {
    const std::string red = fixture.service.add_token("submitter", tenant);
    const Ask sent{
        .method = "POST", .path = "/v1/jobs" + query, .token = red, .body = job_file(tenant, size, 0).dump()};
    return fixture.json_of(sent, query.empty() ? 201 : 200);
  };
  ask("blue", 4, "");
  CHECK(ask("red", 2, "?dry_run=true").at("decision").at("unblocks").at(0) ==
        "the end of a job of another tenant, which holds 4 slots");
}

}  // namespace
}  // namespace tidepool::test
