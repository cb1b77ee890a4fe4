#include "schedctl/tables.hpp"

#include <algorithm>

#include "schedctl/pages.hpp"
#include "schedctl/text_table.hpp"
#include "tests/unit/ctl/examples.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

TEST_CASE("the list of jobs fits 80 columns and shows size, progress and reason") {
  json job = example("job.json");
  job["name"] = "a-name-that-is-far-too-long-for-a-table-of-eighty-columns";
  const std::string text = jobs_table(json::array({job}), {.width = 80});
  INFO(text);
  CHECK(widest_line(text) <= 80);
  CHECK(text.find("job-1") != std::string::npos);
  CHECK(text.find("2>3") != std::string::npos);
  CHECK(text.find("30 %") != std::string::npos);
  CHECK(text.find("9,120") != std::string::npos);
  CHECK(text.find("growing 2") != std::string::npos);
}

TEST_CASE("on a narrow terminal the list of jobs leaves out what tells least, and says why each is as it is") {
  json job = example("job.json");
  job["name"] = "a-name-that-is-far-too-long-for-a-table-of-eighty-columns";
  job["id"] = "job-1234";
  const std::string text = jobs_table(json::array({job}), {.width = 60});
  INFO(text);
  CHECK(widest_line(text) <= 60);
  CHECK(text.find("SAMPLES/S") == std::string::npos);
  CHECK(text.find("30 %") != std::string::npos);
  CHECK(text.find("growing 2") != std::string::npos);
}

TEST_CASE("a table on a terminal names the columns that are left out of it") {
  const json jobs = json::array({example("job.json")});
  const std::string narrow = jobs_table(jobs, {.width = 55, .terminal = true});
  INFO(narrow);
  CHECK(narrow.ends_with(
      "\ncolumns left out: TENANT, SAMPLES/S, EXPECTED (UTC) (a\nwider terminal or -o json shows them)\n"));
  CHECK(jobs_table(jobs, {.width = 55}).find("left out") == std::string::npos);
  CHECK(jobs_table(jobs, {.width = 200, .terminal = true}).find("left out") == std::string::npos);
}

TEST_CASE("a job that goes on after a loss says why it is as it is, a failed one how it failed") {
  json job = example("job.json");
  job["error"] = "w-2 was killed by signal 9";
  CHECK(jobs_table(json::array({job}), {}).find("growing 2") != std::string::npos);
  CHECK(jobs_table(json::array({job}), {}).find("signal 9") == std::string::npos);
  CHECK(job_page(job, json::array(), {}).find("last loss   w-2 was killed by signal 9\n") != std::string::npos);
  job["state"] = "failed";
  CHECK(jobs_table(json::array({job}), {.width = 200}).find("signal 9") != std::string::npos);
  CHECK(job_page(job, json::array(), {}).find("error       w-2 was killed by signal 9\n") != std::string::npos);
}

TEST_CASE("an empty list says what to do") {
  CHECK(jobs_table(json::array(), {}).find("schedctl submit FILE") != std::string::npos);
  CHECK(nodes_table(json::array(), {}).find("--local-slots") != std::string::npos);
}

TEST_CASE("a job without measurements has dashes, not zeros") {
  const json job = {{"id", "job-2"},      {"name", "n"}, {"tenant", "t"},
                    {"state", "pending"}, {"size", 0},   {"progress", json::object()}};
  const std::string text = jobs_table(json::array({job}), {});
  CHECK(text.find("pending     0     -          -") != std::string::npos);
}

TEST_CASE("a node shows its free slots and the jobs on it once") {
  const std::string text = nodes_table(json::array({example("node.json")}), {});
  INFO(text);
  CHECK(text.find("node-1  local  up      1/4  cpu      1.00   97 %  10.20.0.5  all        job-1\n") !=
        std::string::npos);
  json foreign = example("node.json");
  foreign["slots"][3]["busy"] = true;
  CHECK(nodes_table(json::array({foreign}), {}).find("up      0/4  cpu") != std::string::npos);
  json lost = example("node.json");
  lost["state"] = "lost";
  CHECK(nodes_table(json::array({lost}), {}).find("lost    -/4  cpu") != std::string::npos);
  json cordoned = example("node.json");
  cordoned["cordoned"] = true;
  CHECK(nodes_table(json::array({cordoned}), {}).find("cordoned") != std::string::npos);
  json shared = example("node.json");
  shared["isolation"]["kept"].erase(0);
  shared["isolation"]["missing"].push_back("uid");
  CHECK(nodes_table(json::array({shared}), {}).find("  some  ") != std::string::npos);
  shared["isolation"]["kept"] = {"syscalls"};
  CHECK(nodes_table(json::array({shared}), {}).find("  none  ") != std::string::npos);
  shared["isolation"]["kept"].clear();
  CHECK(nodes_table(json::array({shared}), {}).find("  none  ") != std::string::npos);
}

TEST_CASE("the list of nodes fits 80 columns, without addresses and prices where states are long") {
  json node = example("node.json");
  node["faults"] = {{"losses", 3},
                    {"failed_starts", 1},
                    {"first_at", "2026-11-20T21:53:20.100Z"},
                    {"newest_at", "2026-11-20T22:03:20.100Z"},
                    {"unsteady_until", "2026-11-20T22:14:05.000Z"}};
  const std::string text = nodes_table(json::array({node}), {.width = 80});
  INFO(text);
  CHECK(widest_line(text) <= 80);
  CHECK(text.find("unsteady until 22:14:05") != std::string::npos);
  CHECK(text.find("job-1") != std::string::npos);
  CHECK(text.find("ADDRESS") == std::string::npos);
  CHECK(nodes_table(json::array({node}), {.width = 200}).find("1.00   97 %  10.20.0.5") != std::string::npos);
}

TEST_CASE("what slots bring of the memory of their nodes is told below the nodes, once where they are alike") {
  const json node = example("node.json");
  CHECK(nodes_table(json::array({node, node}), {}).ends_with("\nmemory per slot: 14.4GiB\n"));
  json unbounded = node;
  unbounded["id"] = "node-2";
  unbounded["memory_per_slot"] = 0;
  json older = node;
  older["memory_per_slot"] = nullptr;
  const json all = json::array({node, node, unbounded, older});
  CHECK(nodes_table(all, {}).ends_with("\nmemory per slot: no bound on node-2, 14.4GiB on 2 nodes\n"));
  CHECK(nodes_table(json::array({older}), {}).find("memory") == std::string::npos);
}

TEST_CASE("quarantined slots are told with their worker, since when, why and the way out") {
  json node = example("node.json");
  const json quarantine = {{"since", "2026-11-20T21:53:20.100Z"}, {"why", "memory of GPU-1 is still held"}};
  node["slots"][0]["quarantine"] = quarantine;
  CHECK(node_state(node, "") == "up, 1 slot quarantined");
  node["slots"][1]["quarantine"] = quarantine;
  node["slots"][1]["worker"] = "w-1";
  CHECK(node_state(node, "") == "up, 2 slots quarantined");
  const std::string text = nodes_table(json::array({node}), {});
  INFO(text);
  CHECK(
      text.ends_with("\nnode-1: slots 0,1 of w-1 (job-1) quarantined since " + clock_of("2026-11-20T21:53:20.100Z") +
                     " UTC: memory of GPU-1 is still held; if you know that they are free: schedctl node release-slots "
                     "node-1\n"));
  node["slots"][0]["worker"] = node["slots"][0]["job"] = nullptr;  // another tenant's
  CHECK(nodes_table(json::array({node}), {}).find("\nnode-1: slots 0 quarantined since ") != std::string::npos);
}

TEST_CASE("a node that is opened is told to be so unless something else keeps it closed") {
  json node = example("node.json");
  CHECK(opened_node(node, "gets new workers again", "") == "gets new workers again");
  node["cordoned"] = true;  // and its drain was cancelled
  CHECK(opened_node(node, "is no longer being drained", "") == "is cordoned");
  node["cordoned"] = false;
  node["drain"] = {{"deadline", "2026-11-20T22:03:20.100Z"}, {"drained", true}, {"cause", "operator"}};
  CHECK(opened_node(node, "gets new workers again", "") == "is drained");
  node["state"] = "lost";
  CHECK(opened_node(node, "gets new workers again", "") == "is lost, drained");
  node["drain"] = nullptr;
  CHECK(opened_node(node, "gets new workers again", "") == "is lost");
}

TEST_CASE("the state of a node says what it takes and until when") {
  json node = example("node.json");
  CHECK(node_state(node, "") == "up");
  node["faults"] = {{"losses", 3},
                    {"failed_starts", 1},
                    {"first_at", "2026-11-20T21:53:20.100Z"},
                    {"newest_at", "2026-11-20T22:03:20.100Z"},
                    {"unsteady_until", nullptr}};
  CHECK(node_state(node, "") == "up");
  node["faults"]["unsteady_until"] = "2026-11-20T22:14:05.000Z";
  CHECK(node_state(node, "") == "unsteady until 22:14:05 UTC (3 losses, 1 failed start in 10m 0s)");
  CHECK(node_state(node, "2026-11-19T22:00:00Z").starts_with("unsteady until 2026-11-20 22:14:05 UTC ("));
  node["cordoned"] = true;
  CHECK(node_state(node, "") == "cordoned");
  node["drain"] = {{"since", "2026-11-20T21:53:20.100Z"},
                   {"deadline", "2026-11-20T22:03:20.100Z"},
                   {"reason", ""},
                   {"drained", false}};
  CHECK(node_state(node, "").starts_with("draining until "));
  node["drain"]["cause"] = "maintenance";
  node["drain"]["maintenance"] = {{"window", "mw-1"},
                                  {"begins", "2026-11-20T22:03:20.100Z"},
                                  {"ends", "2026-11-20T23:00:00.000Z"},
                                  {"begun", false}};
  CHECK(node_state(node, "") == "draining, maintenance at 22:03:20 UTC");
  node["drain"]["maintenance"]["begun"] = true;
  CHECK(node_state(node, "") == "maintenance until 23:00:00 UTC");
  node["drain"]["cause"] = "reclaim";
  CHECK(node_state(node, "").starts_with("reclaimed at "));
  node["drain"]["drained"] = true;
  CHECK(node_state(node, "").starts_with("drained, reclaimed at "));
  node["drain"]["cause"] = "operator";
  CHECK(node_state(node, "") == "drained");
  node["state"] = "lost";
  CHECK(node_state(node, "") == "lost, drained");
  node["drain"] = nullptr;
  CHECK(node_state(node, "") == "lost, cordoned");
  node["cordoned"] = false;
  CHECK(node_state(node, "") == "lost");
  node["access"]["revoked_at"] = "2026-11-20T21:53:20.100Z";
  CHECK(node_state(node, "") == "lost, revoked");
}

TEST_CASE("a slow worker is named in the table of workers") {
  json worker = example("worker.json");
  CHECK(workers_table(json::array({worker}), {}).find("slow") == std::string::npos);
  worker["straggler"] = true;
  worker["straggler_score"] = 0.5;
  const std::string text = workers_table(json::array({worker}), {});
  CHECK(text.find("41.7 ms") != std::string::npos);
  CHECK(text.find("50 %  slow") != std::string::npos);
}

TEST_CASE("decisions are told in words within the width") {
  const std::string text = decisions_text(json::array({example("decision.json")}), {.width = 60}, Rows::kFolded);
  INFO(text);
  CHECK(text.find("dec-7 21:53:31 UTC job-1 grow: growing 2 -> 3:") == 0);
  CHECK(widest_line(text) <= 60);
  json kept = example("decision.json");
  kept["intents"] = json::array();
  CHECK(decisions_text(json::array({kept}), {}, Rows::kFolded).find("job-1 keep:") != std::string::npos);
}

TEST_CASE("where no decision has anything to tell, that is said") {
  json idle = example("decision.json");
  idle["intents"] = idle["verdicts"] = idle["targets"] = json::array();
  CHECK(decisions_text(json::array({idle, idle}), {}, Rows::kFolded) ==
        "nothing to show of the newest 2 decisions; look further back with --limit\n");
}

TEST_CASE("of decisions about one job what they say of others is not told") {
  json decision = example("decision.json");  // job-1 grows
  decision["verdicts"] = json::array();
  for (const char* job : {"job-2", "job-3"}) {
    decision["verdicts"].push_back({{"job", job}, {"reason", {{"text", "waits for 2 slots"}}}});
  }
  const Style style{.width = 200};
  CHECK(decisions_text(json::array({decision}), style, Rows::kFolded, "job-3") ==
        "dec-7 21:53:31 UTC job-3 keep: waits for 2 slots\n");
  CHECK(decisions_text(json::array({decision}), style, Rows::kAll, "job-1")
            .starts_with("dec-7 21:53:31 UTC job-1 grow:"));
  CHECK(decisions_text(json::array({decision}), style, Rows::kFolded, "job-4").starts_with("nothing to show"));
}

TEST_CASE("of several jobs that a decision leaves as they are it is told how many, and each if that is asked for") {
  json waits = example("decision.json");
  waits["intents"] = json::array();
  waits["verdicts"] = waits["targets"] = json::array();
  for (const char* job : {"job-2", "job-3"}) {
    waits["verdicts"].push_back({{"job", job}, {"reason", {{"text", "waits for 2 slots"}}}});
    waits["targets"].push_back({{"job", job}, {"size", 2}, {"reason", {{"text", "it pays"}}}});
  }
  json planned = waits;
  planned["id"] = "dec-6";
  planned["verdicts"] = json::array();
  json grows = waits;  // beside what it changes, the rest is not told
  grows["id"] = "dec-5";
  grows["intents"] = example("decision.json")["intents"];
  grows["intents"][0]["reason"]["text"] = "it pays";
  const json decisions = {waits, planned, grows};
  const Style style{.width = 200};
  CHECK(decisions_text(decisions, style, Rows::kFolded) ==
        "dec-7 21:53:31 UTC no change; new reasons for 2 jobs\n"
        "dec-6 21:53:31 UTC no change yet; a new plan for 2 jobs\n"
        "dec-5 21:53:31 UTC job-1 grow: it pays\n"
        "each job with its reason: schedctl decisions --all; of one job: schedctl decisions JOB\n");
  CHECK(decisions_text(decisions, style, Rows::kAll) ==
        "dec-7 21:53:31 UTC job-2 keep: waits for 2 slots\n"
        "dec-7 21:53:31 UTC job-3 keep: waits for 2 slots\n"
        "dec-6 21:53:31 UTC job-2 plan: 2 workers, it pays\n"
        "dec-6 21:53:31 UTC job-3 plan: 2 workers, it pays\n"
        "dec-5 21:53:31 UTC job-1 grow: it pays\n");
  CHECK(decisions_text(decisions, style, Rows::kFolded, "job-3") ==
        "dec-7 21:53:31 UTC job-3 keep: waits for 2 slots (2 times, first at 21:53:31 UTC)\n"
        "dec-6 21:53:31 UTC job-3 plan: 2 workers, it pays\n");
}

TEST_CASE("nodes that a decision asks a pool for are told, too") {
  json decision = example("decision.json");
  decision["intents"] = json::array();
  decision["nodes"] = {{{"kind", "create_node"}, {"name", "gpu-1"}, {"reason", {{"text", "one more node for job-7"}}}}};
  CHECK(decisions_text(json::array({decision}), {}, Rows::kFolded) ==
        "dec-7 21:53:31 UTC gpu-1 create_node: one more node for job-7\n");
}

TEST_CASE("decisions that differ in their time only are one row with a count, also between those of other jobs") {
  json decisions = json::array();
  for (const char* at : {"21:53:31", "21:53:20", "21:53:10"}) {
    json kept = example("decision.json");
    kept["id"] = "dec-" + std::to_string(9 - decisions.size());
    kept["at"] = std::string("2026-11-20T") + at + ".000Z";
    kept["intents"][0]["reason"]["text"] = "it pays";
    kept["intents"].push_back(kept["intents"][0]);
    kept["intents"][1]["job"] = "job-2";
    decisions.push_back(kept);
  }
  decisions[1]["intents"][1]["reason"]["text"] = "slots are left";
  const Style style{.width = 200};
  CHECK(decisions_text(decisions, style, Rows::kFolded) ==
        "dec-9 21:53:31 UTC job-1 grow: it pays (3 times, first at 21:53:10 UTC)\n"
        "dec-9 21:53:31 UTC job-2 grow: it pays\n"
        "dec-8 21:53:20 UTC job-2 grow: slots are left\n"
        "dec-7 21:53:10 UTC job-2 grow: it pays\n");
  const std::string each = decisions_text(decisions, style, Rows::kAll);
  CHECK(std::count(each.begin(), each.end(), '\n') == 6);
  CHECK(each.find("times") == std::string::npos);
}

TEST_CASE("the active policy and the default are marked, and the marks explained") {
  json policy = example("policy.json");
  const std::string text = policies_table(json::array({policy}), {.width = 80});
  CHECK(text.find("*d  tidal   builtin") != std::string::npos);
  CHECK(text.find("d the default") != std::string::npos);
  policy["active"] = false;  // a file decides in its place
  CHECK(policies_table(json::array({policy}), {.width = 80}).find("d  tidal") != std::string::npos);
  CHECK(widest_line(text) <= 80);
}

TEST_CASE("a token is shown with the time when it expires, and whether it has") {
  json token = {{"id", "tok-1"}, {"name", "ci"}, {"role", "viewer"}, {"tenant", nullptr}};
  token["created_at"] = "2026-11-20T21:53:24Z";
  token["expires_at"] = "2026-11-20T22:53:24Z";
  token["state"] = "expired";
  const std::string text = tokens_table(json::array({token}), {});
  CHECK(text.ends_with("tok-1  ci    viewer  all     2026-11-20  2026-11-20 22:53:24  expired\n"));
}

TEST_CASE("a node token is shown with its end as other times are") {
  const json token = {{"id", "abc"},
                      {"state", "valid"},
                      {"uses", 0},
                      {"uses_max", 2},
                      {"labels", json::object()},
                      {"name_prefix", ""},
                      {"slot_type", ""},
                      {"expires_at", "2026-11-20T22:53:24.000Z"}};
  CHECK(node_tokens_table(json::array({token}), {}).find("  0/2  2026-11-20 22:53:24  any ") != std::string::npos);
}

TEST_CASE("without nodes the list says how to have some") {
  CHECK(nodes_table(json::array(), {}).find("schedctl node token create --help") != std::string::npos);
}

TEST_CASE("the kept size is marked among the sizes tried") {
  const std::string text = sizes_table(example("job.json").at("sizes"), 2, {});
  INFO(text);
  CHECK(text.find("   1     40  91.0 ms      5,626                   -\n") != std::string::npos);
  CHECK(text.find("62 %  <- kept\n") != std::string::npos);
}

TEST_CASE("a table gives way in its widest flexible column first") {
  TextTable table({{.title = "A"}, {.title = "LONG", .flexible = true}, {.title = "SHORT", .flexible = true}});
  table.add({"fixed", std::string(40, 'x'), std::string(10, 'y')});
  const std::string text = table.text({.width = 40});
  CHECK(widest_line(text) <= 40);
  CHECK(text.find(std::string(10, 'y')) != std::string::npos);
  CHECK(text.find("x…") != std::string::npos);
}

TEST_CASE("a table that is too wide leaves out its spare columns, and no more of them than it must") {
  TextTable table({{.title = "A", .right = true, .spare = 2},
                   {.title = "LONG", .flexible = true, .least = 10},
                   {.title = "B", .spare = 1}});
  table.add({"12345", std::string(10, 'x'), "54321"});
  CHECK(table.text({.width = 24}).starts_with("    A  LONG        B\n"));
  CHECK(table.text({.width = 23}) == "LONG        B\nxxxxxxxxxx  54321\n");
  CHECK(table.text({.width = 16}) == "LONG\nxxxxxxxxxx\n");
  CHECK(table.text({.width = 3}) == "LONG\nxxxxxxxxxx\n");
  CHECK(table.text({.width = 3, .whole = true}).starts_with("    A  LONG        B\n"));
}

TEST_CASE("a table that is wanted whole is not cut, whatever its width") {
  TextTable table({{.title = "A", .flexible = true}, {.title = "B", .wraps = true}});
  const std::string words(60, 'x');
  table.add({words, words + " " + words});
  CHECK(table.text({.width = 40, .whole = true}).find(words + "  " + words + " " + words + "\n") != std::string::npos);
  CHECK(table.text({.width = 40}).find(words + "  ") == std::string::npos);
}

TEST_CASE("a cell cannot steer the terminal") {
  TextTable table({{.title = "A"}});
  table.add({"\033[2J"});
  CHECK(table.text({}).find('\033') == std::string::npos);
}

}  // namespace
TEST_CASE("a column that wraps goes on below itself instead of being cut") {
  TextTable table({{.title = "NAME"}, {.title = "WHAT", .wraps = true}});
  table.add({"first", "some words that take more than one line"});
  table.add({"other", "few"});
  CHECK(table.text({.width = 30}) ==
        "NAME   WHAT\n"
        "first  some words that take\n"
        "       more than one line\n"
        "other  few\n");
}

}  // namespace tidepool::ctl
