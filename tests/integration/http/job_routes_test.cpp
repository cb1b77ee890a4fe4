#include <set>

#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/support/rest_fixture.hpp"

namespace tidepool::test {
namespace {

using nlohmann::json;

const char* kJob =
    R"({"name":"a-job","run":{"trainer":"charlm","args":{"data":"x","steps":400}},"elastic":{"min":1,"max":4,"preferred":2}})";

TEST_CASE("a submitted job is stored, started, and shown with its place and its defaults") {
  RestFixture fixture;
  fixture.service.join_node(4);
  auto response = fixture.call({.method = "POST", .path = "/v1/jobs", .token = fixture.admin, .body = kJob});
  REQUIRE(response.status == 201);
  CHECK(response.headers["location"] == "/v1/jobs/job-1");
  CHECK(response.headers["etag"].size() == 18);
  const json job = json::parse(response.body);
  CHECK(job.at("id") == "job-1");
  CHECK(job.at("state") == "starting");
  CHECK(job.at("spec").at("elastic").at("cooldown") == "20s");
  CHECK(job.at("progress").at("steps_total") == 400);
  CHECK(job.at("progress").at("loss").is_null());
  CHECK(!job.at("reason").at("text").get<std::string>().empty());
}

TEST_CASE("the answer to a submission says of a job that cannot start why") {
  RestFixture fixture;
  fixture.service.join_node(4);
  const char* large = R"({"run":{"trainer":"mlp","args":{"data":"x.csv"}},"elastic":{"min":9,"max":9}})";
  const json job = fixture.json_of({.method = "POST", .path = "/v1/jobs", .token = fixture.admin, .body = large}, 201);
  CHECK(job.at("state") == "pending");
  CHECK(job.at("reason").at("text") == "cannot start: it needs 9 slots, and the whole cluster has room for 4");
}

TEST_CASE("errors of a job file come all at once, with pointers, and nothing is stored") {
  RestFixture fixture;
  const char* body =
      R"({"nmae":"x","run":{"trainer":"charm"},"elastic":{"min":4,"max":2},"scaling":{"policy":"best"},
          "straggler":{"detector":"zscore"}})";
  const json problem =
      fixture.json_of({.method = "POST", .path = "/v1/jobs", .token = fixture.admin, .body = body}, 422);
  CHECK(problem.at("code") == "InvalidJob");
  CHECK(problem.at("title") == "The job file has errors");
  std::set<std::string> pointers;
  for (const auto& error : problem.at("errors")) pointers.insert(error.at("pointer"));
  CHECK(pointers ==
        std::set<std::string>{"/nmae", "/run/trainer", "/elastic/min", "/scaling/policy", "/straggler/detector"});
  CHECK(fixture.json_of({.path = "/v1/jobs", .token = fixture.admin}).at("items").empty());
}

TEST_CASE("a policy that plans for all jobs at once is refused as one of a single job") {
  RestFixture fixture;
  const char* body = R"({"run":{"trainer":"charlm","args":{"data":"x"}},"scaling":{"policy":"tidal"}})";
  const json problem =
      fixture.json_of({.method = "POST", .path = "/v1/jobs", .token = fixture.admin, .body = body}, 422);
  REQUIRE(problem.at("errors").size() == 1);
  CHECK(problem.at("errors")[0].at("pointer") == "/scaling/policy");
  CHECK(problem.at("errors")[0].at("message") ==
        "tidal plans for all jobs at once and cannot size one alone; a job may name one of default, "
        "autoscaling_engine, fifo, fixed; what plans for all is chosen with schedulerd --policy");
  const Ask submit{.method = "POST", .path = "/v1/jobs", .token = fixture.admin, .body = kJob};
  REQUIRE(fixture.call(submit).status == 201);
  const Ask change{
      .method = "PATCH", .path = "/v1/jobs/job-1", .token = fixture.admin, .body = R"({"scaling":{"policy":"tidal"}})"};
  CHECK(fixture.json_of(change, 422).at("errors")[0].at("pointer") == "/scaling/policy");
}

TEST_CASE("a body that is no JSON is refused with the place of the error") {
  RestFixture fixture;
  for (const char* body :
       {"{", "nope", R"({"a":1,"a":2})", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]", "{\"a\":\"\xff\"}"}) {
    const json problem =
        fixture.json_of({.method = "POST", .path = "/v1/jobs", .token = fixture.admin, .body = body}, 400);
    CHECK(problem.at("code") == "BadJson");
  }
  const json empty = fixture.json_of({.method = "POST", .path = "/v1/jobs", .token = fixture.admin}, 400);
  CHECK(empty.at("code") == "MissingBody");
}

Ask yaml_job(const RestFixture& fixture, const std::string& path, const std::string& body) {
  return {.method = "POST",
          .path = path,
          .token = fixture.admin,
          .body = body,
          .headers = "",
          .type = "application/yaml; charset=utf-8"};
}

TEST_CASE("a job file is taken as YAML, where it is submitted, tried and planned") {
  RestFixture fixture(test_options(), "fifo");
  fixture.service.join_node(4);
  const std::string file =
      "# mine\nname: a-job\nrun:\n  trainer: charlm\n  args: {data: a.txt, steps: 400}\nelastic: {min: 1, max: 4}\n";
  CHECK(fixture.json_of(yaml_job(fixture, "/v1/plan", file)).at("name") == "a-job");
  CHECK(fixture.json_of(yaml_job(fixture, "/v1/jobs?dry_run=true", file)).at("dry_run") == true);
  const json job = fixture.json_of(yaml_job(fixture, "/v1/jobs", file), 201);
  CHECK(job.at("spec").at("run").at("args") == json{{"data", "a.txt"}, {"steps", 400}});
  CHECK(job.at("spec").at("elastic").at("max") == 4);
}

TEST_CASE("findings in a YAML job file name their lines, and what is no YAML names its own") {
  const RestFixture fixture;
  const std::string file =
      "name: x\nrun: {trainer: charlm, args: {data: a.txt}}\nelastic:\n  min: 8\n  max: 4\nelastc: 1\n";
  const json problem = fixture.json_of(yaml_job(fixture, "/v1/plan", file), 422);
  std::set<std::pair<std::string, int>> lines;
  for (const auto& error : problem.at("errors")) lines.emplace(error.at("pointer"), error.at("line"));
  CHECK(lines == std::set<std::pair<std::string, int>>{{"/elastic/min", 4}, {"/elastc", 6}});
  const json broken = fixture.json_of(yaml_job(fixture, "/v1/jobs", "name: x\nrun: {trainer: [\n"), 400);
  CHECK(broken.at("code") == "BadYaml");
  CHECK(broken.at("detail").get<std::string>().starts_with("line "));
  CHECK(fixture.json_of(yaml_job(fixture, "/v1/jobs", "name: a\nname: b\n"), 400).at("detail") ==
        "line 2: the field \"name\" appears twice; keep one of them");
}

TEST_CASE("a YAML job file is no larger than what is read between two other requests") {
  const RestFixture fixture;
  const std::string large = "run: {trainer: charlm}\n#" + std::string(64U * 1024U, 'x') + "\n";
  const json problem = fixture.json_of(yaml_job(fixture, "/v1/jobs", large), 413);
  CHECK(problem.at("code") == "BadYaml");
  CHECK(problem.at("hint") == "send it as JSON, which may be larger");
}

TEST_CASE("JSON names no lines, and other bodies than job files are not taken as YAML") {
  const RestFixture fixture;
  const Ask ask{.method = "POST", .path = "/v1/jobs", .token = fixture.admin, .body = R"({"nmae":"x"})"};
  const json problem = fixture.json_of(ask, 422);
  for (const auto& error : problem.at("errors")) CHECK(!error.contains("line"));
  for (const char* path : {"/v1/jobs:batch", "/v1/tokens", "/v1/maintenance"}) {
    INFO(path);
    CHECK(fixture.json_of(yaml_job(fixture, path, "name: x\n"), 415).at("code") == "NotJson");
  }
}

TEST_CASE("a repeated submission with the same key gives the first job again") {
  RestFixture fixture;
  const Ask ask{.method = "POST",
                .path = "/v1/jobs",
                .token = fixture.admin,
                .body = kJob,
                .headers = "Idempotency-Key: k-1\r\n"};
  const auto first = fixture.call(ask);
  auto again = fixture.call(ask);
  CHECK(first.status == 201);
  CHECK(again.status == 201);
  CHECK(again.headers["idempotent-replayed"] == "true");
  CHECK(json::parse(first.body).at("id") == json::parse(again.body).at("id"));
  CHECK(fixture.service.commands_carried_out() == 1);

  Ask other = ask;
  other.body = R"({"run":{"trainer":"mlp","args":{"data":"x.csv"}}})";
  CHECK(fixture.call(other).status == 409);
  other.token = fixture.service.add_token("submitter");
  CHECK(fixture.call(other).status == 201);  // keys of different tokens never meet
  Ask bad = ask;
  bad.headers = "Idempotency-Key: two words\r\n";
  CHECK(fixture.json_of(bad, 400).at("code") == "BadIdempotencyKey");
  bad.headers = "Idempotency-Key:\r\n";  // from a script whose variable is empty: it would store twice
  CHECK(fixture.json_of(bad, 400).at("code") == "BadIdempotencyKey");
}

TEST_CASE("a request whose path says all takes no fields") {
  RestFixture fixture;
  const std::string path = "/v1/jobs/" + fixture.submit().text() + "/suspend";
  const auto post = [&](const std::string& body, int status) {
    return fixture.json_of({.method = "POST", .path = path, .token = fixture.admin, .body = body}, status);
  };
  const json refused = post(R"({"until": "tomorrow"})", 422);
  CHECK(refused.at("code") == "UnknownField");
  CHECK(refused.at("errors").at(0).at("pointer") == "/until");
  CHECK(post("[", 400).at("code") == "BadJson");
  CHECK(fixture.service.commands_carried_out() == 1);
  CHECK(post("{}", 200).at("id") == "job-1");
}

TEST_CASE("what was not taken says so only where something would have been stored") {
  const Error away{ErrorCode::kUnavailable, "the agent of n1 is away"};
  CHECK(live::http::problem_of(away).hint == "try again in a second");
  CHECK(live::http::problem_of_change(away).hint == "try again in a second; nothing was stored");
}

TEST_CASE("a dry run says what would happen and stores nothing") {
  RestFixture fixture;
  const auto dry = [&](const char* body) {
    return fixture.json_of({.method = "POST", .path = "/v1/jobs?dry_run=true", .token = fixture.admin, .body = body});
  };
  CHECK(dry(kJob).at("reason").at("code") == "NoNodes");
  fixture.service.join_node(4);
  const json job = dry(kJob);
  CHECK(job.at("dry_run") == true);
  CHECK(job.at("id").is_null());
  CHECK(job.at("reason").at("code") == "Started");
  CHECK(
      dry(R"({"run":{"trainer":"mlp","args":{"data":"x.csv"}},"elastic":{"min":8,"max":8}})").at("reason").at("code") ==
      "NeverFits");
  const JobId id = fixture.submit();
  const json resized = fixture.json_of({.method = "POST",
                                        .path = "/v1/jobs/" + id.text() + "/resize?dry_run=true",
                                        .token = fixture.admin,
                                        .body = R"({"size":3})"});
  CHECK(resized.at("pinned_size") == 3);
  const json cancelled =
      fixture.json_of({.method = "DELETE", .path = "/v1/jobs/" + id.text() + "?dry_run=true", .token = fixture.admin});
  CHECK(cancelled.at("would").get<std::string>().find("cancelled") != std::string::npos);
  CHECK(fixture.service.commands_carried_out() == 1);
  CHECK(fixture.json_of({.path = "/v1/jobs/" + id.text(), .token = fixture.admin}).at("pinned_size").is_null());
}

TEST_CASE("a dry run of a resize says what the engine would make of it now") {
  RestFixture fixture(test_options(), "fixed");
  fixture.service.join_node(4);
  const json file = {{"run", {{"trainer", "mlp"}, {"args", {{"data", "x.csv"}}}}},
                     {"elastic", {{"min", 1}, {"max", 4}, {"preferred", 1}, {"cooldown", "0s"}}}};
  const json job =
      fixture.json_of({.method = "POST", .path = "/v1/jobs", .token = fixture.admin, .body = file.dump()}, 201);
  const std::string path = "/v1/jobs/" + job.at("id").get<std::string>();
  fixture.service.run_steps(JobId(1), 30);
  const auto decided_on = [&](int size) {
    const json told = fixture.json_of({.method = "POST",
                                       .path = path + "/resize?dry_run=true",
                                       .token = fixture.admin,
                                       .body = json{{"size", size}}.dump()});
    CHECK(told.at("size") == 1);  // the job as it is
    CHECK(told.at("pinned_size") == size);
    return told.at("decision");
  };
  const json grows = decided_on(3);
  INFO(grows.dump(1));
  CHECK(grows.at("starts") == true);
  CHECK(grows.at("size") == 3);
  CHECK(grows.at("summary") == "going 1 -> 3, as requested");
  REQUIRE(grows.at("places").size() == 1);
  CHECK(grows.at("places").at(0).at("workers") == 2);
  CHECK(grows.at("changes").empty());
  CHECK(decided_on(1).at("starts") == false);
  CHECK(fixture.json_of({.path = path, .token = fixture.admin}).at("pinned_size").is_null());
}

// What the dry run of a submission says, and what the submission then does.
struct Submitted {
  json foreseen;
  json job;
  json why;
};
Submitted submit_twice(RestFixture& fixture, const json& file) {
  const auto post = [&](const char* query, int status) {
    return fixture.json_of(
        {.method = "POST", .path = std::string("/v1/jobs") + query, .token = fixture.admin, .body = file.dump()},
        status);
  };
  const json foreseen = post("?dry_run=true", 200);
  const json job = post("", 201);
  const std::string path = "/v1/jobs/" + job.at("id").get<std::string>();
  return {foreseen, job, fixture.json_of({.path = path + "/explain", .token = fixture.admin})};
}

TEST_CASE("a dry run decides as the submission that follows it") {
  for (const char* policy : {"autoscaling_engine", "tidal", "las"}) {
    INFO(policy);
    RestFixture fixture(test_options(), policy);
    fixture.service.join_node(3);
    fixture.service.join_node(1);
    const auto file = [](int min, int max, int priority) {
      return json{{"run", {{"trainer", "mlp"}, {"args", {{"data", "x.csv"}}}}},
                  {"priority", priority},
                  {"elastic", {{"min", min}, {"max", max}, {"preferred", max}, {"cooldown", "0s"}}}};
    };
    for (const json& each : {file(2, 4, 0), file(1, 2, 0), file(4, 4, 0), file(2, 2, 20), file(9, 9, 0)}) {
      const std::size_t before = fixture.service.published()->state.jobs.size();
      const auto [foreseen, job, why] = submit_twice(fixture, each);
      INFO(foreseen.dump(1) << job.dump(1));
      const json& decision = foreseen.at("decision");
      CHECK(foreseen.at("reason") == job.at("reason"));
      CHECK(foreseen.at("state") == job.at("state"));
      CHECK(decision.at("summary") == why.at("summary"));
      CHECK(decision.at("starts") == (job.at("state") == "starting"));
      CHECK(fixture.service.published()->state.jobs.size() == before + 1);
      int workers = 0;
      for (const auto& place : decision.at("places")) workers += place.at("workers").get<int>();
      const auto held =
          fixture.json_of({.path = "/v1/jobs/" + job.at("id").get<std::string>() + "/workers", .token = fixture.admin});
      CHECK(workers == static_cast<int>(held.at("items").size()));
      CHECK(decision.at("size") == workers);
    }
  }
}

TEST_CASE("a dry run gives the evidence that the explanation of the job gives then") {
  RestFixture fixture(test_options(), "tidal");
  fixture.service.join_node(4);
  const json file = {{"run", {{"trainer", "mlp"}, {"args", {{"data", "x.csv"}}}}},
                     {"resources", {{"gpu", {{"type", {"h100"}}}}}}};
  const auto [foreseen, job, why] = submit_twice(fixture, file);
  const json& evidence = foreseen.at("decision").at("evidence");
  INFO(evidence.dump(1));
  CHECK(evidence == why.at("evidence"));
  CHECK(std::find(evidence.begin(), evidence.end(), "it takes slots of type h100; cpu is not in its list") !=
        evidence.end());
}

TEST_CASE("a dry run says which jobs would give up slots, and the submission takes them from these") {
  RestFixture fixture(test_options(), "tidal");
  fixture.service.join_node(4);
  const auto file = [](int priority) {
    return json{{"run", {{"trainer", "mlp"}, {"args", {{"data", "x.csv"}}}}},
                {"priority", priority},
                {"elastic", {{"min", 4}, {"max", 4}, {"cooldown", "0s"}}}};
  };
  const json running = submit_twice(fixture, file(0)).job;
  const JobId first = JobId::parse(running.at("id").get<std::string>()).value();
  fixture.service.run_steps(first, 30);
  const json urgent = file(20);
  const auto [foreseen, job, why] = submit_twice(fixture, urgent);
  INFO(foreseen.dump(1));
  const json& changes = foreseen.at("decision").at("changes");
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].at("job") == first.text());
  const std::string kind = changes[0].at("kind");
  const json decisions = fixture.json_of({.path = "/v1/jobs/" + first.text() + "/decisions", .token = fixture.admin});
  std::vector<std::string> kinds;
  for (const auto& intent : decisions.at("items").at(0).at("intents")) {
    if (intent.at("job") == first.text()) kinds.push_back(intent.at("kind"));
  }
  CHECK(std::find(kinds.begin(), kinds.end(), kind) != kinds.end());
}

TEST_CASE("pages of jobs neither skip nor repeat, newest first") {
  RestFixture fixture;
  for (int i = 0; i < 7; ++i) fixture.submit(i % 2 == 0 ? "even" : "odd");
  std::vector<std::string> seen;
  std::string cursor;
  do {
    const json page = fixture.json_of({.path = "/v1/jobs?limit=3" + cursor, .token = fixture.admin});
    for (const auto& job : page.at("items")) seen.push_back(job.at("id"));
    if (seen.size() == 3) fixture.submit();  // a new job does not shift the pages
    cursor = page.at("next_cursor").is_null() ? "" : "&cursor=" + page.at("next_cursor").get<std::string>();
  } while (!cursor.empty());
  CHECK(seen == std::vector<std::string>{"job-7", "job-6", "job-5", "job-4", "job-3", "job-2", "job-1"});
  const json exact = fixture.json_of({.path = "/v1/jobs?limit=8", .token = fixture.admin});
  CHECK(exact.at("items").size() == 8);
  CHECK(exact.at("next_cursor").is_null());
  CHECK(fixture.json_of({.path = "/v1/jobs?tenant=odd", .token = fixture.admin}).at("items").size() == 3);
  CHECK(fixture.json_of({.path = "/v1/jobs?state=pending,running", .token = fixture.admin}).at("items").size() == 8);
  CHECK(fixture.json_of({.path = "/v1/jobs?state=failed", .token = fixture.admin}).at("items").empty());
}

TEST_CASE("an unknown query parameter is refused with what is known") {
  RestFixture fixture;
  for (const char* path :
       {"/v1/jobs?limt=3", "/v1/jobs?limit=0", "/v1/jobs?limit=1001", "/v1/jobs?limit=ten", "/v1/jobs?cursor=x",
        "/v1/jobs?cursor=nodes.3", "/v1/jobs?state=sleeping", "/v1/nodes?state=up", "/v1/events?after=-1",
        "/v1/jobs/job-1?x=1", "/v1/events/stream?after=abc"}) {
    INFO(path);
    CHECK(fixture.call({.path = path, .token = fixture.admin}).status == 400);
  }
  const json typo = fixture.json_of({.path = "/v1/jobs?limt=3", .token = fixture.admin}, 400);
  CHECK(typo.at("detail").get<std::string>().find("did you mean \"limit\"") != std::string::npos);
}

TEST_CASE("unknown paths and methods are told apart") {
  RestFixture fixture;
  const json nothing = fixture.json_of({.path = "/v1/nothing", .token = fixture.admin}, 404);
  CHECK(nothing.at("hint").get<std::string>().find("schedctl --version") != std::string::npos);
  CHECK(fixture.call({.path = "/v1/jobs/17", .token = fixture.admin}).status == 404);
  CHECK(fixture.call({.path = "/v1/jobs/job-01", .token = fixture.admin}).status == 404);
  auto response = fixture.call({.method = "PUT", .path = "/v1/jobs", .token = fixture.admin});
  CHECK(response.status == 405);
  CHECK(json::parse(response.body).at("hint") == "it takes GET, HEAD, POST");
  CHECK(response.headers["allow"] == "GET, HEAD, POST");
  auto head = fixture.call({.method = "HEAD", .path = "/v1/jobs", .token = fixture.admin});
  CHECK(head.status == 200);
  CHECK(std::stoi(head.headers["content-length"]) > 0);
}

TEST_CASE("resize, suspend, resume and cancel reach the engine") {
  RestFixture fixture;
  fixture.service.join_node(4);
  const JobId id = fixture.submit();
  fixture.service.run_steps(id, 3);
  const std::string path = "/v1/jobs/" + id.text();
  const auto post = [&](const std::string& action, const std::string& body = "") {
    return fixture.call({.method = "POST", .path = path + action, .token = fixture.admin, .body = body});
  };
  CHECK(json::parse(post("/resize", R"({"size":3})").body).at("pinned_size") == 3);
  CHECK(json::parse(post("/resize", R"({"size":0})").body).at("pinned_size").is_null());
  for (const char* size : {"9", "5000", "-1"}) {
    const auto refused = post("/resize", std::string(R"({"size":)") + size + "}");
    CHECK(refused.status == 422);
    CHECK(json::parse(refused.body).at("detail").get<std::string>().find(", or 0 to let the policy choose") !=
          std::string::npos);
  }
  CHECK(post("/resize", R"({"sise":2})").status == 422);
  CHECK(post("/resize", R"({})").status == 422);
  CHECK(post("/resize").status == 400);
  CHECK(post("/resume").status == 409);  // it is not suspended
  CHECK(post("/suspend").status == 200);
  CHECK(fixture.call({.method = "DELETE", .path = path, .token = fixture.admin}).status == 200);
}

TEST_CASE("If-Match lets a change through only while the job is as it was read") {
  RestFixture fixture;
  const JobId id = fixture.submit();
  const std::string path = "/v1/jobs/" + id.text();
  const std::string etag = fixture.call({.path = path, .token = fixture.admin}).headers["etag"];
  Ask change{.method = "POST",
             .path = path + "/resize",
             .token = fixture.admin,
             .body = R"({"size":2})",
             .headers = "If-Match: " + etag + "\r\n"};
  CHECK(fixture.call(change).status == 200);
  CHECK(fixture.json_of(change, 412).at("code") == "Changed");
  change.headers = "If-Match: *\r\n";
  CHECK(fixture.call(change).status == 200);
}

TEST_CASE("a change may say that it is a merge patch, and nothing else may") {
  RestFixture fixture;
  const std::string path = "/v1/jobs/" + fixture.submit().text();
  const auto send = [&](const char* method, const std::string& to, const char* body) {
    return fixture.call(
        {.method = method, .path = to, .token = fixture.admin, .body = body, .type = "application/merge-patch+json"});
  };
  CHECK(send("PATCH", path, R"({"priority":3})").status == 200);
  CHECK(send("POST", path + "/resize", R"({"size":2})").status == 415);
  CHECK(fixture.json_of({.path = path, .token = fixture.admin}).at("priority") == 3);
}

TEST_CASE("a retry with its key gets the first answer though its If-Match holds no more") {
  RestFixture fixture;
  const std::string path = "/v1/jobs/" + fixture.submit().text();
  const std::string etag = fixture.call({.path = path, .token = fixture.admin}).headers["etag"];
  const auto change = [&](const std::string& key, const char* body, const char* query = "") {
    return fixture.call({.method = "PATCH",
                         .path = path + query,
                         .token = fixture.admin,
                         .body = body,
                         .headers = "If-Match: " + etag + "\r\nIdempotency-Key: " + key + "\r\n"});
  };
  const auto code_of = [](const auto& response) { return json::parse(response.body).at("code"); };
  CHECK(change("first", R"({"priority":3})").status == 200);
  auto again = change("first", R"({"priority":3})");
  CHECK(again.status == 200);
  CHECK(again.headers["idempotent-replayed"] == "true");
  // Others are refused as without a key, and have not used theirs.
  CHECK(code_of(change("second", R"({"priority":4})")) == "Changed");
  CHECK(code_of(change("second", R"({"name":"other"})")) == "Changed");
  CHECK(code_of(change("first", R"({"priority":3})", "?dry_run=true")) == "Changed");
  CHECK(code_of(change("first", R"({"priority":4})")) == "Conflict");
  CHECK(fixture.json_of({.path = path, .token = fixture.admin}).at("priority") == 3);
}

TEST_CASE(
    "a job that is changed between a request and its command keeps both changes, or If-Match refuses the second") {
  RestFixture fixture;
  const JobId id = fixture.submit();
  const std::string path = "/v1/jobs/" + id.text();
  const auto label_first = [&](const char* name) {
    fixture.service.before_next_command([&fixture, id, name] {
      live::Command other{.body = leader::ChangeJob{id, {{"labels", {{name, "x"}}}}}, .actor = "t", .idempotency = {}};
      fixture.service.submit(std::move(other), [](const Result<live::Receipt>& taken) { REQUIRE(taken.ok()); });
    });
  };
  Ask change{.method = "PATCH", .path = path, .token = fixture.admin, .body = R"({"priority":3})"};
  label_first("first");
  const json both = fixture.json_of(change).at("spec");
  CHECK(both.at("priority") == 3);
  CHECK(both.at("labels").contains("first"));

  change.body = R"({"priority":4})";
  change.headers = "If-Match: " + fixture.call({.path = path, .token = fixture.admin}).headers["etag"] + "\r\n";
  label_first("second");
  CHECK(fixture.json_of(change, 412).at("code") == "Changed");
  const json after = fixture.json_of({.path = path, .token = fixture.admin}).at("spec");
  CHECK(after.at("priority") == 3);
  CHECK(after.at("labels").contains("second"));
}

TEST_CASE("conditions are lists of tags in quotes, and what is malformed is not taken for none") {
  RestFixture fixture;
  const std::string path = "/v1/jobs/" + fixture.submit().text();
  const std::string etag = fixture.call({.path = path, .token = fixture.admin}).headers["etag"];
  const auto resize = [&](const std::string& headers) {
    return fixture.call({.method = "POST",
                         .path = path + "/resize",
                         .token = fixture.admin,
                         .body = R"({"size":0})",
                         .headers = headers});
  };
  CHECK(resize("If-Match: \"a\", " + etag + "\r\n").status == 200);
  CHECK(resize("If-Match: \"a\"\r\nIf-Match:" + etag + "\r\n").status == 200);
  CHECK(resize("If-Match: \"a\", \"b\"\r\n").status == 412);
  CHECK(resize("If-Match: W/" + etag + "\r\n").status == 412);
  const std::string bare = etag.substr(1, etag.size() - 2);
  for (const std::string& bad : {std::string(), bare, "\"" + bare, etag + " " + etag, "*, " + etag, std::string(",")}) {
    INFO(bad);
    const auto refused = resize("If-Match: " + bad + "\r\n");
    CHECK(refused.status == 400);
    CHECK(json::parse(refused.body).at("code") == "BadCondition");
  }
  for (const char* settings : {"/v1/tenants", "/v1/prices"}) {
    CHECK(fixture
              .call({.method = "PUT",
                     .path = settings,
                     .token = fixture.admin,
                     .body = settings == std::string("/v1/prices") ? R"({"rules":[]})" : R"({"tenants":[]})",
                     .headers = "If-Match:\r\n"})
              .status == 400);
  }
}

TEST_CASE("a change says which field is none, and its dry run has the ETag to change with") {
  RestFixture fixture;
  const std::string path = "/v1/jobs/" + fixture.submit().text();
  const auto change = [&](const std::string& query, const char* body) {
    return fixture.call({.method = "PATCH", .path = path + query, .token = fixture.admin, .body = body});
  };
  const auto error = [&](const char* body) { return json::parse(change("", body).body).at("errors").at(0); };
  const json unknown = error(R"({"elastc":{"max":3}})");
  CHECK(unknown.at("code") == "UnknownField");
  CHECK(unknown.at("message").get<std::string>().find("did you mean \"elastic\"?") != std::string::npos);
  CHECK(error(R"({"batch":{"global":3}})").at("code") == "Unchangeable");
  auto dry = change("?dry_run=true", R"({"elastic":{"max":3}})");
  CHECK(dry.status == 200);
  CHECK(dry.headers["etag"] == fixture.call({.path = path, .token = fixture.admin}).headers["etag"]);
}

TEST_CASE("a limit that a job has passed does not end it, and the dry run says so") {
  RestFixture fixture;
  fixture.service.join_node(4);
  const JobId id = fixture.submit();
  fixture.service.run_steps(id, 5);
  for (int i = 0; i < 5; ++i) fixture.service.join_node(1);  // each call is a second
  for (const char* query : {"?dry_run=true", ""}) {
    const json refused = fixture.json_of({.method = "PATCH",
                                          .path = "/v1/jobs/" + id.text() + query,
                                          .token = fixture.admin,
                                          .body = R"({"limits":{"max_duration":"1s"}})"},
                                         409);
    INFO(refused.dump());
    CHECK(refused.at("detail").get<std::string>().find("would end it at once") != std::string::npos);
  }
  CHECK(fixture.json_of({.path = "/v1/jobs/" + id.text(), .token = fixture.admin}).at("state") != "failed");
}

TEST_CASE("a job is answered with its file as it is now, in canonical JSON, however often it is asked for") {
  RestFixture fixture;
  const JobId id = fixture.submit();
  const std::string path = "/v1/jobs/" + id.text();
  const auto answer = [&] { return fixture.call({.path = path, .token = fixture.admin}).body; };
  const std::string first = answer();
  CHECK(first == json::parse(first).dump());
  CHECK(answer() == first);
  const Ask change{
      .method = "PATCH", .path = path, .token = fixture.admin, .body = R"({"labels":{"team":"rivers/x"}})"};
  const std::string changed = fixture.call(change).body;
  CHECK(json::parse(changed).at("spec").at("labels").at("team") == "rivers/x");
  CHECK(json::parse(changed).at("labels") == json::parse(changed).at("spec").at("labels"));
  CHECK(answer() == changed);
}

TEST_CASE("a full queue is told to come back, and nothing is stored") {
  RestFixture fixture;
  fixture.service.refuse_commands(true);
  auto response = fixture.call({.method = "POST", .path = "/v1/jobs", .token = fixture.admin, .body = kJob});
  CHECK(response.status == 503);
  CHECK(response.headers["retry-after"] == "1");
  CHECK(json::parse(response.body).at("retryable") == true);
  CHECK(fixture.service.commands_carried_out() == 0);
}

TEST_CASE("a change or a size that cannot be read is refused with the place that is wrong") {
  const RestFixture fixture;
  const std::string job = "/v1/jobs/" + fixture.submit().text();
  const auto finding = [&](const char* method, const std::string& path, const char* body) {
    return fixture.json_of({.method = method, .path = path, .token = fixture.admin, .body = body}, 422)
        .at("errors")
        .at(0);
  };
  for (const char* change : {"[]", "{}", "5"}) CHECK(finding("PATCH", job, change).at("pointer") == "");
  const json huge = finding("POST", job + "/resize", R"({"size":99999999999})");
  CHECK(huge.at("pointer") == "/size");
  CHECK(huge.at("message") == "size is 99999999999; this job allows 1, 2, 3, 4, or 0 to let the policy choose");
}

}  // namespace
}  // namespace tidepool::test
