// Tenants of a simulated run: equal parts, dealt jobs, own parts, and what their times come to.
#include <catch2/catch.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/sharing.hpp"
#include "studies/sim_run.hpp"
#include "studies/tenant_split.hpp"

namespace tidepool::sim {
namespace {

core::TenantTree two_of(int vision, int speech) {
  return {.tenants = {{.name = "vision", .guarantee = vision}, {.name = "speech", .guarantee = speech}}};
}

Workload many_jobs() {
  Workload workload = generate_workload({.seed = 5, .jobs = 1'000});
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) workload.jobs[i].user = "user-" + std::to_string(i % 50);
  return workload;
}

std::map<std::string, int> jobs_by_tenant(const Workload& workload) {
  std::map<std::string, int> counts;
  for (const SimJob& job : workload.jobs) ++counts[job.spec.tenant];
  return counts;
}

// Two gangs of four and a job of one, of a trace that names their tenants.
SimOptions two_tenants() {
  SimOptions options{.workload = "t.csv", .cluster = "2x4", .policy = "tidal"};
  options.workload_csv =
      "name,tenant,submit_s,gpus,duration_s\n"
      "a,vision,0,4,100\nb,vision,0,4,100\nc,speech,300,1,100\n";
  options.tenants = two_of(4, 4);
  return options;
}

std::string refusal_of(const SimOptions& options) {
  const auto report = run(options);
  return report.ok() ? "none" : report.error().message;
}

}  // namespace

TEST_CASE("a pool is split into parts that differ by a slot at most and add up to it") {
  const auto tree = equal_tenants(3, 8);
  REQUIRE(tree.ok());
  REQUIRE(tree->tenants.size() == 3);
  CHECK(tree->tenants[0].guarantee == 3);
  CHECK(tree->tenants[1].guarantee == 3);
  CHECK(tree->tenants[2].guarantee == 2);
  CHECK(equal_tenants(9, 8).error().message == "a pool of 8 slots can be split between 1 to 8 tenants, not 9");
}

TEST_CASE("jobs are dealt in proportion to guarantees, each without regard to the others") {
  Workload workload = many_jobs();
  REQUIRE(deal_jobs(workload, two_of(6, 2), {.unit = "job", .seed = 1}));
  auto counts = jobs_by_tenant(workload);
  CHECK(counts["vision"] == Approx(750).margin(60));
  CHECK(counts["vision"] + counts["speech"] == 1'000);

  Workload half = many_jobs();
  half.jobs.resize(500);
  REQUIRE(deal_jobs(half, two_of(6, 2), {.unit = "job", .seed = 1}));
  for (std::size_t i = 0; i < half.jobs.size(); ++i) {
    CHECK(half.jobs[i].spec.tenant == workload.jobs[i].spec.tenant);
  }
  REQUIRE(deal_jobs(half, two_of(6, 2), {.unit = "job", .seed = 2}));
  CHECK(jobs_by_tenant(half) != jobs_by_tenant(many_jobs()));
}

TEST_CASE("what is dealt together stays together, and leaves alone get jobs") {
  core::TenantTree tree = two_of(4, 4);
  tree.tenants.push_back({.name = "images", .parent = "vision"});
  tree.tenants.push_back({.name = "video", .parent = "vision"});
  Workload workload = many_jobs();
  REQUIRE(deal_jobs(workload, tree, {.unit = "user", .seed = 3}));
  std::map<std::string, std::set<std::string>> tenants_of_user;
  for (const SimJob& job : workload.jobs) tenants_of_user[job.user].insert(job.spec.tenant);
  for (const auto& [user, tenants] : tenants_of_user) CHECK(tenants.size() == 1);
  CHECK(jobs_by_tenant(workload).count("vision") == 0);
  REQUIRE(check_jobs(workload, tree));

  REQUIRE(deal_jobs(workload, tree, {.unit = "hour", .seed = 3}));
  std::map<std::int64_t, std::set<std::string>> tenants_of_hour;
  for (const SimJob& job : workload.jobs) {
    tenants_of_hour[job.arrives.count_ms() / 3'600'000].insert(job.spec.tenant);
  }
  for (const auto& [hour, tenants] : tenants_of_hour) CHECK(tenants.size() == 1);
  CHECK(jobs_by_tenant(workload).size() == 3);

  workload.jobs[7].user.clear();
  CHECK(deal_jobs(workload, tree, {.unit = "user"}).error().message ==
        "the job job-8 names no user; deal by job or by hour");
  CHECK(deal_jobs(workload, tree, {.unit = "size"}).error().message ==
        "jobs are dealt by hour, job, tenant, user, not by \"size\"");
}

TEST_CASE("a tenant's own part is whole nodes and one with the rest, with its jobs alone") {
  SimSetup shared;
  shared.cluster = {.nodes = 4, .slots_per_node = 4};
  shared.workload = many_jobs();
  const core::TenantTree tree = two_of(6, 10);
  REQUIRE(deal_jobs(shared.workload, tree, {.unit = "job"}));
  shared.tenants = tree;
  const SimSetup own = own_part(shared, tree.tenants[0]);
  CHECK(own.cluster.nodes == 2);
  REQUIRE(own.kinds.size() == 2);
  CHECK(own.kinds[0].slots == 4);
  CHECK(own.kinds[1].slots == 2);
  CHECK(own.tenants.empty());
  CHECK(jobs_by_tenant(own.workload) ==
        std::map<std::string, int>{{"vision", jobs_by_tenant(shared.workload)["vision"]}});
}

TEST_CASE("times of tenants stand beside those on their own parts") {
  // Alone, a and b follow each other; in the shared pool b has the slots that speech does not use.
  SimOptions options = two_tenants();
  options.alone = true;
  const auto report = run(options);
  if (!report) FAIL(report.error().message);
  REQUIRE(report->sharing);
  const Sharing& sharing = *report->sharing;
  REQUIRE(sharing.tenants.size() == 2);
  CHECK(sharing.tenants[0].jobs == 2);
  CHECK(*sharing.tenants[0].avg_jct_s == Approx(100).margin(3));
  CHECK(*sharing.tenants[0].alone_jct_s == Approx(150).margin(3));
  CHECK(*sharing.tenants[1].ratio() == Approx(1).margin(0.02));
  CHECK(*sharing.mean_ratio == Approx((2.0 / 3 + 1) / 2).margin(0.02));
  CHECK(*sharing.worst_ratio == Approx(1).margin(0.02));
  CHECK(*sharing.jobs_ratio == Approx(300.0 / 400).margin(0.02));

  options.alone = false;
  const auto without = run(options);
  REQUIRE(without.ok());
  CHECK(without->score.digest == report->score.digest);
  const auto told = to_json(*without->sharing);
  CHECK(told["tenants"][0]["alone_jct_s"].is_null());
  CHECK(told["mean_ratio"].is_null());
  CHECK(without->notes.empty());
  options.policy = "fifo";
  CHECK(run(options)->notes ==
        std::vector<std::string>{"the policy fifo sizes each job by itself, so slots are not shared by rule"});
  options.tenants = {};
  CHECK_FALSE(run(options)->sharing);
}

TEST_CASE("what a tenant is guaranteed it has in the run") {
  SimOptions options{.workload = "t.csv", .cluster = "2x4", .policy = "tidal"};
  std::string& text = options.workload_csv.emplace("name,tenant,submit_s,gpus,duration_s\n");
  for (int i = 0; i < 8; ++i) text += "v" + std::to_string(i) + ",vision,0,4,1000\n";
  text += "s,speech,200,4,1000\n";
  const auto waits_s = [&] {
    const auto report = run(options);
    if (!report) FAIL(report.error().message);
    return *report->rows.back().started_s - report->rows.back().submitted_s;
  };
  CHECK(waits_s() > 700);
  options.tenants = two_of(4, 4);
  CHECK(waits_s() < 60);
}

TEST_CASE("all jobs of a workload are run, whatever jobs_max of their tenants is") {
  SimOptions options = two_tenants();
  const auto without = run(options);
  REQUIRE(without.ok());
  options.tenants.tenants[0].jobs_max = 1;
  const auto report = run(options);
  if (!report) FAIL(report.error().message);
  CHECK(report->score.digest == without->score.digest);
  for (const auto& row : report->rows) CHECK(row.finished_s.has_value());
}

TEST_CASE("a tree that does not go with the trace or the cluster is refused, with what to do") {
  SimOptions options = two_tenants();
  options.tenants = two_of(5, 4);
  CHECK(
      refusal_of(options) ==
      "the tenants are guaranteed 9 slots together, the cluster has 8; give smaller guarantees, or a larger --cluster");
  options.tenants = {.tenants = {{.name = "vision", .guarantee = 4}}};
  CHECK(refusal_of(options) ==
        "the job c is of the tenant \"speech\", which is not there; add it below the pool, or deal the jobs over the "
        "leaves with --deal");
  options.deal = "job";
  CHECK(refusal_of(options) == "none");
  options = two_tenants();
  options.tenants.tenants.push_back({.name = "images", .parent = "vision"});
  CHECK(refusal_of(options).starts_with("the job a is of the tenant \"vision\", which is no leaf of the tree"));
  options = two_tenants();
  options.tenants.tenants[0].job_slots_max = 2;
  CHECK(refusal_of(options).starts_with("the job a: "));
  options = two_tenants();
  options.tenants = two_of(2, 4);
  options.alone = true;
  CHECK(refusal_of(options) ==
        "the job a needs 4 slots, its tenant vision alone has 2; raise its guarantee, allow smaller sizes with "
        "--elastic-max, or leave out --alone");
  options = two_tenants();
  options.alone = true;
  options.cluster = "1x4:v100,1x4:t4";
  CHECK(refusal_of(options) == "--alone needs nodes that are alike: give --cluster NODESxSLOTS, no --pool");
}

}  // namespace tidepool::sim
