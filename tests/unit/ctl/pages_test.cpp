#include "schedctl/pages.hpp"

#include "tests/unit/ctl/examples.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

TEST_CASE("a job's page shows what a user asks first") {
  const std::string text = job_page(example("job.json"), json::array({example("worker.json")}), {.width = 80});
  INFO(text);
  CHECK(widest_line(text) <= 80);
  CHECK(text.find("charlm-demo  job-1  resizing\n") == 0);
  CHECK(text.find("2 workers, changing to 3 (min 1, max 4), generation 2") != std::string::npos);
  CHECK(text.find("step 120 of 400 (30 %), loss 4.52 -> 2.31, 9,120 samples/s") != std::string::npos);
  CHECK(text.find("512 samples per step\n") != std::string::npos);
  CHECK(text.find("gradient noise scale 1,930 samples, statistical efficiency 100 %\n") != std::string::npos);
  CHECK(text.find("0.0042 USD for 15.1 slot-seconds, now 2.00 an hour") != std::string::npos);
  CHECK(text.find("project=demo") != std::string::npos);
  CHECK(text.find("elastic.cooldown 1m (demo)") != std::string::npos);
  CHECK(text.find("w-3") != std::string::npos);
  CHECK(text.find("finished") == std::string::npos);
}

TEST_CASE("a job that has ended shows no rate and no price of the moment") {
  json job = example("job.json");
  job["state"] = "succeeded";
  job["size"] = job["target_size"] = 0;
  job["progress"]["samples_per_second"] = 0.0;
  const std::string text = job_page(job, json::array(), {.width = 80});
  CHECK(text.find("an hour") == std::string::npos);
  CHECK(text.find("loss 4.52 -> 2.31\n") != std::string::npos);
}

TEST_CASE("a program that tells no steps is not shown as one that has done none") {
  json job = example("job.json");
  job["progress"] = {{"step", 0}, {"steps_total", nullptr}};
  const auto page = [&] { return job_page(job, json::array(), {.width = 120}); };
  CHECK(page().find(" step 0\n") != std::string::npos);
  job["spec"]["run"]["resize"] = "restart";
  CHECK(page().find(" not told by its program\n") != std::string::npos);
  job["progress"]["steps_total"] = 20'000;
  CHECK(page().find(" not told by its program, which has 20,000 steps in all\n") != std::string::npos);
  job["started_at"] = nullptr;
  CHECK(page().find(" step 0 of 20,000\n") != std::string::npos);
}

TEST_CASE("a saved state is shown with its node's name, or with its id where the node is gone") {
  json job = example("job.json");
  CHECK(job_page(job, json::array(), {.width = 120}).find("step 100 at 2026-11-20 21:54:10 UTC on n1\n") !=
        std::string::npos);
  job["saved_state"]["node_name"] = nullptr;
  CHECK(job_page(job, json::array(), {.width = 120}).find(" on node-1\n") != std::string::npos);
}

TEST_CASE("a job's page has its times as other pages have them") {
  json job = example("job.json");
  job["submitted_at"] = "2026-11-20T21:50:02.275Z";
  job["finished_at"] = nullptr;
  const std::string text = job_page(job, json::array(), {.width = 120});
  CHECK(text.find("submitted   2026-11-20 21:50:02 UTC\n") != std::string::npos);
  CHECK(text.find("finished") == std::string::npos);
}

TEST_CASE("a wrapped value stays in its column") {
  const std::string text = job_page(example("job.json"), json::array(), {.width = 50});
  INFO(text);
  CHECK(widest_line(text) <= 66);  // the table of sizes has no column that could give way
  CHECK(text.find("why         growing 2 -> 3: the last worker added\n            62 % of") != std::string::npos);
}

TEST_CASE("why begins with the sentence, then evidence and what would change it") {
  const std::string text = why_page(example("explain.json"), {.width = 80});
  INFO(text);
  CHECK(widest_line(text) <= 80);
  CHECK(text.find("job-1 is running: keeps 2 workers: a third worker would add 4 %") == 0);
  const auto evidence = text.find("Evidence\n  - 1 worker: 5,626 samples/s over 40 steps\n");
  const auto change = text.find("What would change it\n  - lower scaling.efficiency_threshold");
  CHECK(evidence != std::string::npos);
  CHECK(change != std::string::npos);
  CHECK(evidence < change);
  CHECK(text.find("Waited\n  - 2026-11-20 21:50:02 to 21:53:20 UTC (3m 18s): waits for 2 slots; 0 are free\n") !=
        std::string::npos);
  CHECK(text.find("  - 3 workers: 3 workers add too little\n") != std::string::npos);
  CHECK(text.find("Its policy wants") == std::string::npos);  // it says what the first line says
  CHECK(text.find("Goes first") == std::string::npos);
}

TEST_CASE("why says a state once") {
  json explanation = example("explain.json");
  explanation["state"] = "failed";
  explanation["summary"] = "failed: its own settings are wrong: w-1 exited with code 2";
  CHECK(why_page(explanation, {.width = 120}).find("job-1 failed: its own settings are wrong: w-1") == 0);
  explanation["summary"] = "ended: it ran longer than 2h";
  CHECK(why_page(explanation, {.width = 120}).find("job-1 failed: ended: it ran longer") == 0);
  explanation["state"] = "cancelled";
  CHECK(why_page(explanation, {.width = 120}).find("job-1 was cancelled: ended: it ran longer") == 0);
}

TEST_CASE("having no slots is no alternative where it is told with the reason of the size that won") {
  json explanation = example("explain.json");
  json none = {{"size", 0}, {"score", 0}, {"reason", explanation.at("reason")}};
  none["reason"]["text"] = "growing 0 -> 4: it gains in utility";
  explanation["alternatives"] = json::array({none});
  CHECK(why_page(explanation, {}).find("Considered and not taken") == std::string::npos);
  explanation["alternatives"][0]["reason"]["code"] = "PriceTooHigh";
  explanation["alternatives"][0]["reason"]["numbers"] = json::object();
  CHECK(why_page(explanation, {}).find("- no slots: it would grow to 4: it gains in utility\n") != std::string::npos);
  explanation["alternatives"][0]["reason"]["numbers"] = {{"from", 0}, {"to", 4}};
  CHECK(why_page(explanation, {}).find("Considered and not taken") == std::string::npos);
}

TEST_CASE("a size that lost is told with how the job would leave it") {
  json explanation = example("explain.json");
  explanation["alternatives"] = json::array({explanation["alternatives"][0]});
  json& lost = explanation["alternatives"][0];
  const auto told = [&](int size, const char* why) {
    lost["size"] = size;
    lost["reason"]["text"] = why;
    return why_page(explanation, {.width = 120});
  };
  CHECK(told(2, "growing 2 -> 3: it gains in utility").find("- 2 workers: it would grow to 3: it gains in utility\n") !=
        std::string::npos);
  CHECK(told(4, "shrinking 4 -> 3: the larger size does not pay").find("- 4 workers: it would shrink to 3: the") !=
        std::string::npos);
  CHECK(told(3, "growing 2 -> 3: it gains in utility").find("- 3 workers: growing 2 -> 3: it gains in utility\n") !=
        std::string::npos);
}

TEST_CASE("a refused job file names line, pointer and hint") {
  FieldLines lines;
  REQUIRE(parse_job_text("name: x\nelastic:\n  min: 8\n  max: 4\nelastc: 1\n", lines).ok());
  const std::string text = problem_text(example("problem.json"), {.file = "job.yaml", .lines = &lines});
  CHECK(text ==
        "The job file has errors: 2 fields need a change\n"
        "  job.yaml:3: /elastic/min: min is 8; it must not exceed max, which is 4\n"
        "  job.yaml:5: /elastc: elastc is not a field here; did you mean \"elastic\"?\n"
        "hint: correct the fields and submit again; nothing was stored");
}

TEST_CASE("what is wrong with a file is told from its top down") {
  FieldLines lines;
  REQUIRE(parse_job_text("name: X\nrun: {}\nelastc: 1\n", lines).ok());
  const auto finding = [](const char* pointer) { return json{{"pointer", pointer}, {"message", "is wrong"}}; };
  const json problem = {{"title", "Errors"}, {"errors", {finding("/run"), finding("/elastc"), finding("/name")}}};
  CHECK(problem_text(problem, {.file = "f", .lines = &lines}) ==
        "Errors\n  f:1: /name: is wrong\n  f:2: /run: is wrong\n  f:3: /elastc: is wrong");
}

TEST_CASE("a hint names the command in the place of the request") {
  const auto hint = [](const char* told) { return problem_text({{"title", "Not found"}, {"hint", told}}); };
  CHECK(hint("GET /v1/jobs lists the jobs that this token may see") ==
        "Not found\nhint: schedctl ls lists the jobs that this token may see");
  CHECK(hint("GET /v1/tokens lists them") == "Not found\nhint: schedctl token ls lists them");
  CHECK(hint("GET /v1/jobs/job-1/workers lists those alive, as does: schedctl get job-1") ==
        "Not found\nhint: GET /v1/jobs/job-1/workers lists those alive, as does: schedctl get job-1");
}

TEST_CASE("a problem of one field whose finding is its detail says it once") {
  const std::string said = "size is 9; this job allows 1, 2 and 4, or 0 to let the policy choose";
  json problem = {{"title", "No such size"}, {"detail", said}};
  problem["errors"] = {{{"pointer", "/size"}, {"code", "OutOfRange"}, {"message", said}}};
  CHECK(problem_text(problem) == "No such size: " + said);
  CHECK(problem_text(problem, {.file = "job.yaml"}) == "No such size\n  job.yaml: /size: " + said);
}

TEST_CASE("a problem without fields is one line") {
  CHECK(problem_text({{"title", "Not found"}, {"detail", "no job job-9"}}) == "Not found: no job job-9");
}

}  // namespace
}  // namespace tidepool::ctl
