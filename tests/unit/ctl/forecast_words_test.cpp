#include <catch2/catch.hpp>

#include <utility>

#include <nlohmann/json.hpp>

#include "schedctl/forecast_words.hpp"
#include "schedctl/pages.hpp"
#include "schedctl/tables.hpp"
#include "tests/unit/ctl/examples.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

TEST_CASE("a forecast is told with its interval and with what it rests on") {
  const json plan = example("plan.json");
  CHECK(forecast_in_words(plan.at("forecast")) ==
        "expected to start at about 22:10 UTC (between 22:04 and 22:21), when job-3 releases some of its slots, and to "
        "end "
        "at about 23:40 UTC (between 23:20 and 2026-11-21 00:25), from how long similar jobs took");
  CHECK(forecast_cell(plan.at("forecast"), "") == "starts 22:10");
  const json job = example("job.json");
  CHECK(forecast_in_words(job.at("forecast")) ==
        "expected to end at about 22:10 UTC (between 22:05 and 22:21), from the work that it declares");
  CHECK(forecast_cell(job.at("forecast"), "") == "ends 22:10");
}

TEST_CASE("a forecast says whose slots a job waits for, until the time has come") {
  json forecast = example("plan.json").at("forecast");
  forecast["end"] = nullptr;
  const auto says = [&](const json& after, const char* now = "") {
    forecast["starts_after"] = after;
    return job_forecast_in_words(forecast, "pending", now);
  };
  const std::string start = "expected to start at about 22:10 UTC (between 22:04 and 22:21)";
  CHECK(says({{"job", "job-7"}, {"how", "ends"}}) == start + ", when job-7 ends; its end is unknown");
  CHECK(says({{"job", "a job of another tenant"}, {"how", "gives_up_all"}}) ==
        start + ", when a job of another tenant releases its slots; its end is unknown");
  CHECK(says(nullptr) == start + "; its end is unknown");
  CHECK(says({{"job", "job-7"}, {"how", "ends"}}, "2026-11-20T22:15:00Z").find("job-7") == std::string::npos);
}

TEST_CASE("a forecast says for which jobs others will take slots of one that runs") {
  json forecast = example("job.json").at("forecast");
  forecast["sizes"] = {{{"at", "2026-11-20T21:53:24Z"}, {"size", 4}},
                       {{"at", "2026-11-20T22:00:00Z"}, {"size", 2}, {"taken_for", "job-9"}, {"taken_for_others", 1}},
                       {{"at", "2026-11-20T22:05:00Z"}, {"size", 0}, {"taken_for", "job-8"}, {"taken_for_others", 0}}};
  const auto says = [&](const char* now) { return job_forecast_in_words(forecast, "running", now); };
  CHECK(says("").find("; at about 22:00 UTC slots of it go to job-9 and 1 more job, and it continues with 2 workers") !=
        std::string::npos);
  CHECK(says("2026-11-20T22:01:00Z").find("; at about 22:05 UTC slots of it go to job-8, and it waits again") !=
        std::string::npos);
  CHECK(says("2026-11-20T22:06:00Z").find("slots of it go") == std::string::npos);
}

TEST_CASE("what is not known is not told") {
  CHECK(forecast_in_words(nullptr).empty());
  CHECK(forecast_cell(nullptr, "") == "-");
  json forecast = example("plan.json").at("forecast");
  forecast["end"] = nullptr;
  forecast["basis"] = "unknown";
  CHECK(forecast_in_words(forecast).ends_with("; its end is unknown"));
  for (const char* what : {"start", "slots_at"}) forecast[what] = nullptr;
  forecast["not_before"] = "2026-11-27T21:53:24.120Z";
  CHECK(forecast_in_words(forecast) == "the forecast looks 7 days ahead and sees no end");
  CHECK(forecast_cell(forecast, "") == "-");
}

TEST_CASE("of a job that has started no start is forecast") {
  json forecast = example("plan.json").at("forecast");
  forecast["end"] = nullptr;
  forecast["not_before"] = nullptr;
  CHECK(job_forecast_in_words(forecast, "pending", "").starts_with("expected to start"));
  CHECK(job_forecast_in_words(forecast, "running", "") == "its end is unknown");
  CHECK(job_forecast_in_words(nullptr, "running", "").empty());
}

TEST_CASE("the end of the time that is looked ahead is not told as a date") {
  json forecast = example("plan.json").at("forecast");
  for (const char* what : {"start", "slots_at", "end"}) forecast[what] = nullptr;
  forecast["basis"] = "kin";
  forecast["not_before"] = "2026-11-20T23:53:24.120Z";  // cut short
  CHECK(job_forecast_in_words(forecast, "pending", "") == "the forecast looks 2h 0m ahead and sees no start");
  CHECK(job_forecast_in_words(forecast, "running", "") == "the forecast looks 2h 0m ahead and sees no end");
  json job{
      {"submitted_at", "2026-11-20T21:30:00Z"}, {"spec", {{"work", {{"deadline", "1h"}}}}}, {"forecast", forecast}};
  CHECK(deadline_in_words(job, "2026-11-20T22:00:00Z") ==
        "2026-11-20 22:30 UTC; to be missed: the forecast looks 2h 0m ahead and sees no end");
  job["forecast"]["start"] = example("plan.json").at("forecast").at("start");
  job["forecast"]["start"]["expected"] = "2026-11-20T22:40:00Z";
  CHECK(deadline_in_words(job, "2026-11-20T22:00:00Z") ==
        "2026-11-20 22:30 UTC; to be missed: the start is expected at about 2026-11-20 22:40:00 UTC");
}

TEST_CASE("of a start that has come the time before it is no forecast of an end") {
  json forecast = example("plan.json").at("forecast");
  forecast["end"] = nullptr;
  forecast["basis"] = "unknown";
  forecast["not_before"] = forecast.at("start").at("expected");
  CHECK(job_forecast_in_words(forecast, "running", "") == "its end is unknown");
}

TEST_CASE("a forecast that is older than a minute, or leaves the deciding policy file out, says so") {
  json forecast = example("job.json").at("forecast");
  CHECK(job_forecast_in_words(forecast, "running", "2026-11-20T21:54:00Z").find("as of") == std::string::npos);
  CHECK(job_forecast_in_words(forecast, "running", "2026-11-20T21:55:00Z")
            .ends_with("from the work that it declares; as of 21:53 UTC"));
  forecast["unasked_policy"] = "capped@0123456789ab";
  CHECK(job_forecast_in_words(forecast, "running", "")
            .ends_with("; the policy file capped@0123456789ab, which decides, was not asked"));
  json plan = example("plan.json");
  CHECK(plan_page(plan, "-", {.width = 200}).find("policy file") == std::string::npos);
  plan["forecast"]["unasked_policy"] = "capped@0123456789ab";
  CHECK(
      plan_page(plan, "-", {.width = 200})
          .find(
              "as " + plan.at("policy").get<std::string>() +
              " would decide: the policy file capped@0123456789ab, which decides here, is not asked for forecasts\n") !=
      std::string::npos);
}

TEST_CASE("a deadline that is missed is told with both times") {
  json job{{"submitted_at", "2026-11-20T10:00:00Z"}, {"spec", {{"work", {{"deadline", "1h"}}}}}};
  CHECK(deadline_in_words(job, "2026-11-20T10:20:00Z").empty());
  job["forecast"] = {{"end", {{"expected", "2026-11-20T10:30:00Z"}}}};
  CHECK(deadline_in_words(job, "2026-11-20T10:20:00Z").empty());
  job["forecast"]["end"]["expected"] = "2026-11-20T11:12:00Z";
  CHECK(deadline_in_words(job, "2026-11-20T10:20:00Z") ==
        "2026-11-20 11:00 UTC; to be missed: the end is expected at about 2026-11-20 11:12:00 UTC, 12m 0s later");
  job["finished_at"] = "2026-11-20T11:20:00Z";
  CHECK(deadline_in_words(job, "2026-11-20T10:20:00Z").find("missed: the job ended at 2026-11-20 11:20:00") !=
        std::string::npos);
  job["spec"]["work"] = nullptr;
  CHECK(deadline_in_words(job, "2026-11-20T10:20:00Z").empty());
}

TEST_CASE("an expected time that has passed is told as late") {
  json forecast = example("job.json").at("forecast");  // 22:10, between 22:05 and 22:21
  CHECK(forecast_in_words(forecast, "2026-11-20T22:12:00Z") ==
        "expected to end any moment, by 22:21 UTC, from the work that it declares");
  CHECK(forecast_cell(forecast, "2026-11-20T22:12:00Z") == "ends by 22:21");
  CHECK(forecast_in_words(forecast, "2026-11-21T00:01:00Z") ==
        "expected to end by 2026-11-20 22:21 UTC, but is late, from the work that it declares");
  CHECK(forecast_cell(forecast, "2026-11-20T22:22:30Z") == "late: ends 22:21");
  forecast["end"] = nullptr;
  forecast["not_before"] = "2026-11-20T22:30:00.000Z";
  CHECK(forecast_in_words(forecast, "2026-11-20T22:31:00Z").empty());
  const json job{{"submitted_at", "2026-11-20T10:00:00Z"}, {"spec", {{"work", {{"deadline", "1h"}}}}}};
  CHECK(deadline_in_words(job, "2026-11-20T11:00:01Z") ==
        "2026-11-20 11:00 UTC; missed: it has passed, and the job has not ended");
}

TEST_CASE("a list has a column of forecasts if there are any, and the pages a line") {
  json job = example("job.json");
  CHECK(jobs_table(json::array({job}), {.width = 120}).find("ends 22:10") != std::string::npos);
  CHECK(jobs_table(json::array({job}), {.width = 80}).find("EXPECTED") == std::string::npos);
  CHECK(job_page(job, json::array(), {.width = 200}).find("expected to end at about 22:10") != std::string::npos);
  CHECK(why_page(example("explain.json"), {.width = 200}, Detail::kWords).find("expected to end at about 22:10") !=
        std::string::npos);
  job["forecast"] = nullptr;
  CHECK(jobs_table(json::array({job}), {.width = 120}).find("EXPECTED") == std::string::npos);
}

TEST_CASE("a plan says what it brings and what it does to other jobs") {
  const std::string page = plan_page(example("plan.json"), "job.yaml", {.width = 160});
  for (const char* said : {"charlm-demo, submitted now: expected to start at about 22:10",
                           "cost: about 5.4000 USD (between 4.6000 and 8.1000 USD)",
                           "- job-3 (resnet) would have 2 in place of 4 workers from about 22:10 UTC, as slots of it "
                           "go to the planned job, "
                           "and end 21m 1s later",
                           "- job-7 (sweep-2) would start 7m 0s later and end 7m 0s later",
                           "- 1 job of other tenants would be moved or delayed",
                           "nothing was stored; to submit it: schedctl submit job.yaml\n"}) {
    INFO(page << "\nlacks: " << said);
    CHECK(page.find(said) != std::string::npos);
  }
  json alone = example("plan.json");
  alone["changes"] = json::array();
  alone["others_changed"] = 0;
  CHECK(plan_page(alone, "-", {}).find("no other job would be affected") != std::string::npos);
}

TEST_CASE("a plan counts the jobs that it delays by less than a minute, and names the others") {
  json plan = example("plan.json");
  plan["changes"][0]["ends_later_s"] = 12.5;  // has fewer workers
  plan["changes"][1]["starts_later_s"] = 3.0;
  for (const double end : {-59.0, 40.0}) {
    json slight = plan["changes"][1];
    slight["job"] = "job-8";
    slight["ends_later_s"] = end;
    plan["changes"].push_back(slight);
  }
  const std::string page = plan_page(plan, "-", {.width = 160});
  INFO(page);
  CHECK(page.find("from about 22:10 UTC, as slots of it go to the planned job\n") != std::string::npos);
  CHECK(page.find("- job-7 (sweep-2) would end 7m 0s later\n") != std::string::npos);
  CHECK(page.find("- 2 jobs would start or end less than a minute later or sooner\n") != std::string::npos);
  CHECK(page.find("job-8") == std::string::npos);
}

TEST_CASE("a plan has one row for each second, with the size that lasts") {
  json plan = example("plan.json");
  plan["forecast"]["computed_at"] = "2026-11-20T22:10:05.100Z";
  plan["forecast"]["sizes"] = {{{"at", "2026-11-20T22:10:05.100Z"}, {"size", 0}},
                               {{"at", "2026-11-20T22:10:05.600Z"}, {"size", 4}},
                               {{"at", "2026-11-20T22:10:47.000Z"}, {"size", 2}}};
  const std::string page = plan_page(plan, "-", {.width = 120});
  INFO(page);
  CHECK(page.find("22:10:05          4\n22:10:47          2\n") != std::string::npos);
  CHECK(page.find("22:10:05          0") == std::string::npos);
}

TEST_CASE("a plan keeps the row of workers that are gone in the same second") {
  json plan = example("plan.json");
  plan["forecast"]["computed_at"] = "2026-11-20T22:14:08.000Z";
  plan["forecast"]["sizes"] = {{{"at", "2026-11-20T22:14:08.000Z"}, {"size", 0}},
                               {{"at", "2026-11-20T22:14:17.100Z"}, {"size", 2}},
                               {{"at", "2026-11-20T22:14:17.600Z"}, {"size", 0}}};
  const std::string page = plan_page(plan, "-", {.width = 120});
  INFO(page);
  CHECK(page.find("22:14:08          0\n22:14:17          2\n22:14:17          0\n") != std::string::npos);
}

TEST_CASE("a job whose slots are free starts at once, and a first step that comes later is told") {
  json forecast = example("plan.json").at("forecast");
  forecast["end"] = nullptr;
  forecast["basis"] = "unknown";
  forecast["starts_after"] = nullptr;
  forecast["slots_at"] = forecast.at("computed_at");
  forecast["at_once"] = true;
  CHECK(forecast_in_words(forecast) ==
        "expected to start at once, with its first step at about 22:10 UTC (between 22:04 and 22:21); its end is "
        "unknown");
  forecast["start"]["expected"] = "2026-11-20T21:53:30.000Z";
  CHECK(forecast_in_words(forecast) == "expected to start at once; its end is unknown");
  CHECK(job_forecast_in_words(forecast, "pending", "2026-11-20T21:53:40Z").starts_with("expected to start any moment"));
  CHECK(job_forecast_in_words(forecast, "running", "") == "its end is unknown");
}

TEST_CASE("a job that its budget pauses before its first step is told to start, and what the budget does") {
  json plan = example("plan.json");
  json& forecast = plan["forecast"];
  for (const char* what : {"start", "end", "starts_after"}) forecast[what] = nullptr;
  forecast["not_before"] = "2026-11-27T21:53:24.120Z";
  forecast["slots_at"] = forecast.at("computed_at");
  forecast["at_once"] = true;
  forecast["budget"] = {{"tenant", "lab"}, {"action", "pause"}, {"at", "2026-11-20T21:53:29.120Z"}};
  const std::string start = "expected to start at once; the forecast looks 7 days ahead and sees no end";
  CHECK(
      plan_page(plan, "-", {.width = 300}).find(start + "; at about 21:53 UTC the budget of tenant lab pauses it\n") !=
      std::string::npos);
  CHECK(job_forecast_in_words(forecast, "pending", "2026-11-20T21:53:30Z") == start);
  forecast["slots_at"] = "2026-11-20T22:20:00.000Z";
  forecast["at_once"] = false;
  CHECK(job_forecast_in_words(forecast, "pending", "").starts_with("expected to start at about 22:20 UTC; "));
}

TEST_CASE("an end by a budget names it, and does not rest on how long similar jobs took") {
  json forecast = example("plan.json").at("forecast");
  forecast["outcome"] = "cancelled";
  CHECK(forecast_in_words(forecast).find(", and to end at about 23:40 UTC") != std::string::npos);
  forecast["budget"] = {{"tenant", "lab"}, {"action", "stop"}, {"at", "2026-11-20T23:40:00.000Z"}};
  CHECK(forecast_in_words(forecast).ends_with(
      ", and to be ended by the budget of tenant lab at about 23:40 UTC (between 23:20 and 2026-11-21 00:25)"));
}

TEST_CASE("the cost of a plan without an end is the least that is known of it, or unknown") {
  json plan = example("plan.json");
  plan["forecast"]["end"] = nullptr;
  CHECK(plan_page(plan, "-", {.width = 120}).find("cost: at least 5.4000 USD\n") != std::string::npos);
  plan["forecast"]["cost"]["expected"] = "0.00";
  CHECK(plan_page(plan, "-", {.width = 120}).find("cost: unknown, as its end is\n") != std::string::npos);
}

TEST_CASE("a plan says for which job another releases its workers, where one is named") {
  json plan = example("plan.json");
  json& change = plan["changes"][0];
  change["effect"] = "preempted";
  change["to"] = 0;
  const auto says = [&](const char* words) {
    return plan_page(plan, "-", {.width = 120}).find(words) != std::string::npos;
  };
  CHECK(says("job-3 (resnet) would release its 4 workers at about 22:10 UTC"));
  for (const std::string claimant : {"job-5", "the planned job", "a job of another tenant"}) {
    change["preempted_for"] = claimant;
    CHECK(says(("job-3 (resnet) would release its 4 workers for " + claimant + " at about 22:10 UTC").c_str()));
  }
}

TEST_CASE("a plan names the budget that ends, pauses or shrinks another job") {
  json plan = example("plan.json");
  json& change = plan["changes"][0];
  change["shrunk_for"] = nullptr;
  const auto says = [&](const char* effect, const char* action, const std::string& words) {
    change["effect"] = effect;
    change["budget"] = {{"tenant", "lab"}, {"action", action}, {"at", change["at"]}};
    const std::string page = plan_page(plan, "-", {.width = 200});
    INFO(page);
    CHECK(page.find("job-3 (resnet) would " + words + "\n") != std::string::npos);
  };
  says("preempted", "pause",
       "release its 4 workers at about 22:10 UTC, as the budget of tenant lab pauses it, and end 21m 1s later");
  says("shrunk", "shrink",
       "have 2 in place of 4 workers from about 22:10 UTC, as the budget of tenant lab takes it down to its smallest "
       "size, and end 21m 1s later");
  change["ends_later_s"] = -300.0;
  says("ended", "stop", "be ended by the budget of tenant lab at about 22:10 UTC, and end 5m 0s sooner");
  change["ends_later_s"] = -30.0;
  says("ended", "stop", "be ended by the budget of tenant lab at about 22:10 UTC");
}

TEST_CASE("a plan says which jobs are to have the slots of one that goes on with fewer workers") {
  json plan = example("plan.json");
  json& change = plan["changes"][0];
  const auto says = [&](const std::string& words) {
    return plan_page(plan, "-", {.width = 200}).find("4 workers from about 22:10 UTC" + words + ", and end") !=
           std::string::npos;
  };
  change["shrunk_for"] = "job-5";
  CHECK(says(", as slots of it go to job-5"));
  change["shrunk_for_others"] = 2;
  CHECK(says(", as slots of it go to job-5 and 2 more jobs"));
  change["shrunk_for"] = nullptr;
  CHECK(says(""));
}

TEST_CASE("a dry run of a job that cannot start says so, and not that it waits for that") {
  const json decision = {{"starts", false},
                         {"changes", json::array()},
                         {"summary", "cannot start: it needs 4 slots, and the whole cluster has room for 2"},
                         {"unblocks", json::array()}};
  CHECK(decision_in_words({{"decision", decision}}) ==
        "submitted now, it would not start: it needs 4 slots, and the whole cluster has room for 2\n");
}

TEST_CASE("what a dry run tells does not steer the terminal, whatever a job file or a node is called") {
  const json change = {{"job", "job-1"}, {"name", "\x1b[2J"}, {"kind", "preempt"}, {"from", 1}};
  const json place = {{"node_name", "n\x1b[31m"}, {"workers", 1}};
  json decision = {{"starts", false},
                   {"size", 1},
                   {"places", json::array({place})},
                   {"changes", json::array({change})},
                   {"summary", "waits for a slot of \x1b[31m"},
                   {"evidence", json::array({"no node has \x1b[31m"})},
                   {"unblocks", json::array({"a node with \x1b[31m"})}};
  const std::string waits = decision_in_words({{"decision", decision}});
  CHECK(waits.find("  evidence: no node has ?") != std::string::npos);
  CHECK(waits.find('\x1b') == std::string::npos);
  CHECK(resize_in_words({{"decision", decision}}).find('\x1b') == std::string::npos);
  decision["starts"] = true;
  CHECK(decision_in_words({{"decision", decision}}).find('\x1b') == std::string::npos);
}

TEST_CASE("of a job that was submitted and cannot start it is told why, and of none that waits its turn") {
  json job = example("job.json");
  CHECK(never_starts_in_words(job).empty());
  job["state"] = "pending";
  job["reason"]["text"] = "waits for 4 slots; none is free";
  CHECK(never_starts_in_words(job).empty());
  job["reason"]["text"] = "cannot start: it needs 4 slots, and the whole cluster has room for 2";
  CHECK(never_starts_in_words(job) ==
        "job-1 waits and cannot start as things are: it needs 4 slots, and the whole cluster has room for 2; "
        "what would help: schedctl why job-1");
  job["reason"] = nullptr;  // nothing was decided yet
  CHECK(never_starts_in_words(job).empty());
}

TEST_CASE("of a batch a line is told for each reason to wait, those that cannot start first, and of at most five") {
  const auto row = [](const std::string& why, const std::vector<std::string>& jobs) {
    return json{{"reason", {{"code", "X"}, {"numbers", json::object()}, {"text", why}}}, {"jobs", jobs}};
  };
  const std::string never = "cannot start: it needs 9 slots, and the whole cluster has room for 4";
  json stored = {{"ids", {"job-1"}}, {"waits", json::array()}, {"as_of_seq", 1}};
  CHECK(batch_waits_in_words(stored).empty());
  stored["waits"] = {
      row("waits behind 1 job in the queue; it needs 2 slots, none is free", {"job-2", "job-3", "job-5"}),
      row("its policy holds it back", {"job-4"}), row(never, {"job-6"}), row(never, {"job-7", "job-8"})};
  const std::string as_is = " and cannot start as things are: ";
  const std::string needs = " needs 9 slots, and the whole cluster has room for 4; what would help: schedctl why ";
  CHECK(batch_waits_in_words(stored) ==
        std::vector<std::string>{"job-6 waits" + as_is + "it" + needs + "job-6",
                                 "job-7 and 1 more job wait" + as_is + "job-7" + needs + "job-7",
                                 "job-2 and 2 more jobs wait: job-2 waits behind 1 job in the queue; it needs 2 slots, "
                                 "none is free",
                                 "job-4 waits: its policy holds it back"});
  for (const auto& [each, said] : {std::pair("each of its workers", "each of job-7's workers"),
                                   std::pair("its worker", "job-7's worker"), std::pair("no node", "no node")}) {
    stored["waits"] = json::array({row("cannot start: " + std::string(each) + " has room", {"job-7", "job-8"})});
    CHECK(batch_waits_in_words(stored) == std::vector<std::string>{"job-7 and 1 more job wait" + as_is + said +
                                                                   " has room; what would help: schedctl why job-7"});
  }
  stored["waits"] = json::array();
  for (int i = 1; i <= 7; ++i) {
    stored["waits"].push_back(
        row("waits for " + std::to_string(i) + " slots; none is free", {"job-" + std::to_string(i)}));
  }
  const std::vector<std::string> lines = batch_waits_in_words(stored);
  REQUIRE(lines.size() == 6);
  CHECK(lines.front() == "job-1 waits for 1 slots; none is free");
  CHECK(lines.back() == "2 more jobs wait for other reasons: schedctl ls --state pending");
  stored.erase("waits");  // a daemon of before
  CHECK(batch_waits_in_words(stored).empty());
}

TEST_CASE("a dry run of a resize says whether it begins at once, and which jobs give up workers for it") {
  json decision = example("submit_decision.json");
  decision["size"] = 4;
  decision["summary"] = "going 2 -> 4, as requested";
  CHECK(resize_in_words({{"decision", decision}}) ==
        "resized now, it would go to 4 workers at once: going 2 -> 4, as requested\n"
        "  job-3 (charlm-demo) would shrink from 4 to 1 worker\n"
        "  a job of another tenant would release its 2 workers\n");
  decision["starts"] = false;
  decision["summary"] = "keeps its size for now: the cooldown ends in 12 s";
  decision["changes"] = json::array();
  decision["evidence"] = {"2 workers: 9,121 samples/s over 60 steps"};
  decision["unblocks"] = {"wait 12 s for the cooldown"};
  CHECK(resize_in_words({{"decision", decision}}) ==
        "resized now, its size would not change at once (keeps its size for now: the cooldown ends in 12 s)\n"
        "  evidence: 2 workers: 9,121 samples/s over 60 steps\n"
        "  what would help: wait 12 s for the cooldown\n");
  CHECK(resize_in_words(json::object()).empty());
}

TEST_CASE("a plan of a job that would not start says so") {
  json plan = example("plan.json");
  for (const char* what : {"start", "slots_at", "end"}) plan["forecast"][what] = nullptr;
  plan["forecast"]["not_before"] = "2026-11-27T21:53:24.120Z";
  CHECK(plan_page(plan, "-", {.width = 200})
            .find("submitted now: the forecast looks 7 days ahead and sees no start; what it would wait for: schedctl "
                  "submit --dry-run -\n") != std::string::npos);
}

TEST_CASE("sizes that a plan foresees within a minute are told with their seconds") {
  json plan = example("plan.json");
  const std::string day = plan.at("forecast").at("computed_at").get<std::string>().substr(0, 11);
  const auto rows = [&](const char* second) {
    plan["forecast"]["sizes"] = {{{"at", day + "00:00:04.000Z"}, {"size", 0}}, {{"at", day + second}, {"size", 2}}};
    return plan_page(plan, "-", {});
  };
  CHECK(rows("00:00:31.000Z").find("00:00:04          0\n00:00:31          2\n") != std::string::npos);
  CHECK(rows("00:01:31.000Z").find("00:00             0\n00:01             2\n") != std::string::npos);
}

}  // namespace
}  // namespace tidepool::ctl
