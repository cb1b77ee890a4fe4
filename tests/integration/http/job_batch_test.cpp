// Many jobs in one request: stored in one command, or none of them.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "tests/support/rest_fixture.hpp"

namespace tidepool::test {
namespace {

using nlohmann::json;

json small_job(const std::string& name) {
  return {{"name", name},
          {"run", {{"trainer", "mlp"}, {"args", {{"data", "x.csv"}}}}},
          {"elastic", {{"min", 1}, {"max", 2}}}};
}

Ask batch_of(const json& jobs, const std::string& token) {
  return {.method = "POST", .path = "/v1/jobs:batch", .token = token, .body = json{{"jobs", jobs}}.dump()};
}

// That nothing was stored, and that nothing was asked of the engine.
void check_untouched(const RestFixture& fixture) {
  CHECK(fixture.service.commands_carried_out() == 0);
  CHECK(fixture.json_of({.path = "/v1/jobs", .token = fixture.admin}).at("items").empty());
}

TEST_CASE("a batch is one command, and its ids are in the order of its files") {
  const RestFixture fixture;
  json jobs = json::array();
  for (int i = 0; i < 20; ++i) jobs.push_back(small_job("job-of-" + std::to_string(i)));
  const json stored = fixture.json_of(batch_of(jobs, fixture.admin), 201);
  CHECK(fixture.service.commands_carried_out() == 1);
  REQUIRE(stored.at("ids").size() == 20);
  for (std::size_t i = 0; i < 20; ++i) {
    const auto id = stored.at("ids").at(i).get<std::string>();
    CHECK(fixture.json_of({.path = "/v1/jobs/" + id, .token = fixture.admin}).at("name") == jobs.at(i).at("name"));
  }
  const json later = fixture.json_of(
      {.path = "/v1/events?after=" + std::to_string(stored.at("as_of_seq").get<int>()), .token = fixture.admin});
  for (const auto& event : later.at("items")) CHECK(event.at("type") != "job.submitted");
}

TEST_CASE("a batch tells at once which of its jobs wait or cannot start and why, as a submit of each would") {
  RestFixture fixture;
  fixture.service.join_node(4);
  const auto sized = [](int size) {
    json job = small_job("size-" + std::to_string(size));
    job["elastic"] = {{"min", size}, {"max", size}};
    job["batch"] = {{"global", 64}, {"per_worker_max", 64}};
    return job;
  };
  const json stored = fixture.json_of(batch_of({sized(9), sized(4), sized(9), sized(4), sized(4)}, fixture.admin), 201);
  const json& waits = stored.at("waits");
  REQUIRE(waits.size() >= 2);
  CHECK(waits.at(0).at("jobs") == json::array({"job-1", "job-3"}));
  CHECK(waits.at(0).at("reason").at("text") == "cannot start: it needs 9 slots, and the whole cluster has room for 4");
  std::set<std::string> told;
  for (const json& row : waits) {
    const auto first = row.at("jobs").at(0).get<std::string>();
    const json alone = fixture.json_of({.path = "/v1/jobs/" + first, .token = fixture.admin});
    CHECK(alone.at("reason") == row.at("reason"));
    for (const json& id : row.at("jobs")) CHECK(told.insert(id.get<std::string>()).second);
  }
  // One of the jobs that fit has started.
  CHECK(told.size() == 4);
  for (const json& id : stored.at("ids")) {
    const json job = fixture.json_of({.path = "/v1/jobs/" + id.get<std::string>(), .token = fixture.admin});
    CHECK((job.at("state") == "pending") == told.contains(id.get<std::string>()));
  }
}

TEST_CASE("of a batch with one bad file nothing is stored, and the file's problem is that of a submit of it") {
  const RestFixture fixture;
  json bad = small_job("bad");
  bad["elastic"] = {{"min", 4}, {"max", 2}};
  bad["nmae"] = "x";
  const json refused = fixture.json_of(batch_of({small_job("a"), small_job("b"), bad, 7}, fixture.admin), 422);
  CHECK(refused.at("code") == "BatchRefused");
  REQUIRE(refused.at("refused").size() == 2);
  CHECK(refused.at("refused").at(0).at("index") == 2);
  CHECK(refused.at("refused").at(1).at("index") == 3);
  CHECK(refused.at("errors").at(0).at("pointer") == "/jobs/2");
  json alone = fixture.json_of({.method = "POST", .path = "/v1/jobs", .token = fixture.admin, .body = bad.dump()}, 422);
  json within = refused.at("refused").at(0).at("problem");
  CHECK(within.at("errors").size() == 2);
  for (json* problem : {&alone, &within}) {
    problem->erase("request_id");
    problem->erase("instance");
  }
  CHECK(alone == within);
  check_untouched(fixture);
}

TEST_CASE("all refused entries of a batch are told, whoever refuses them") {
  RestFixture fixture;
  const json tree = json::parse(R"({"tenants":[{"name":"default","priority_max":1}]})");
  fixture.json_of({.method = "PUT", .path = "/v1/tenants", .token = fixture.admin, .body = tree.dump()});
  const auto of_tenant = [](const char* tenant) {
    json job = small_job("a");
    job["tenant"] = tenant;
    return job;
  };
  json urgent = small_job("urgent");
  urgent["priority"] = 5;
  const auto refused_at = [&](const json& jobs) {
    const json problem = fixture.json_of(batch_of(jobs, fixture.admin), 422);
    CHECK(problem.at("code") == "BatchRefused");
    std::vector<int> at;
    for (const json& entry : problem.at("refused")) at.push_back(entry.at("index"));
    CHECK(problem.at("detail").get<std::string>().starts_with(std::to_string(at.size()) + " of "));
    return at;
  };
  const json ok = small_job("ok");
  CHECK(refused_at({ok, of_tenant("nope"), of_tenant("nope2"), urgent}) == std::vector<int>{1, 2, 3});
  json bad = ok;
  bad["name"] = "BAD";
  CHECK(refused_at({ok, of_tenant("nope"), bad}) == std::vector<int>{1, 2});
  json alone =
      fixture.json_of({.method = "POST", .path = "/v1/jobs", .token = fixture.admin, .body = urgent.dump()}, 422);
  json within = fixture.json_of(batch_of({ok, urgent}, fixture.admin), 422).at("refused").at(0).at("problem");
  CHECK(alone.at("detail") == within.at("detail"));
  CHECK(fixture.json_of({.path = "/v1/jobs", .token = fixture.admin}).at("items").empty());
}

TEST_CASE(
    "a submit beyond jobs_max of its tenant is refused until a job has ended: alone, in a batch, tried or planned") {
  RestFixture fixture;
  const auto set = [&](int most) {
    const json tenant = {{"name", "default"}, {"jobs_max", most}};
    const json tree = {{"tenants", json::array({tenant})}};
    return fixture.json_of({.method = "PUT", .path = "/v1/tenants", .token = fixture.admin, .body = tree.dump()});
  };
  const auto jobs_now = [&] {
    const json tenant = fixture.json_of({.path = "/v1/tenants/default", .token = fixture.admin});
    return tenant.at("now").at("jobs").get<int>();
  };
  (void)set(3);
  (void)fixture.json_of(batch_of({small_job("a"), small_job("b")}, fixture.admin), 201);
  const json crossing = fixture.json_of(batch_of({small_job("c"), small_job("d"), small_job("e")}, fixture.admin), 429);
  CHECK(crossing.at("code") == "BatchRefused");
  CHECK(crossing.at("retryable") == true);
  CHECK(crossing.at("hint") == "submit the batch again once some jobs have ended; nothing was stored");
  REQUIRE(crossing.at("refused").size() == 2);
  CHECK(crossing.at("refused").at(0).at("index") == 1);
  CHECK(crossing.at("refused").at(0).at("problem").at("code") == "LimitExceeded");
  // It would not fit if there were no other jobs.
  const json too_large =
      fixture.json_of(batch_of({small_job("c"), small_job("d"), small_job("e"), small_job("f")}, fixture.admin), 422);
  REQUIRE(too_large.at("refused").size() == 3);
  CHECK(too_large.at("refused").at(2).at("problem").at("detail").get<std::string>().ends_with(
      "; submit at most 3 at once"));
  (void)fixture.json_of(batch_of(json::array({small_job("c")}), fixture.admin), 201);
  CHECK(jobs_now() == 3);

  Ask alone{.method = "POST", .path = "/v1/jobs", .token = fixture.admin, .body = small_job("d").dump()};
  for (const char* path : {"/v1/jobs?dry_run=true", "/v1/plan", "/v1/jobs"}) {
    INFO(path);
    alone.path = path;
    const json why = fixture.json_of(alone, 429);
    CHECK(why.at("code") == "LimitExceeded");
    CHECK(why.at("retryable") == true);
    CHECK(why.at("detail") ==
          "job \"d\": jobs_max 3 of tenant \"default\" is reached: it has 3 jobs waiting, running or suspended; "
          "submit it again once some of them have ended, or cancel some");
  }
  (void)fixture.json_of({.method = "DELETE", .path = "/v1/jobs/job-1", .token = fixture.admin});
  CHECK(jobs_now() == 2);
  (void)fixture.json_of(alone, 201);

  const json warnings = set(1).at("warnings");
  CHECK(std::find(warnings.begin(), warnings.end(),
                  "tenant default has 3 jobs waiting, running or suspended, beyond jobs_max 1: they continue, and new "
                  "ones are refused until fewer than 1 are left") != warnings.end());
  CHECK(jobs_now() == 3);
}

TEST_CASE("a repeated batch with the same key gives the first ids again") {
  const RestFixture fixture;
  Ask ask = batch_of({small_job("a"), small_job("b")}, fixture.admin);
  ask.headers = "Idempotency-Key: batch-1\r\n";
  const auto first = fixture.call(ask);
  CHECK(fixture.json_of(batch_of(json::array({small_job("between")}), fixture.admin), 201).at("ids") ==
        json::array({"job-3"}));
  auto again = fixture.call(ask);
  CHECK(first.status == 201);
  CHECK(again.status == 201);
  CHECK(again.headers["idempotent-replayed"] == "true");
  CHECK(json::parse(again.body).at("ids") == json::array({"job-1", "job-2"}));
  CHECK(json::parse(first.body).at("ids") == json::parse(again.body).at("ids"));
  CHECK(fixture.service.commands_carried_out() == 2);
  Ask other = batch_of(json::array({small_job("a")}), fixture.admin);
  other.headers = ask.headers;
  CHECK(fixture.json_of(other, 409).at("code") == "Conflict");
}

TEST_CASE("a tenant's batch is its own, and one entry of another tenant refuses the whole of it") {
  RestFixture fixture;
  const std::string red = fixture.service.add_token("submitter", "red");
  json foreign = small_job("foreign");
  foreign["tenant"] = "blue";
  const json refused = fixture.json_of(batch_of({small_job("own"), foreign}, red), 403);
  REQUIRE(refused.at("refused").size() == 1);
  CHECK(refused.at("refused").at(0).at("index") == 1);
  const json& problem = refused.at("refused").at(0).at("problem");
  CHECK(problem.at("code") == "ForeignTenant");
  CHECK(problem.at("detail").get<std::string>().starts_with("the job file says tenant "));
  CHECK(problem.at("hint").get<std::string>().find("leave tenant out") != std::string::npos);
  CHECK(fixture.json_of(batch_of({foreign, json::object()}, red), 422).at("refused").size() == 2);
  check_untouched(fixture);
  json unnamed = small_job("too");
  unnamed["tenant"] = nullptr;  // as if it were left out
  const json stored = fixture.json_of(batch_of({small_job("own"), unnamed}, red), 201);
  for (const auto& id : stored.at("ids")) {
    CHECK(fixture.json_of({.path = "/v1/jobs/" + id.get<std::string>(), .token = red}).at("tenant") == "red");
  }
}

TEST_CASE("a batch that is no list of 1 to 1,000 files is refused with the field that is wrong") {
  const RestFixture fixture;
  const json thousand = json(std::vector<json>(1'000, {{"run", {{"trainer", "mlp"}, {"args", {{"data", "x.csv"}}}}}}));
  json more = thousand;
  more.push_back(thousand.front());
  const auto refused = [&](const json& body, const char* pointer, const char* code) {
    INFO(body.dump().substr(0, 100));
    const json problem =
        fixture.json_of({.method = "POST", .path = "/v1/jobs:batch", .token = fixture.admin, .body = body.dump()}, 422);
    CHECK(problem.at("code") == "InvalidBatch");
    CHECK(problem.at("errors").at(0).at("pointer") == pointer);
    CHECK(problem.at("errors").at(0).at("code") == code);
  };
  refused({{"jobs", json::array()}}, "/jobs", "OutOfRange");
  refused({{"jobs", more}}, "/jobs", "OutOfRange");
  refused({{"jobs", {{"run", 1}}}}, "/jobs", "WrongType");
  refused(json::object(), "/jobs", "Missing");
  refused({{"jobs", {small_job("a")}}, {"job", 1}}, "/job", "UnknownField");
  refused(json::array({small_job("a")}), "", "WrongType");
  const Ask dry{.method = "POST",
                .path = "/v1/jobs:batch?dry_run=true",
                .token = fixture.admin,
                .body = json{{"jobs", {small_job("a")}}}.dump()};
  CHECK(fixture.json_of(dry, 400).at("code") == "UnknownParameter");
  check_untouched(fixture);
  const json stored = fixture.json_of(batch_of(thousand, fixture.admin), 201);
  CHECK(stored.at("ids").size() == 1'000);
  REQUIRE(stored.at("waits").size() == 1);  // told once
  CHECK(stored.at("waits").at(0).at("jobs") == stored.at("ids"));
}

}  // namespace
}  // namespace tidepool::test
