// The files of tests that authors write beside a policy.
#include "policies/host/policy_test.hpp"

#include <catch2/catch.hpp>

namespace tidepool::policies::host {
namespace {

using nlohmann::json;

json small_test() {
  return {{"name", "small"},
          {"cluster", {{"nodes", 2}, {"slots_per_node", 4}, {"now", "1h"}}},
          {"jobs", {{{"name", "a"}, {"wanted", 2}, {"holds", 6}, {"held", "10s"}}, {{"name", "b"}, {"max", 3}}}},
          {"expect", {{"sizes", {{"a", 2}}}}}};
}

std::string test_finding(const json& test) {
  std::vector<FieldError> errors;
  (void)read_tests(json::array({test}), errors);
  return errors.empty() ? "" : errors.front().pointer;
}

}  // namespace

TEST_CASE("a test's cluster and jobs become rows; what a job holds fills nodes in order") {
  std::vector<FieldError> errors;
  const auto tests = read_tests(json::array({small_test()}), errors);
  REQUIRE(errors.empty());
  REQUIRE(tests.size() == 1);
  const cluster::View& view = tests[0].view;
  CHECK(view.slots() == 8);
  CHECK(view.jobs[0].placement == cluster::Placement{{0, 4}, {1, 2}});
  CHECK(view.jobs[0].slot_seconds == 60);
  CHECK(view.jobs[1].size_max == 3);
  CHECK(view.jobs[1].speed->goodput({1, 1}) == 1);
}

TEST_CASE("a test states tenants, the types of its nodes, their prices, and which types jobs ask for") {
  json test = small_test();
  test["cluster"]["types"] = {"h100", "a100"};
  test["cluster"]["nodes"] = 3;
  test["cluster"]["prices"] = {{"h100", 4}, {"a100", 2.5}};
  test["jobs"][0]["tenant"] = "gold";
  test["jobs"][1]["types_asked"] = {"a100"};
  std::vector<FieldError> errors;
  const auto tests = read_tests(json::array({test}), errors);
  REQUIRE(errors.empty());
  const cluster::View& view = tests[0].view;
  CHECK(view.nodes[0].slot_type == "h100");
  CHECK(view.nodes[2].slot_type == "a100");  // the last type holds for the nodes that are left
  CHECK(view.nodes[2].price_per_hour == 2.5);
  CHECK(view.jobs[0].tenant == "gold");
  CHECK(view.jobs[1].tenant == "default");
  CHECK(view.jobs[1].nodes == std::vector{1, 2});
  CHECK(view.price_per_hour(view.jobs[0].placement) == 4 * 4 + 2 * 2.5);
  CHECK(view.types_held(view.jobs[0].placement) == std::map<std::string_view, int>{{"a100", 2}, {"h100", 4}});
  test["cluster"]["prices"] = {{"v100", 4}};
  CHECK(test_finding(test) == "/0/cluster/prices");
  test["cluster"]["prices"] = {{"h100", "dear"}};
  CHECK(test_finding(test) == "/0/cluster/prices");
  test["cluster"].erase("prices");
  test["jobs"][1]["types_asked"] = "a100";
  CHECK(test_finding(test) == "/0/jobs/1/types_asked");
}

TEST_CASE("a test states the tenants of its cluster; what they want and hold follows from its jobs") {
  json test = small_test();
  test["cluster"]["tenants"] = {{{"name", "lab"}, {"guarantee", 4}},
                                {{"name", "vision"}, {"parent", "lab"}, {"guarantee", 2}, {"weight", 3}, {"loan", 1.5}},
                                {{"name", "speech"}, {"borrow", 2}, {"lend", 0}}};
  test["jobs"][0]["tenant"] = "vision";
  test["jobs"][1]["tenant"] = "speech";
  test["expect"] = {{"shares", {{"vision", 6}, {"speech", false}}}, {"entitled", {{"lab", 8}}}};
  std::vector<FieldError> errors;
  const auto tests = read_tests(json::array({test}), errors);
  for (const auto& error : errors) UNSCOPED_INFO(error.pointer + ": " + error.message);
  REQUIRE(errors.empty());
  const auto& tenants = tests[0].view.tenants;
  REQUIRE(tenants.size() == 3);
  CHECK(tenants[0].is_leaf == false);
  CHECK(tenants[1].parent == 0);
  CHECK(tenants[1].held == 6);
  CHECK(tenants[0].held == 6);
  CHECK(tenants[0].loan == 1.5);
  CHECK(tenants[2].wanted == 3);
  CHECK(tests[0].expect.shares.at("speech") == std::nullopt);
  const auto finding = [&](const char* where, const json& value) {
    json wrong = test;
    wrong[json::json_pointer(where)] = value;
    return test_finding(wrong);
  };
  CHECK(finding("/cluster/tenants/1/parent", "labs") == "/0/cluster/tenants");
  CHECK(finding("/cluster/tenants/1/guarantee", 5) == "/0/cluster/tenants");  // more than its parent's
  CHECK(finding("/cluster/tenants/0/loan", 1) == "/0/cluster/tenants/0/loan");
  CHECK(finding("/cluster/tenants/0/colour", 1) == "/0/cluster/tenants/0/colour");
  CHECK(finding("/cluster/tenants", json::array()) == "/0/cluster/tenants");
  CHECK(finding("/jobs/0/tenant", "lab") == "/0/jobs/0/tenant");
  CHECK(finding("/expect/shares/images", 3) == "/0/expect/shares");
  CHECK(finding("/expect/shares/vision", true) == "/0/expect/shares");
  CHECK(finding("/expect/entitled/vision", "all") == "/0/expect/entitled");
  CHECK(finding("/expect/grants", {{"a", 2}}) == "/0/expect/grants");
}

TEST_CASE("a test states the pools of its cluster, by name, and may then have neither nodes nor jobs") {
  json test = small_test();
  test["cluster"]["pools"] = {{{"name", "spot"}, {"type", "a100"}, {"spot", true}, {"max", 4}, {"backoff", "30s"}},
                              {{"name", "gpu"},
                               {"slots", 8},
                               {"price", 2},
                               {"min", 1},
                               {"max", 5},
                               {"nodes", 3},
                               {"coming", 1},
                               {"idle", 2},
                               {"idle_longest", "4m"},
                               {"backlog_slots", 12}}};
  test["cluster"]["nodes"] = 0;
  test.erase("jobs");
  test["expect"] = {{"nodes", {{"gpu", 2}, {"spot", false}}}, {"why_nodes", {{"gpu", "Spare"}}}};
  std::vector<FieldError> errors;
  const auto tests = read_tests(json::array({test}), errors);
  for (const auto& error : errors) UNSCOPED_INFO(error.pointer + ": " + error.message);
  REQUIRE(errors.empty());
  const auto& pools = tests[0].view.pools;
  REQUIRE(pools.size() == 2);
  CHECK(pools[0].name == "gpu");
  CHECK(pools[0].slots == 8);
  CHECK(pools[0].worth_per_hour == 2);  // not below the price
  CHECK(pools[0].standard == 3);        // as many as there are
  CHECK(pools[0].idle_longest == Duration::seconds(240));
  CHECK(pools[1].spot);
  CHECK(pools[1].backoff == Duration::seconds(30));
  CHECK(tests[0].expect.nodes.at("spot") == std::nullopt);
  const auto finding = [&](const char* where, const json& value) {
    json wrong = test;
    wrong[json::json_pointer(where)] = value;
    return test_finding(wrong);
  };
  CHECK(finding("/cluster/pools/1/max", 0) == "/0/cluster/pools/1/max");
  CHECK(finding("/cluster/pools/1/idle", 3) == "/0/cluster/pools/1/nodes");  // one more than there are
  CHECK(finding("/cluster/pools/1/lead", "soon") == "/0/cluster/pools/1/lead");
  CHECK(finding("/cluster/pools/1/colour", 1) == "/0/cluster/pools/1/colour");
  CHECK(finding("/cluster/pools/1/name", "spot") == "/0/cluster/pools");
  CHECK(finding("/cluster/pools", json::array()) == "/0/cluster/pools");
  CHECK(finding("/expect/nodes/cpu", 3) == "/0/expect/nodes");
  CHECK(finding("/expect/nodes/gpu", true) == "/0/expect/nodes");
  CHECK(finding("/expect/why_nodes/gpu", 1) == "/0/expect/why_nodes");
  test["cluster"].erase("pools");
  test.erase("expect");
  test["expect"] = {{"order", json::array()}, {"fault", "policy.deadline"}};
  test["cluster"]["nodes"] = 2;
  CHECK(test_finding(test) == "/0/jobs");
}

TEST_CASE("a test states what changes to some sizes cost; what it leaves out is as at other sizes") {
  json test = small_test();
  test["jobs"][0]["transition"] = "20s";
  test["jobs"][0]["costs"] = {{"16", {{"grow", "2m"}, {"boot", "40s"}}}, {"1", {{"start", "5s"}}}};
  std::vector<FieldError> errors;
  const auto tests = read_tests(json::array({test}), errors);
  REQUIRE(errors.empty());
  const cluster::JobRow& job = tests[0].view.jobs[0];
  REQUIRE(job.costs_by_size.size() == 2);
  CHECK(costs_at(job, 1).start == Duration::seconds(5));
  CHECK(costs_at(job, 1).grow == Duration::seconds(20));
  CHECK(costs_at(job, 31).grow == Duration::seconds(120));
  CHECK(costs_at(job, 16).shrink == Duration::seconds(20));
  CHECK(costs_at(job, 16).boot == Duration::seconds(40));
  for (const json& wrong : {json("2m"), json{{"3", {{"grow", "2m"}}}}, json{{"many", json::object()}}}) {
    test["jobs"][0]["costs"] = wrong;
    CHECK(test_finding(test) == "/0/jobs/0/costs");
  }
  test["jobs"][0]["costs"] = {{"16", "2m"}};
  CHECK(test_finding(test) == "/0/jobs/0/costs/16");
  test["jobs"][0]["costs"] = {{"16", {{"grow", "soon"}}}};
  CHECK(test_finding(test) == "/0/jobs/0/costs/16/grow");
  test["jobs"][0]["costs"] = {{"16", {{"grows", "2m"}}}};
  CHECK(test_finding(test) == "/0/jobs/0/costs/16/grows");
}

TEST_CASE("speeds between stated sizes lie on straight lines, beyond them they stay") {
  const StatedSpeed speed({{1, 1}, {4, 2.5}});
  CHECK(speed.goodput({1, 2}) == Approx(1.5));
  CHECK(speed.goodput({1, 4}) == 2.5);
  CHECK(speed.goodput({2, 8}) == 2.5);
}

TEST_CASE("each mistake is found where it stands") {
  CHECK(test_finding(small_test()).empty());
  json test = small_test();
  test["jobs"][1]["wantd"] = 1;
  CHECK(test_finding(test) == "/0/jobs/1/wantd");
  test = small_test();
  test["expect"]["sizes"]["c"] = 1;
  CHECK(test_finding(test) == "/0/expect/sizes");
  test = small_test();
  test["expect"]["fault"] = "policy.unheard_of";
  CHECK(test_finding(test) == "/0/expect/fault");
  test = small_test();
  test.erase("jobs");
  CHECK(test_finding(test) == "/0/jobs");
  test = small_test();
  test["jobs"][0]["goodput"] = {{"one", 1}};
  CHECK(test_finding(test) == "/0/jobs/0/goodput");
  test = small_test();
  test["jobs"][0]["goodput"] = {{"1", -1}};
  CHECK(test_finding(test) == "/0/jobs/0/goodput");
}

TEST_CASE("a test that says something else than its author meant is no test") {
  json test = small_test();
  test["jobs"][1]["name"] = "a";
  CHECK(test_finding(test) == "/0/jobs/1/name");
  test = small_test();
  test["jobs"][0]["holds"] = 9;  // of 8
  CHECK(test_finding(test) == "/0/jobs/0/holds");
  test = small_test();
  test["jobs"][0]["max"] = 1;  // and wants 2
  CHECK(test_finding(test) == "/0/jobs/0/max");
  test = small_test();
  test["params"] = 5;
  CHECK(test_finding(test) == "/0/params");
  test = small_test();
  test["expect"]["order"] = "a";
  CHECK(test_finding(test) == "/0/expect/order");
}

TEST_CASE("a test that expects nothing could not fail, and is refused") {
  json test = small_test();
  test["expect"] = json::object();
  CHECK(test_finding(test) == "/0/expect");
  test.erase("expect");
  CHECK(test_finding(test) == "/0/expect");
}

}  // namespace tidepool::policies::host
