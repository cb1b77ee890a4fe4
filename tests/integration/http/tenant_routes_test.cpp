// Tenants over HTTP: the tree as a whole, what each tenant has, and what is refused.
#include <catch2/catch.hpp>

#include "tests/support/rest_fixture.hpp"

namespace tidepool::test {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using nlohmann::json;

json lab_tree() {
  return json::parse(R"({"half_life": "12h", "tenants": [
    {"name": "lab", "guarantee": 3, "weight": 2, "tenants": [
      {"name": "vision", "guarantee": 2, "job_slots_max": 4, "priority_max": 10},
      {"name": "speech", "guarantee": 1}]},
    {"name": "guests", "weight": 0}]})");
}

Ask put(const RestFixture& fixture, const json& tree, const std::string& query = "") {
  return {.method = "PUT", .path = "/v1/tenants" + query, .token = fixture.admin, .body = tree.dump()};
}

json tenants_of(const RestFixture& fixture, const std::string& token) {
  return fixture.json_of({.path = "/v1/tenants", .token = token}).at("tenants");
}

json job_file(const std::string& tenant, int max = 2) {
  return {{"name", "a"},
          {"tenant", tenant},
          {"run", {{"trainer", "mlp"}, {"args", {{"data", "x.csv"}}}}},
          {"elastic", {{"min", 1}, {"max", max}}}};
}

Ask submission(const RestFixture& fixture, const json& job, const std::string& query = "") {
  return {.method = "POST", .path = "/v1/jobs" + query, .token = fixture.admin, .body = job.dump()};
}

}  // namespace

TEST_CASE("a tree of tenants is set as a whole and read as it was set") {
  RestFixture fixture(test_options(), "tidal");
  CHECK(tenants_of(fixture, fixture.admin).empty());
  const json set = fixture.json_of(put(fixture, lab_tree()));
  CHECK(set.at("dry_run") == false);
  CHECK(set.at("refused").is_null());
  CHECK(set.at("warnings").empty());
  REQUIRE(set.at("changes").size() == 5);
  const json read = fixture.json_of({.path = "/v1/tenants", .token = fixture.admin});
  CHECK(read.at("half_life") == "12h");
  CHECK(read.at("rebalance_every") == "5m");
  CHECK(read.at("warnings").empty());
  REQUIRE(read.at("tenants").size() == 4);
  const json& vision = read.at("tenants").at(1);
  CHECK(vision.at("name") == "vision");
  CHECK(vision.at("path") == json({"lab", "vision"}));
  CHECK(vision.at("job_slots_max") == 4);
  CHECK(vision.at("lend").is_null());
  CHECK(fixture.json_of({.path = "/v1/tenants/vision", .token = fixture.admin}) == vision);
  CHECK(fixture.json_of({.path = "/v1/tenants/visoin", .token = fixture.admin}, 404).at("code") == "UnknownTenant");
  // The same again changes nothing, and an event tells of the first time alone.
  CHECK(fixture.json_of(put(fixture, lab_tree())).at("changes").empty());
  const json events = fixture.json_of({.path = "/v1/events?limit=1000", .token = fixture.admin}).at("items");
  std::size_t told = 0;
  for (const auto& event : events) told += event.at("type") == "tenants.configured" ? 1U : 0U;
  CHECK(told == 1);
  // It is set only in place of the tree that was read.
  const auto guarded = [&](const json& etag) {
    auto request = put(fixture, {{"tenants", json::array()}});
    request.headers = "If-Match: " + etag.get<std::string>() + "\r\n";
    return request;
  };
  const json planned = fixture.json_of(put(fixture, {{"tenants", json::array()}}, "?dry_run=true"));
  CHECK(fixture.json_of(guarded(set.at("etag")), 412).at("code") == "Changed");
  CHECK(fixture.json_of(guarded(planned.at("etag"))).at("changes").size() == 5);
  CHECK(tenants_of(fixture, fixture.admin).empty());
}

TEST_CASE("a budget is set with the tree, told with how it stands, and has its series") {
  RestFixture fixture(test_options(), "tidal");
  json tree = lab_tree();
  tree["tenants"][0]["budget"] = {{"limit", 500}};
  tree["tenants"][0]["tenants"][0]["budget"] =
      json::parse(R"({"limit": "4.858748", "window": "week", "thresholds": [{"percent": 100, "action": "stop"}]})");
  (void)fixture.json_of(put(fixture, tree));
  const json tenants = tenants_of(fixture, fixture.admin);
  CHECK(tenants.at(0).at("budget") == json::parse(R"({"limit": "500.00", "window": "month", "thresholds": [
      {"percent": 80, "action": "warn"}, {"percent": 100, "action": "pause"}]})"));
  CHECK(tenants.at(1).at("budget").at("limit") == "4.858748");
  CHECK(tenants.at(2).at("budget").is_null());
  CHECK(tenants.at(2).at("now").at("budget").is_null());
  const json& now = tenants.at(1).at("now").at("budget");
  CHECK(now.at("spent") == "0.00");
  CHECK(now.at("action").is_null());
  CHECK(now.at("limit_reached_at").is_null());
  CHECK(now.at("next").is_null());
  const std::string metrics = fixture.call({.path = "/metrics", .token = fixture.admin}).body;
  CHECK_THAT(metrics, Contains("sched_tenant_budget_limit{tenant=\"lab\"} 500\n"));
  CHECK_THAT(metrics, Contains("sched_tenant_budget_limit{tenant=\"vision\"} 4.858748\n"));  // not 4.858747999999999
  CHECK_THAT(metrics, Contains("sched_tenant_budget_spent{tenant=\"vision\"} 0\n"));
  // The same again changes nothing.
  CHECK(fixture.json_of(put(fixture, tree, "?dry_run=true")).at("changes").empty());

  const auto pointers = [&](const json& budget) {
    json wrong = lab_tree();
    wrong["tenants"][0]["budget"] = budget;
    std::vector<std::string> found;
    const json refused = fixture.json_of(put(fixture, wrong), 422);
    for (const auto& error : refused.at("errors")) {
      found.push_back(error.at("pointer").get<std::string>());
    }
    return found;
  };
  const std::string at = "/tenants/0/budget";
  CHECK(pointers(json::object()) == std::vector{at + "/limit"});
  CHECK(pointers({{"limit", "0"}}) == std::vector{at + "/limit"});
  CHECK(pointers({{"limit", 5}, {"window", "year"}, {"when", 1}}) == std::vector{at + "/window", at + "/when"});
  CHECK(pointers({{"limit", 5}, {"thresholds", json::array()}}) == std::vector{at + "/thresholds"});
  const json twice = json::parse(R"([{"percent": 80, "action": "warn"}, {"percent": 80, "action": "sleep"}])");
  CHECK(pointers({{"limit", 5}, {"thresholds", twice}}) ==
        std::vector{at + "/thresholds/1/action", at + "/thresholds/1/percent"});
}

TEST_CASE("usage is summed for those who may see it, and a question that is none is refused") {
  const RestFixture fixture(test_options(), "tidal");
  const auto usage = [&](const std::string& query, int status = 200) {
    return fixture.json_of({.path = "/v1/usage" + query, .token = fixture.admin}, status);
  };
  const json empty = usage("?by=tenant,label:project&from=1970-01-01&to=1970-01-31");
  CHECK(empty.at("rows").empty());
  CHECK(empty.at("total").at("cost") == "0.00");
  CHECK(empty.at("by") == json({"tenant", "label:project"}));
  CHECK(empty.at("pool").at("by") == json({"class"}));
  CHECK_THAT(usage("?by=colour", 400).at("detail").get<std::string>(), Contains("label:KEY"));
  CHECK_THAT(usage("?window=year", 400).at("detail").get<std::string>(), Contains("day, week or month"));
  CHECK_THAT(usage("?from=9999-11-01", 400).at("detail").get<std::string>(), Contains("give a day up to today"));
  CHECK_THAT(usage("?to=2026-11-30", 400).at("detail").get<std::string>(), Contains("needs from"));
}

TEST_CASE("usage that is more than one answer holds, or than can be looked through, is refused with what to ask for") {
  const auto refusal = [](const RestFixture& fixture) {
    return fixture.json_of({.path = "/v1/usage?by=job&from=1970-01-01", .token = fixture.admin}, 422);
  };
  live::http::RestOptions no_rows = test_options();
  no_rows.usage_rows_max = 0;
  RestFixture running(no_rows);
  running.service.join_node(4);
  running.service.run_steps(running.submit(), 2);
  const json rows = refusal(running);
  CHECK(rows.at("code") == "TooManyRows");
  CHECK_THAT(rows.at("hint").get<std::string>(), Contains("fewer days"));

  live::http::RestOptions one_part = test_options();
  one_part.usage_jobs_max = 50;
  RestFixture ended(one_part);
  const auto end_some = [&](int count) {
    for (int i = 0; i < count; ++i) {
      const std::string path = "/v1/jobs/" + ended.submit().text();
      REQUIRE(ended.call({.method = "DELETE", .path = path, .token = ended.admin}).status == 200);
    }
  };
  end_some(50);
  CHECK(ended.json_of({.path = "/v1/usage?from=1970-01-01", .token = ended.admin}).at("rows").empty());
  end_some(1);
  const json jobs = refusal(ended);
  CHECK(jobs.at("code") == "TooManyJobs");
  CHECK_THAT(jobs.at("detail").get<std::string>(), Contains("more than 50 jobs"));
  CHECK_THAT(jobs.at("hint").get<std::string>(), Contains("a later first day"));
}

TEST_CASE("metrics have a series for each leaf of the tree and no other") {
  const RestFixture fixture(test_options(), "tidal");
  const auto metrics = [&] { return fixture.call({.path = "/metrics", .token = fixture.admin}).body; };
  CHECK_THAT(metrics(), !Contains("tenant="));
  (void)fixture.json_of(put(fixture, lab_tree()));
  fixture.submit("vision", 2);
  CHECK_THAT(metrics(), Contains("sched_tenant_guaranteed_slots{tenant=\"vision\"} 2\n"));
  CHECK_THAT(metrics(), Contains("sched_tenant_held_slots{tenant=\"guests\"} 0\n"));
  CHECK_THAT(metrics(), Contains("sched_tenant_wanted_slots{tenant=\"speech\"} 0\n"));
  CHECK_THAT(metrics(), !Contains("tenant=\"lab\""));
  json smaller = lab_tree();
  smaller["tenants"].erase(1);
  (void)fixture.json_of(put(fixture, smaller));
  CHECK_THAT(metrics(), !Contains("guests") && Contains("tenant=\"vision\""));
}

TEST_CASE("limits on preemption are set with the tree, or without tenants, and are read as they were set") {
  RestFixture fixture(test_options(), "tidal");
  json tree = lab_tree();
  tree["preempt_after"] = "5m";
  tree["churn"] = {{"per_job", 3}, {"window", "30m"}};
  tree["tenants"][0]["preempt_after"] = "10m";
  (void)fixture.json_of(put(fixture, tree));
  json read = fixture.json_of({.path = "/v1/tenants", .token = fixture.admin});
  CHECK(read.at("preempt_after") == "5m");
  CHECK(read.at("churn") == json::parse(R"({"per_job": 3, "pool": null, "window": "30m"})"));
  CHECK(read.at("tenants").at(0).at("preempt_after") == "10m");
  CHECK(read.at("tenants").at(1).at("preempt_after") == "0s");
  tree["churn"] = {{"pool", 20}};
  const json changes = fixture.json_of(put(fixture, tree, "?dry_run=true")).at("changes");
  REQUIRE(changes.size() == 1);
  CHECK(changes.at(0).at("fields") == json::parse(R"({"churn.per_job": {"from": 3, "to": null},
                                                       "churn.pool": {"from": null, "to": 20},
                                                       "churn.window": {"from": "30m", "to": "1h"}})"));
  (void)fixture.json_of(put(fixture, {{"preempt_after", "1m"}, {"tenants", json::array()}}));
  read = fixture.json_of({.path = "/v1/tenants", .token = fixture.admin});
  CHECK(read.at("preempt_after") == "1m");
  CHECK(read.at("churn").is_null());
  CHECK(read.at("tenants").empty());
}

TEST_CASE("a dry run says field by field what would change, and whether it would be refused") {
  RestFixture fixture(test_options(), "tidal");
  (void)fixture.json_of(put(fixture, lab_tree()));
  const int commands = fixture.service.commands_carried_out();
  json changed = lab_tree();
  changed["half_life"] = "1d";
  changed["tenants"][0]["guarantee"] = 5;
  changed["tenants"][0]["tenants"][0]["job_slots_max"] = nullptr;
  changed["tenants"][1] = {{"name", "new"}, {"guarantee", 1}};
  const json changes = fixture.json_of(put(fixture, changed, "?dry_run=true")).at("changes");
  REQUIRE(changes.size() == 5);
  CHECK(changes.at(0) == json::parse(R"({"tenant": null, "change": "changed",
                                         "fields": {"half_life": {"from": "12h", "to": "1d"}}})"));
  CHECK(changes.at(1) == json::parse(R"({"tenant": "guests", "change": "removed", "fields": {}})"));
  CHECK(changes.at(2) == json::parse(R"({"tenant": "lab", "change": "changed",
                                         "fields": {"guarantee": {"from": 3, "to": 5}}})"));
  CHECK(changes.at(3).at("fields") == json::parse(R"({"job_slots_max": {"from": 4, "to": null}})"));
  CHECK(changes.at(4) == json::parse(R"({"tenant": "new", "change": "added",
                                         "fields": {"guarantee": {"from": null, "to": 1}}})"));
  json turned = lab_tree();
  std::swap(turned["tenants"][0], turned["tenants"][1]);
  const json order = fixture.json_of(put(fixture, turned, "?dry_run=true")).at("changes");
  REQUIRE(order.size() == 1);
  CHECK(order.at(0).at("fields").at("order").at("to") == json({"guests", "lab", "vision", "speech"}));
  // A tenant with a job can only go when the job has ended.
  fixture.submit("guests", 1);
  const json without = {{"tenants", {{{"name", "lab"}}}}};
  CHECK_THAT(fixture.json_of(put(fixture, without, "?dry_run=true")).at("refused").get<std::string>(),
             Contains("\"guests\" has jobs that have not ended"));
  CHECK(fixture.json_of(put(fixture, without), 409).at("code") == "Conflict");
  CHECK(tenants_of(fixture, fixture.admin).size() == 4);
  CHECK(fixture.service.commands_carried_out() == commands + 2);
}

TEST_CASE(
    "a caller is told which tenants keep slots that they do not lend, and to let them lend, of those it may see") {
  RestFixture fixture(test_options(), "tidal");
  fixture.service.join_node(4);
  const json tree = json::parse(R"({"tenants": [{"name": "vision"}, {"name": "speech", "guarantee": 3, "lend": 0}]})");
  fixture.json_of(put(fixture, tree));
  fixture.json_of(submission(fixture, job_file("vision", 1)), 201);
  const json waits = fixture.json_of(submission(fixture, job_file("vision", 1)), 201);
  const auto told = [&](const std::string& token, const char* field) {
    const std::string path = "/v1/jobs/" + waits.at("id").get<std::string>() + "/explain";
    return fixture.json_of({.path = path, .token = token}).at(field).dump();
  };
  const std::string rule =
      "tenant vision would have 1 slot more if others lent all that they are guaranteed and do not use (rule: lend)";
  const std::string keeper = "tenant speech keeps 1 slot of these (lend: 0)";
  const std::string let = "let tenant speech lend more (its lend is 0)";
  const std::string ask = "ask an operator to raise lend of the tenants that keep slots";
  CHECK_THAT(told(fixture.admin, "evidence"), Catch::Contains(rule) && Catch::Contains(keeper));
  CHECK_THAT(told(fixture.admin, "unblocks"), Catch::Contains("\"" + let + "\"") && !Catch::Contains(ask));
  const std::string viewer = fixture.service.add_token("viewer");
  CHECK_THAT(told(viewer, "unblocks"), Catch::Contains(let + " (an admin can)") && !Catch::Contains(ask));
  const std::string of_vision = fixture.service.add_token("viewer", "vision");
  CHECK_THAT(told(of_vision, "evidence"), Catch::Contains(rule) && !Catch::Contains("speech"));
  CHECK_THAT(told(of_vision, "unblocks"), Catch::Contains("\"" + ask + "\"") && !Catch::Contains("speech"));
}

TEST_CASE("a tree that is wrong, or that the token must not set, is refused") {
  RestFixture fixture(test_options(), "tidal");
  json wrong = lab_tree();
  wrong["tenants"][0]["guarantee"] = 2;
  wrong["tenants"][1]["wieght"] = 1;
  const json refused = fixture.json_of(put(fixture, wrong), 422);
  CHECK(refused.at("code") == "InvalidTenants");
  REQUIRE(refused.at("errors").size() == 2);
  CHECK(refused.at("errors").at(0).at("pointer") == "/tenants/0/guarantee");
  CHECK(refused.at("errors").at(1).at("pointer") == "/tenants/1/wieght");
  CHECK(fixture.json_of(put(fixture, wrong, "?dry_run=true"), 422).at("errors").size() == 2);
  Ask broken = put(fixture, lab_tree());
  broken.body = "{";
  CHECK(fixture.json_of(broken, 400).at("code") == "BadJson");
  broken.body = "";
  CHECK(fixture.json_of(broken, 400).at("code") == "MissingBody");
  CHECK(fixture.call(put(fixture, lab_tree(), "?dry_run=perhaps")).status == 400);
  for (const auto& token : {fixture.service.add_token("submitter"), fixture.service.add_token("admin", "lab")}) {
    Ask ask = put(fixture, lab_tree());
    ask.token = token;
    CHECK(fixture.call(ask).status == 403);
  }
  CHECK(fixture.service.commands_carried_out() == 0);
}

TEST_CASE("a key sets a tree once") {
  RestFixture fixture(test_options(), "tidal");
  Ask first = put(fixture, lab_tree());
  const json planned = fixture.json_of(put(fixture, lab_tree(), "?dry_run=true"));
  first.headers = "Idempotency-Key: tree-1\r\nIf-Match: " + planned.at("etag").get<std::string>() + "\r\n";
  CHECK(fixture.call(first).status == 200);
  (void)fixture.json_of(put(fixture, {{"tenants", json::array()}}));
  auto again = fixture.call(first);
  CHECK(again.headers["idempotent-replayed"] == "true");
  CHECK(tenants_of(fixture, fixture.admin).empty());
}

TEST_CASE("a token whose tenant has left the tree is told so") {
  RestFixture fixture(test_options(), "tidal");
  const std::string left = fixture.service.add_token("viewer", "sea");
  const auto warnings = [&](const std::string& token) {
    return fixture.json_of({.path = "/v1/tenants", .token = token}).at("warnings");
  };
  CHECK(warnings(left).empty());  // while there is no tree
  (void)fixture.json_of(put(fixture, lab_tree()));
  REQUIRE(warnings(left).size() == 1);
  CHECK_THAT(warnings(left).at(0).get<std::string>(), StartsWith("the tenant sea of this token is not in the tree"));
  CHECK(tenants_of(fixture, left).empty());
  CHECK(warnings(fixture.service.add_token("viewer", "vision")).empty());
  CHECK(warnings(fixture.admin).empty());
}

TEST_CASE("a job that is refused for its tenant is told so of that field") {
  RestFixture fixture(test_options(), "tidal");
  (void)fixture.json_of(put(fixture, lab_tree()));
  const auto check = [](const json& problem) {
    CHECK(problem.at("code") == "InvalidArgument");
    REQUIRE(problem.at("errors").size() == 1);
    CHECK(problem.at("errors").at(0).at("pointer") == "/tenant");
    CHECK(problem.at("errors").at(0).at("message") == problem.at("detail"));
  };
  for (const char* tenant : {"sea", "lab"}) {
    INFO(tenant);
    const json job = job_file(tenant);
    check(fixture.json_of(submission(fixture, job), 422));
    check(fixture.json_of(submission(fixture, job, "?dry_run=true"), 422));
    check(fixture.json_of({.method = "POST", .path = "/v1/plan", .token = fixture.admin, .body = job.dump()}, 422));
    const Ask batch{.method = "POST",
                    .path = "/v1/jobs:batch",
                    .token = fixture.admin,
                    .body = json{{"jobs", {job_file("guests"), job}}}.dump()};
    check(fixture.json_of(batch, 422).at("refused").at(0).at("problem"));
  }
  // What is refused for another reason does not speak of its tenant.
  CHECK(fixture.json_of(submission(fixture, job_file("vision", 5)), 422).at("errors").empty());
}

TEST_CASE("a job is taken for a leaf of the tree that allows what it asks for") {
  RestFixture fixture(test_options(), "tidal");
  json tree = lab_tree();
  tree["tenants"][0]["job_hold_max"] = "1h";
  tree["tenants"][0]["exclusive_nodes"] = true;
  (void)fixture.json_of(put(fixture, tree));
  CHECK(tenants_of(fixture, fixture.admin).at(0).at("job_hold_max") == "1h");
  const auto refusal = [&](const json& job) {
    const json alone = fixture.json_of(submission(fixture, job), 422);
    CHECK(fixture.json_of(submission(fixture, job, "?dry_run=true"), 422).at("detail") == alone.at("detail"));
    const json batch = {{"jobs", {job_file("guests"), job}}};
    const json refused = fixture.json_of(
        {.method = "POST", .path = "/v1/jobs:batch", .token = fixture.admin, .body = batch.dump()}, 422);
    CHECK(refused.at("detail") ==
          "1 of 2 jobs refused; the first has index 1: " + alone.at("detail").get<std::string>());
    return alone.at("detail").get<std::string>();
  };
  CHECK_THAT(refusal(job_file("sea")), Contains("there is no tenant \"sea\""));
  CHECK_THAT(refusal(job_file("default")), Contains("add `tenant: NAME` to it"));
  CHECK_THAT(refusal(job_file("lab")), Contains("tenants below it"));
  CHECK_THAT(refusal(job_file("vision", 5)), Contains("job_slots_max 4 of tenant \"vision\""));
  json urgent = job_file("vision");
  urgent["priority"] = 11;
  CHECK_THAT(refusal(urgent), Contains("priority_max 10 of tenant \"vision\""));
  json lasting = job_file("vision");
  lasting["elastic"]["min_runtime"] = "2h";
  CHECK_THAT(refusal(lasting), Contains("elastic.min_runtime 2h is above job_hold_max 1h of tenant \"lab\""));
  json alone = job_file("vision");
  alone["placement"]["exclusive"] = true;
  CHECK_THAT(refusal(alone), Contains("placement.exclusive is not granted to tenant \"vision\" (exclusive_nodes); "
                                      "leave it out, or ask an operator"));
  CHECK(fixture.json_of({.path = "/v1/jobs", .token = fixture.admin}).at("items").empty());
  // Nor can a job be changed to what it could not have been submitted with.
  const JobId job = fixture.submit("vision", 4);
  const auto check_change = [&](const char* patch, const char* limit) {
    const auto change = [&](const char* query) {
      const std::string path = "/v1/jobs/" + job.text() + query;
      return fixture.json_of({.method = "PATCH", .path = path, .token = fixture.admin, .body = patch}, 422);
    };
    CHECK_THAT(change("").at("detail").get<std::string>(), Contains(limit));
    CHECK(change("?dry_run=true").at("detail") == change("").at("detail"));
  };
  check_change(R"({"elastic": {"max": 8}})", "job_slots_max");
  check_change(R"({"elastic": {"cooldown": "2h"}})", "job_hold_max");
  check_change(R"({"placement": {"exclusive": true}})", "exclusive_nodes");
  // Until each tenant on the path is granted it.
  tree["tenants"][0]["tenants"][0]["exclusive_nodes"] = true;
  (void)fixture.json_of(put(fixture, tree));
  CHECK(tenants_of(fixture, fixture.admin).at(1).at("exclusive_nodes") == true);
  (void)fixture.json_of(submission(fixture, alone), 201);
}

TEST_CASE("a job takes the defaults of its tenant where its file is silent, and keeps what it took") {
  RestFixture fixture(test_options(), "tidal");
  json tree = lab_tree();
  tree["tenants"][0]["defaults"] = {
      {"priority", 4}, {"elastic", {{"cooldown", "1m"}}}, {"limits", {{"max_restarts", 9}}}};
  tree["tenants"][0]["tenants"][0]["defaults"] = {{"elastic", {{"cooldown", "2m"}}}};
  const json set = fixture.json_of(put(fixture, tree));
  CHECK(set.at("changes").at(1).at("fields").at("defaults.elastic.cooldown") ==
        json::parse(R"({"from": null, "to": "1m"})"));
  CHECK(tenants_of(fixture, fixture.admin).at(0).at("defaults") == tree.at("tenants").at(0).at("defaults"));
  json file = job_file("vision");
  file["limits"] = {{"max_restarts", 2}};
  const json expected = {{"elastic.cooldown", "vision"}, {"priority", "lab"}};
  const auto check = [&](const json& job) {
    CHECK(job.at("defaults_from") == expected);
    CHECK(job.at("spec").at("elastic").at("cooldown") == "2m");
    CHECK(job.at("spec").at("priority") == 4);
    CHECK(job.at("spec").at("limits").at("max_restarts") == 2);
  };
  check(fixture.json_of(submission(fixture, file, "?dry_run=true")));
  const json job = fixture.json_of(submission(fixture, file), 201);
  check(job);
  const json batch = {{"jobs", {file}}};
  const json ids =
      fixture.json_of({.method = "POST", .path = "/v1/jobs:batch", .token = fixture.admin, .body = batch.dump()}, 201);
  check(fixture.json_of({.path = "/v1/jobs/" + ids.at("ids").at(0).get<std::string>(), .token = fixture.admin}));

  // Later defaults are of later jobs, and what a change sets is of no tenant any more.
  tree["tenants"][0]["defaults"] = nullptr;
  tree["tenants"][0]["tenants"][0]["defaults"]["elastic"]["cooldown"] = "3m";
  CHECK(fixture.json_of(put(fixture, tree, "?dry_run=true")).at("changes").at(1).at("fields") ==
        json::parse(R"({"defaults.elastic.cooldown": {"from": "2m", "to": "3m"}})"));
  (void)fixture.json_of(put(fixture, tree));
  const Ask get{.path = "/v1/jobs/" + job.at("id").get<std::string>(), .token = fixture.admin};
  check(fixture.json_of(get));
  Ask patch = get;
  patch.method = "PATCH";
  patch.body = R"({"priority": 5})";
  const json changed = fixture.json_of(patch);
  CHECK(changed.at("defaults_from") == json{{"elastic.cooldown", "vision"}});
  CHECK(changed.at("spec").at("elastic").at("cooldown") == "2m");
  CHECK(fixture.json_of(submission(fixture, job_file("vision")), 201).at("defaults_from") ==
        json{{"elastic.cooldown", "vision"}});
}

TEST_CASE("what tenants have and want is counted, and added up along the tree") {
  RestFixture fixture(test_options(), "tidal");
  (void)fixture.json_of(put(fixture, lab_tree()));
  fixture.service.join_node(4);
  const JobId vision = fixture.submit("vision", 2);
  const JobId speech = fixture.submit("speech", 1);
  fixture.service.run_steps(vision, 30);
  fixture.service.run_steps(speech, 30);
  fixture.service.run_steps(vision, 30);
  const json tenants = tenants_of(fixture, fixture.admin);
  const auto now = [&](std::size_t i) { return tenants.at(i).at("now"); };
  CHECK(now(2).at("held") == 1);
  CHECK(now(1).at("held").get<int>() >= 1);
  CHECK(
      now(3) ==
      json::parse(
          R"({"entitled": 0, "entitled_by_type": {}, "wanted": 0, "satisfied": true, "loan": 0.0, "held": 0, "jobs": 0, "jobs_waiting": 0,
                                  "jobs_running": 0, "slot_hours": 0.0, "cost": "0.00", "currency": "USD",
                                  "budget": null})"));
  for (const char* field : {"held", "entitled", "wanted", "jobs", "jobs_waiting", "jobs_running"}) {
    INFO(field);
    CHECK(now(0).at(field).get<int>() == now(1).at(field).get<int>() + now(2).at(field).get<int>());
  }
  CHECK(now(1).at("entitled").get<int>() >= 2);
  CHECK(now(0).at("jobs_running") == 2);
  CHECK(now(1).at("slot_hours").get<double>() > 0);
  CHECK(now(0).at("slot_hours").get<double>() ==
        Approx(now(1).at("slot_hours").get<double>() + now(2).at("slot_hours").get<double>()));
}

TEST_CASE("a token of one tenant sees its own numbers, and of those above it what is set") {
  RestFixture fixture(test_options(), "tidal");
  (void)fixture.json_of(put(fixture, lab_tree()));
  const json of_vision = tenants_of(fixture, fixture.service.add_token("viewer", "vision"));
  REQUIRE(of_vision.size() == 2);
  CHECK(of_vision.at(0).at("name") == "lab");
  CHECK(of_vision.at(0).at("guarantee") == 3);
  CHECK(of_vision.at(0).at("now").is_null());
  CHECK(of_vision.at(1).at("name") == "vision");
  CHECK(of_vision.at(1).at("now").is_object());
  const std::string lab = fixture.service.add_token("viewer", "lab");
  const json of_lab = tenants_of(fixture, lab);
  REQUIRE(of_lab.size() == 3);
  for (const auto& tenant : of_lab) CHECK(tenant.at("now").is_object());
  CHECK(fixture.call({.path = "/v1/tenants/guests", .token = lab}).status == 404);
  CHECK(tenants_of(fixture, fixture.service.add_token("viewer", "elsewhere")).empty());
}

TEST_CASE("a token is made only for a tenant that is there, and a tree that lacks one's tenant warns of it") {
  RestFixture fixture(test_options(), "tidal");
  const auto token_for = [&](const std::string& tenant) {
    const json body = {{"name", "ci"}, {"role", "submitter"}, {"tenant", tenant}};
    return Ask{.method = "POST", .path = "/v1/tokens", .token = fixture.admin, .body = body.dump()};
  };
  CHECK(fixture.call(token_for("sea")).status == 201);
  const json set = fixture.json_of(put(fixture, lab_tree()));
  REQUIRE(set.at("warnings").size() == 1);
  CHECK_THAT(set.at("warnings").at(0).get<std::string>(), Contains("(ci) is of the tenant sea"));
  const json refused = fixture.json_of(token_for("river"), 422);
  CHECK(refused.at("errors").at(0).at("pointer") == "/tenant");
  CHECK_THAT(refused.at("errors").at(0).at("message").get<std::string>(), Contains("is no tenant"));
  CHECK(fixture.call(token_for("vision")).status == 201);
}

TEST_CASE("guarantees beyond the pool's slots are taken with a warning") {
  RestFixture fixture(test_options(), "tidal");
  (void)fixture.service.join_node(2);
  const int slots = fixture.service.published()->state.slots_total();
  const auto warnings = [&](int guarantee) {
    const json tree = {{"tenants", {{{"name", "a"}, {"guarantee", guarantee}}, {{"name", "b"}, {"guarantee", 1}}}}};
    return fixture.json_of(put(fixture, tree, "?dry_run=true")).at("warnings");
  };
  CHECK(warnings(slots - 1).empty());
  REQUIRE(warnings(slots + 49).size() == 1);
  CHECK_THAT(warnings(slots + 49).at(0).get<std::string>(),
             Contains(std::to_string(slots + 50) + " slots together, and the pool has " + std::to_string(slots)));
}

TEST_CASE("a budget that would take effect at once is told by the dry run and by the answer, to those who may see it") {
  RestFixture fixture(test_options(), "tidal");
  json tree = lab_tree();
  json& budget = tree["tenants"][0]["tenants"][0]["budget"];
  budget = {{"limit", "100.00"}};
  CHECK(fixture.json_of(put(fixture, tree)).at("warnings").empty());
  fixture.service.join_node(4);
  const JobId job = fixture.submit("vision", 1);
  fixture.service.run_steps(job, 30);
  CHECK(fixture.json_of(put(fixture, tree, "?dry_run=true")).at("warnings").empty());
  budget = {{"limit", "0.0001"}};
  const std::string begins = "the budget of tenant vision takes effect at once: ";
  const auto check = [&](const json& answer) {
    REQUIRE(answer.at("warnings").size() == 1);
    const std::string text = answer.at("warnings").at(0);
    CHECK_THAT(text, StartsWith(begins));
    CHECK_THAT(text, Contains(" of 0.0001 a month are spent, which reaches warn at 80 % (0.00008), pause at 100 % "
                              "(0.0001); of its 1 job 1 is paused (" +
                              job.text()));
  };
  check(fixture.json_of(put(fixture, tree, "?dry_run=true")));
  CHECK_FALSE(fixture.service.published()->state.find_job(job)->hold);
  // An admin of the tenant above is told the same of its part.
  Ask below{.method = "PUT", .path = "/v1/tenants/lab/tenants", .token = fixture.service.add_token("admin", "lab")};
  below.body = json{{"tenants", tree.at("tenants").at(0).at("tenants")}}.dump();
  check(fixture.json_of(below));
  REQUIRE(fixture.service.published()->state.find_job(job)->hold);
  // And what a larger one lets go; a tree without tenants has no budget either.
  budget = {{"limit", "100.00"}};
  const json freed = fixture.json_of(put(fixture, tree, "?dry_run=true")).at("warnings");
  REQUIRE(freed.size() == 1);
  CHECK_THAT(freed.at(0).get<std::string>(), Contains("that it holds now may start or grow (" + job.text()) &&
                                                 Contains("and pause at 100 % (100.00) is reached when 99.99"));
}

TEST_CASE("a guarantee of a type of slots that there is not is told with the types that there are") {
  RestFixture fixture(test_options(), "tidal");
  const json tree = json::parse(R"({"tenants": [
    {"name": "a", "guarantee": 2, "guarantee_by_type": {"h100": 1, "cpu": 1}},
    {"name": "b", "guarantee": 1, "guarantee_by_type": {"h100": 1}},
    {"name": "c", "guarantee": 1, "guarantee_by_type": {"a100": 0}}]})");
  CHECK(fixture.json_of(put(fixture, tree, "?dry_run=true")).at("warnings").empty());  // nothing has joined yet
  fixture.service.join_node(4);
  CHECK(fixture.json_of(put(fixture, tree, "?dry_run=true")).at("warnings") ==
        json::array({"tenants a, b are guaranteed slots of type h100, but no node or pool has slots of type h100; "
                     "known: cpu"}));
}

TEST_CASE("under a policy that sizes each job by itself the tree is kept, and said not to share") {
  RestFixture fixture(test_options(), "fifo");
  const json set = fixture.json_of(put(fixture, lab_tree()));
  REQUIRE(set.at("warnings").size() == 1);
  CHECK_THAT(set.at("warnings").at(0).get<std::string>(), Contains("the policy fifo sizes each job by itself"));
  const json read = fixture.json_of({.path = "/v1/tenants", .token = fixture.admin});
  CHECK(read.at("warnings") == set.at("warnings"));
  CHECK(read.at("tenants").at(0).at("now").at("entitled").is_null());
  CHECK(read.at("tenants").at(0).at("now").at("held") == 0);
  CHECK(fixture.call(submission(fixture, job_file("vision", 5))).status == 422);
  CHECK(fixture.json_of(put(fixture, {{"tenants", json::array()}})).at("warnings").empty());
}

}  // namespace tidepool::test
