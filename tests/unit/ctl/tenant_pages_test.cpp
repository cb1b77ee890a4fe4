#include "schedctl/tenants/tenant_pages.hpp"

#include <algorithm>

#include "schedctl/settings/changes_text.hpp"
#include "tests/unit/ctl/examples.hpp"

namespace tidepool::ctl {

using nlohmann::json;

TEST_CASE("the tree of tenants is a table with each below its parent, and fits 100 columns") {
  json tree = example("tenants.json");
  const std::string text = tenants_table(tree, {.width = 100});
  INFO(text);
  CHECK(text ==
        "TENANT    GUARANTEE  WEIGHT  ENTITLED  HELD  WANTED  WAITING  JOBS  SLOT-HOURS       COST\n"
        "lab               8       2         9     7      12        2     3   1234.5000  2469.0000\n"
        "  vision          4       1         9     7      12        2     3   1234.5000  2469.0000\n"
        "guests            0       0         0     0       0        0     0           -     0.0000\n");
  tree["tenants"][1]["name"] = std::string(63, 'v');
  tree["tenants"][0]["now"] = nullptr;
  tree["warnings"] = {"the policy fifo sizes each job by itself"};
  const std::string wide = tenants_table(tree, {.width = 100});
  INFO(wide);
  CHECK(widest_line(wide) <= 100);
  CHECK(wide.ends_with("\nwarning: the policy fifo sizes each job by itself\n"));
  CHECK(wide.find("8       2         -     -       -        -     -           -          -\n") != std::string::npos);
  tree["tenants"] = json::array();
  const std::string none = "no tenant can be shown\nwarning: the policy fifo sizes each job by itself\n";
  CHECK(tenants_table(tree, {.width = 100}) == none);
  CHECK(usage_table(tree, {.width = 100}).starts_with(none));
  tree["warnings"] = json::array();
  CHECK(tenants_table(tree, {}).find("schedctl tenants apply FILE") != std::string::npos);
}

TEST_CASE("one tenant is shown with what is set and what it has") {
  const json tree = example("tenants.json");
  const std::string text = tenant_page(tree.at("tenants").at(1), {.width = 80});
  INFO(text);
  CHECK(
      text.starts_with("lab / vision\n  guarantee         4\n  guarantee_by_type a100 4\n  weight            1\n  "
                       "borrow            8\n"));
  CHECK(text.find("  job_price_max     12.50\n") != std::string::npos);
  CHECK(text.find("  job_hold_max      1h\n  jobs_max          200\n  exclusive_nodes   true\n") != std::string::npos);
  CHECK(text.find("  preempt_after     10m\n") != std::string::npos);
  CHECK(text.find("  jobs              6\n  jobs_waiting      2\n") != std::string::npos);
  CHECK(text.find("  slot_hours        1234.5000\n") != std::string::npos);
  CHECK(text.find("  cost              2469.0000\n") != std::string::npos);
  const std::string lab = tenant_page(tree.at("tenants").at(0), {.width = 80});
  INFO(lab);
  CHECK(text.find("  defaults          elastic.cooldown 1m, priority 5, scaling.price_cap 10.00\n") !=
        std::string::npos);
  CHECK(lab.find("  defaults          limits.max_restarts 5\n") != std::string::npos);
  CHECK(lab.find("  budget            5000.00 a month: warn at 80 %, pause at 100 %\n") != std::string::npos);
  CHECK(lab.find("  spent             3120.5000\n  spending          16.0000 an hour\n") != std::string::npos);
  CHECK(lab.find("  next action       pause at 100 %, 2026-11-28 19:23:08 UTC\n"
                 "  limit reached     2026-11-28 19:23:08 UTC\n") != std::string::npos);
  CHECK(lab.find("  expected          5841.8300 when the window ends, 2026-12-01 00:00:00 UTC\n") != std::string::npos);
  json spent = tree.at("tenants").at(0);
  spent["now"]["budget"]["limit_reached_at"] = nullptr;
  spent["now"]["budget"]["next"] = nullptr;
  CHECK(tenant_page(spent, {}).find("next action") == std::string::npos);
  CHECK(tenant_page(spent, {}).find("  limit reached     not in this window at this rate\n") != std::string::npos);
  spent["now"]["budget"]["spent"] = "5000.00";
  CHECK(tenant_page(spent, {}).find("  limit reached     already\n") != std::string::npos);
  json above = tree.at("tenants").at(0);
  above["now"] = nullptr;
  CHECK(tenant_page(above, {}).find("entitled") == std::string::npos);
  CHECK(tenant_page(above, {}).find("  lend              none\n") != std::string::npos);
}

TEST_CASE("changes are a line each, and what the daemon says against them follows") {
  json answer = example("tenant_changes.json");
  answer["warnings"] = json::array();
  CHECK(changes_text("tenant", answer, {.width = 80}) ==
        "~ all tenants: half_life 24h -> 12h\n"
        "- guests\n"
        "~ vision: borrow 8 -> none, guarantee 4 -> 6\n"
        "+ speech: guarantee 2, parent lab\n");
  answer["refused"] = "tenant \"guests\" has jobs";
  answer["warnings"] = {"careful"};
  CHECK(changes_text("tenant", answer, {.width = 80})
            .ends_with("the daemon refuses it: tenant \"guests\" has jobs\nwarning: careful\n"));
  CHECK(changes_text("tenant", {{"changes", json::array()}}, {}) == "no change\n");
}

TEST_CASE("a budget that changes is told part by part, as all else is") {
  json answer = example("tenant_changes.json");
  answer["warnings"] = json::array();
  const json thresholds = {{{"percent", 80}, {"action", "warn"}}, {{"percent", 100}, {"action", "pause"}}};
  const json budget = {{"limit", "5000.00"}, {"window", "month"}, {"thresholds", thresholds}};
  const auto text_of = [&](const json& from, const json& to, const char* change) {
    answer["changes"] = {
        {{"tenant", "lab"}, {"change", change}, {"fields", {{"budget", {{"from", from}, {"to", to}}}}}}};
    return changes_text("tenant", answer, {.width = 200});
  };
  json more = budget;
  more["limit"] = "6000.00";
  more["thresholds"].erase(0);
  CHECK(
      text_of(budget, more, "changed") ==
      "~ lab: budget.limit 5000.00 -> 6000.00, budget.thresholds [warn at 80 %, pause at 100 %] -> [pause at 100 %]\n");
  CHECK(text_of(nullptr, budget, "changed") ==
        "~ lab: budget.limit none -> 5000.00, budget.thresholds none -> [warn at 80 %, pause at 100 %], "
        "budget.window none -> month\n");
  CHECK(text_of(budget, nullptr, "changed").find("budget.limit 5000.00 -> none") != std::string::npos);
  CHECK(text_of(nullptr, budget, "added") ==
        "+ lab: budget.limit 5000.00, budget.thresholds [warn at 80 %, pause at 100 %], budget.window month\n");
}

TEST_CASE("the file of what is set says no more than it must, with the name first") {
  CHECK(
      tenants_document(example("tenants.json")).dump() ==
      R"({"half_life":"24h","rebalance_every":"5m","preempt_after":"5m",)"
      R"("churn":{"per_job":3,"pool":20,"window":"1h"},"tenants":[{"name":"lab","guarantee":8,"guarantee_by_type":{"a100":4},"weight":2,)"
      R"("exclusive_nodes":true,"notice_extension":"5m","budget":)"
      R"({"limit":"5000.00","thresholds":[{"action":"warn","percent":80},{"action":"pause","percent":100}],)"
      R"("window":"month"},"defaults":{"limits":{"max_restarts":5}},"tenants":[)"
      R"({"name":"vision","guarantee":4,"guarantee_by_type":{"a100":4},"borrow":8,"lend":2,"priority_max":10,"job_slots_max":16,)"
      R"("job_price_max":"12.50","job_grace_max":"5m","job_hold_max":"1h","jobs_max":200,"exclusive_nodes":true,)"
      R"("notice_extension":"2m","notice_refusal":"30m","preempt_after":"10m",)"
      R"("defaults":{"elastic":{"cooldown":"1m"},"priority":5,)"
      R"("scaling":{"price_cap":"10.00"}}}]},{"name":"guests","weight":0,"priority_max":0,"job_slots_max":4}]})");
}

TEST_CASE("usage is a table, or lines of values for a program") {
  json tree = example("tenants.json");
  CHECK(usage_table(tree, {}).find("  vision   1234.5000  2469.0000  USD\n") != std::string::npos);
  CHECK(usage_table(tree, {}).find("COST  CURRENCY\n") != std::string::npos);
  CHECK(usage_table({{"tenants", json::array()}}, {}).ends_with("schedctl usage --by job\n"));
  tree["tenants"][0]["now"] = nullptr;
  CHECK(usage_csv(tree) ==
        "tenant,parent,slot_hours,cost,currency\r\n"
        "vision,lab,1234.5,2469.00,USD\r\n"
        "guests,,0,0.00,USD\r\n");
}

TEST_CASE("a label of before the rule of labels breaks no line of the rows") {
  json usage = example("usage.json");
  usage["rows"] = json::array({usage.at("rows").at(0)});
  usage["rows"][0]["by"]["label:project"] = "a\r\nb\u202ec";
  const std::string csv = usage_rows_csv(usage);
  CHECK(csv.find("a  b?c") != std::string::npos);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 2);
}

TEST_CASE("usage of days is a table with its sum, or lines that a spreadsheet reads as texts") {
  const json usage = example("usage.json");
  const std::string table = usage_rows_table(usage, {.width = 80});
  INFO(table);
  CHECK(table.starts_with("2026-11-01 to 2026-11-30 UTC, USD\n"));
  CHECK(table.find("total") != std::string::npos);
  for (const char* hours : {" 1.0001 ", " 200.0000 ", " 0.0020 ", " 201.0022 "}) {
    CHECK(table.find(hours) != std::string::npos);
  }
  CHECK(usage_rows_csv(usage) ==
        "tenant,label:project,jobs,slot_seconds,cost,currency\r\n"
        "speech,,1,3600.5,1.00,USD\r\n"
        "vision,\"faces, and \"\"eyes\"\"\",12,720000.0,2400.00,USD\r\n"
        "vision,'=1+1,1,7.25,0.002013,USD\r\n");
}

TEST_CASE("the pool's account has its own lines, by class, which a spreadsheet gets if it asks for classes") {
  json usage = example("usage.json");
  const std::string table = usage_rows_table(usage, {.width = 80});
  INFO(table);
  CHECK(table.find("pool fragmentation") > table.find("total"));
  CHECK(table.find("pool free") > table.find("pool fragmentation"));
  CHECK(usage_rows_csv(usage).find("free") == std::string::npos);
  usage["by"] = {"class", "tenant"};
  usage["rows"] = json::array();
  CHECK(usage_rows_csv(usage) ==
        "class,tenant,jobs,slot_seconds,cost,currency\r\n"
        "fragmentation,,0,7200.0,4.00,USD\r\n"
        "free,,0,360000.5,200.000277,USD\r\n");
  usage["pool"] = nullptr;
  CHECK(usage_rows_table(usage, {.width = 80}).find("pool") == std::string::npos);
}

}  // namespace tidepool::ctl
