// The hook provision in real hosts: what it is shown of pools, what it answers, what is wrong with that, and the nodes
// that come of it.
#include "policies/cluster/cluster_view.hpp"
#include "policies/host/file_policy.hpp"
#include "policies/host/file_round.hpp"
#include "policies/host/policy_file.hpp"
#include "tests/integration/policy_host/hosts.hpp"
#include "tests/support/policy_parts.hpp"
#include "tests/support/pool_story.hpp"

namespace tidepool::test {
namespace {

using policies::cluster::View;
using policies::host::Answers;
using policies::host::PolicyFault;
using policies::host::PolicyHost;

using Nodes = std::vector<std::optional<int>>;

// Two pools and no job. Each column has a number of its own, and all are within bounds.
View two_pools() {
  View view = waiting_jobs(0, 1);
  view.pools = {{.name = "gpu", .slot_type = "h100", .lead = {}, .idle_after = {}, .idle_longest = {}, .backoff = {}},
                {.name = "spot", .slot_type = "", .lead = {}, .idle_after = {}, .idle_longest = {}, .backoff = {}}};
  for (std::size_t i = 0; i < 2; ++i) {
    auto& pool = view.pools[i];
    int next = static_cast<int>(i);
    const auto seconds = [&] { return Duration::seconds(next += 2); };
    pool.slots = next += 2;
    pool.price_per_hour = next += 2;
    pool.worth_per_hour = next += 2;
    pool.min = 0;
    pool.max = 100;
    pool.spot = i == 1;
    pool.lead = seconds();
    pool.idle_after = seconds();
    pool.nodes = next += 2;
    pool.coming = next += 2;
    pool.leaving = next += 2;
    pool.idle = next += 2;
    pool.idle_longest = seconds();
    pool.backoff = seconds();
    pool.backlog_jobs = next += 2;
    pool.backlog_slots = next += 2;
    pool.more_worth = next += 2;
    pool.standard = next += 2;
  }
  return view;
}

// By column, in the order of the header. A name counts in its order; the one type there is has the number 0.
const std::vector<Nodes> kPoolColumns = {
    {0, 1},   {0, std::nullopt}, {2, 3},   {4, 5},   {6, 7},   {0, 0},   {100, 100}, {0, 1},   {8, 9},   {10, 11},
    {12, 13}, {14, 15},          {16, 17}, {18, 19}, {20, 21}, {22, 23}, {24, 25},   {26, 27}, {28, 29}, {30, 31}};

// What Lua shows as a name, a boolean or false is made the number that the header has.
constexpr const char* kByPools = R"(
local columns = {"name", "type", "slots", "price", "worth", "min", "max", "spot", "lead", "idle_after", "nodes",
                 "coming", "leaving", "idle", "idle_longest", "backoff", "backlog_jobs", "backlog_slots",
                 "more_worth", "standard"}
local place = {gpu = 0, spot = 1, h100 = 0}
return {
  size = function() error("asked of jobs") end,
  provision = function(view, params)
    local nodes, column = {}, columns[params.by + 1]
    for p = 1, view.pools do
      local value = view["pool_" .. column][p]
      if column == "name" or column == "type" then value = place[value] end
      if column == "spot" then value = value and 1 or 0 end
      nodes[p] = value
    end
    view.why_pool(view.pools, "ByColumn", {by = params.by})
    return nodes
  end})";

void wants_by_columns(PolicyHost& host) {
  for (std::size_t by = 0; by < kPoolColumns.size(); ++by) {
    INFO("column " << by);
    const auto judged = ask_by(host, two_pools(), static_cast<int>(by));
    REQUIRE(outcome_of(judged) == "answered");
    const auto& answers = std::get<Answers>(judged);
    CHECK(answers.nodes == kPoolColumns[by]);
    REQUIRE(answers.why_nodes.size() == 2);
    CHECK(answers.why_nodes[0].code.empty());
    CHECK(answers.why_nodes[1].code == "ByColumn");
    CHECK(answers.why_nodes[1].numbers == std::vector<core::ReasonNumber>{{"by", double(by)}});
  }
}

std::string fault_of_nodes(const std::string& answer) {
  return fault_of_hook("provision", two_pools(), answer);
}

// Keeps a spare node, as examples/policies/spare_node.
constexpr const char* kSpare = R"(
return {provision = function(view)
  local nodes = {}
  for p = 1, view.pools do
    local used = view.pool_nodes[p] - view.pool_idle[p] - view.pool_coming[p]
    nodes[p] = math.min(view.pool_max[p], math.max(view.pool_standard[p], used + 1))
    if nodes[p] > view.pool_standard[p] then view.why_pool(p, "Spare", {used = used}) end
  end
  return nodes
end})";

core::Engine::Parts hosted_parts() {
  core::Engine::Parts parts = parts_of("tidal");
  parts.file_policy = std::make_shared<const policies::host::FilePolicy>(policies::host::built_in_fallback());
  return parts;
}

// A story under a policy file that is asked in a real host.
struct HostedPools : PoolStory {
  explicit HostedPools(const std::string& lua) : PoolStory(hosted_parts(), {gpu_pool()}), host(lua_host(lua)) {
    learn(core::PolicyActivated{core::PolicyFileRef{"spare", std::string(64, 'a'), "{}", false, true}});
  }
  std::vector<std::string> ask() {
    const auto number = engine().pending_policy_request(now());
    REQUIRE(number);
    policies::host::FileRounds rounds(parts);
    auto round = rounds.ask(host, {}, {state(), now(), *state().deployment.active, *number});
    INFO(round.message);
    learn(core::PolicyAnswered{std::move(round)});
    return plan();
  }

  const core::Engine::Parts parts = hosted_parts();
  PolicyHost host;
};

}  // namespace

TEST_CASE(
    "a Lua policy is shown the pools, and the nodes that it wants come back; where no job is, it is asked no more") {
  PolicyHost host = lua_host(kByPools);
  wants_by_columns(host);
}

TEST_CASE("a native policy is shown the pools, and the nodes that it wants come back") {
  PolicyHost host = native_host("by_pools");
  wants_by_columns(host);
  CHECK(std::get<Answers>(ask_by(host, two_pools(), -3)).nodes == Nodes{std::nullopt, std::nullopt});
  CHECK(outcome_of(ask_by(host, two_pools(), -1)) == "policy.missing_answer");
  CHECK(outcome_of(ask_by(host, two_pools(), -2)) == "policy.runtime_error");
}

TEST_CASE(
    "where there are jobs and slots the other hooks are asked too, and where there are no pools provision is not") {
  PolicyHost lua = lua_host(kByPools);
  PolicyHost native = native_host("by_pools");
  View view = two_pools();
  view.jobs = waiting_jobs(1, 1).jobs;
  for (PolicyHost* host : {&lua, &native}) CHECK(outcome_of(ask_by(*host, view, 0)) == "policy.runtime_error");
  view.nodes.clear();
  for (PolicyHost* host : {&lua, &native}) CHECK(outcome_of(ask_by(*host, view, 0)) == "answered");
  PolicyHost alone = lua_host("return {provision = function() error('asked') end}");
  CHECK(outcome_of(alone.ask(waiting_jobs(1, 1), {})) == "answered");
}

TEST_CASE("a wrong number of nodes is a fault that names the pool or its row") {
  CHECK(fault_of_nodes("3").find("policy.wrong_type (provision): ") == 0);
  CHECK(fault_of_nodes("{1, 'all'}").find("provision must give row 2 a number, nil or false, not a string") !=
        std::string::npos);
  CHECK(fault_of_nodes("{1, 0/0}").find("policy.invalid_number (provision): ") == 0);
  CHECK(
      fault_of_nodes("{math.huge}").find("policy.invalid_number (provision): inf is no number of nodes for pool gpu") ==
      0);
  CHECK(fault_of_nodes("{gpu = 1}")
            .find("provision has an answer for \"gpu\", which is no row: rows go from 1 to "
                  "view.pools") != std::string::npos);
  CHECK(fault_of_nodes("{1, 2, 3}").find("provision answers for more pools than there are") != std::string::npos);
  CHECK(fault_of_nodes("{1, -1}") ==
        "policy.invalid_nodes (provision): -1 is not a number of nodes that pool spot may have: a whole one from 0 to "
        "100");
  CHECK(fault_of_nodes("{101}").find("policy.invalid_nodes (provision): 101 is not") == 0);
  CHECK(fault_of_nodes("{0.5}").find("policy.invalid_nodes (provision): 0.5 is not") == 0);
  CHECK(fault_of_nodes("view.why_pool(3, 'Spare')").find("no such pool; rows go from 1 to view.pools") !=
        std::string::npos);
  CHECK(fault_of_nodes("view.why_pool(1, 'not a word')").find("policy.invalid_reason") == 0);
}

TEST_CASE("a file with the hook provision lists it in policy.yaml, or is refused with what to write there") {
  PolicyHost host = lua_host(kSpare);
  policies::host::PolicyFile file;
  const auto refused = look_over(file, host);
  REQUIRE(std::holds_alternative<PolicyFault>(refused));
  CHECK(std::get<PolicyFault>(refused).message.find("write \"hooks: [provision]\" there") != std::string::npos);
  file.manifest.hooks = {"provision"};
  CHECK(file.manifest.provisions());
  CHECK(std::get<std::vector<std::string>>(look_over(file, host)) == std::vector<std::string>{"provision"});
}

TEST_CASE("a policy file keeps a spare node: one before any job, and the next as soon as that is taken") {
  HostedPools pool(kSpare);
  CHECK(pool.ask() ==
        std::vector<std::string>{
            "gpu-1: one more node, because the pool has 0 nodes and the policy wants 1: Spare (used 0); a "
            "node of 2 slots costs 2 an hour and joins in about 30 s"});
  pool.joins(1);
  pool.pass(Duration::seconds(20));
  CHECK(pool.ask().empty());
  const JobId job = pool.submit({.min = 1, .max = 1});
  CHECK(pool.ask().empty());  // it starts on the node that is there
  pool.settle(job);
  pool.pass(Duration::seconds(20));
  CHECK(pool.ask().front().starts_with("gpu-2: one more node, because the pool has 1 node and the policy wants 2"));
}

TEST_CASE("nodes that a policy file may not want are a fault, and the built-in rule decides in that round") {
  HostedPools pool("return {provision = function() return {9} end}");
  const JobId job = pool.submit({.min = 1, .max = 1});
  CHECK(pool.ask().front().starts_with("gpu-1: one more node for " + job.text()));
  CHECK(pool.count("policy.error") == 1);
}

}  // namespace tidepool::test
