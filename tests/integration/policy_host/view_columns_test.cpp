// The columns of a view for tenants, types of slot and prices, as policy files decide by them; and what becomes of
// policies of version 1.
#include "policies/cluster/cluster_view.hpp"
#include "tests/integration/policy_host/hosts.hpp"

namespace tidepool::test {
namespace {

using policies::cluster::View;
using policies::host::Answers;
using policies::host::PolicyFault;
using policies::host::PolicyHost;

// Two jobs that hold two slots each: one of "gold" on an h100, which it asks for, and one of "team/b" on two nodes of
// cheaper types.
View two_tenants() {
  View view = waiting_jobs(2, 3);
  view.nodes[0].slot_type = "h100";
  view.nodes[0].price_per_hour = 4;
  view.nodes[1].slot_type = "a100";
  view.nodes[1].price_per_hour = 2.5;
  view.jobs[0].tenant = "gold";
  view.jobs[0].types_asked = {"h100", "b200"};  // of which there is none
  view.jobs[0].placement = {{.node = 0, .slots = 2}};
  view.jobs[1].tenant = "team/b";
  view.jobs[1].placement = {{.node = 1, .slots = 1}, {.node = 2, .slots = 1}};
  return view;
}

// The same view with the two jobs in each other's place, and with the nodes' types and prices turned round.
View turned() {
  View view = two_tenants();
  std::swap(view.jobs[0].tenant, view.jobs[1].tenant);
  std::swap(view.jobs[0].types_asked, view.jobs[1].types_asked);
  std::swap(view.jobs[0].placement, view.jobs[1].placement);
  std::swap(view.nodes[0].slot_type, view.nodes[1].slot_type);
  std::swap(view.nodes[0].price_per_hour, view.nodes[1].price_per_hour);
  return view;
}

std::vector<int> sizes_of(PolicyHost& host, const View& view, int by) {
  const auto judged = host.ask(view, {{{.name = "by", .value = double(by)}}});
  REQUIRE(outcome_of(judged) == "answered");
  return std::get<Answers>(judged).sizes;
}

// Two jobs to which a change costs 20 s in the mean: the first has grown to 16 slots or more, for which it stood still
// for 100 s after its workers had booted for 40 s; the second has grown so to 8 workers or more.
View costly_at_sixteen() {
  View view = waiting_jobs(2, 3);
  const auto seconds = [](int count) { return Duration::seconds(count); };
  for (auto& job : view.jobs) {
    job.costs = {.grow = seconds(20), .shrink = seconds(20), .move = seconds(20), .start = seconds(20), .boot = {}};
  }
  policies::cluster::TransitionCosts dear = view.jobs[0].costs;
  dear.grow = seconds(100);
  dear.boot = seconds(40);
  view.jobs[0].costs_by_size = {{.workers = 1, .costs = view.jobs[0].costs}, {.workers = 16, .costs = dear}};
  view.jobs[0].costs_by_size[0].costs.grow = seconds(2);
  view.jobs[1].costs_by_size = {{.workers = 8, .costs = dear}};
  return view;
}

// Of a policy that gives 3 slots where growing to `at` slots takes less than 10 s, else 1.
std::vector<int> cheap_to_grow(PolicyHost& host, const View& view, int at) {
  const auto judged = host.ask(view, {{{.name = "by", .value = 7.0}, {.name = "at", .value = double(at)}}});
  REQUIRE(outcome_of(judged) == "answered");
  return std::get<Answers>(judged).sizes;
}

constexpr const char* kByColumns = R"(
local chosen = {
  function(view, i) return view.tenant[i] == "gold" end,
  function(view, i)
    for _, type in ipairs(view.types_asked[i]) do
      if type == "h100" then return true end
    end
  end,
  function(view, i) return view.types_held[i].h100 ~= nil end,
  function(view, i) return view.price[i] > 5 end,
  function(view) return view.node_type[1] == "h100" end,
  function(view) return view.node_price[1] > 3 end,
  function(view, i, params) return view.grow_seconds_at(i, params.at) < 10 end,
}
return {size = function(view, params)
  local sizes = {}
  for i = 1, view.n do sizes[i] = chosen[params.by](view, i, params) and 3 or 1 end
  return sizes
end})";

void decides_by_columns(PolicyHost& host) {
  for (const int by : {1, 2}) {
    CHECK(sizes_of(host, two_tenants(), by) == std::vector<int>{3, 1});
    CHECK(sizes_of(host, turned(), by) == std::vector<int>{1, 3});
  }
  // In `turned` the second job is on the first node, which is an a100 there; the first is on the second, an h100.
  for (const int by : {3, 4}) CHECK(sizes_of(host, two_tenants(), by) == std::vector<int>{3, 1});
  CHECK(sizes_of(host, turned(), 3) == std::vector<int>{3, 1});
  CHECK(sizes_of(host, turned(), 4) == std::vector<int>{1, 1});  // 2 x 2.5, and 1 x 4 + 1 x 0
  for (const int by : {5, 6}) {
    CHECK(sizes_of(host, two_tenants(), by) == std::vector<int>{3, 3});
    CHECK(sizes_of(host, turned(), by) == std::vector<int>{1, 1});
  }
}

}  // namespace

TEST_CASE("a Lua policy decides by tenant, by types of slot and by price") {
  PolicyHost host = lua_host(kByColumns);
  decides_by_columns(host);
}

TEST_CASE("a native policy decides by tenant, by types of slot and by price") {
  PolicyHost host = native_host("by_columns");
  decides_by_columns(host);
}

TEST_CASE("a policy decides by what a change to a size has cost at sizes like it") {
  const View view = costly_at_sixteen();
  PolicyHost in_lua = lua_host(kByColumns);
  PolicyHost native = native_host("by_columns");
  for (PolicyHost* host : {&in_lua, &native}) {
    CHECK(cheap_to_grow(*host, view, 1) == std::vector<int>{3, 1});
    for (const int at : {2, 16, 31}) CHECK(cheap_to_grow(*host, view, at) == std::vector<int>{1, 1});
  }
}

TEST_CASE("costs at a size are those of its power of two in workers, else the mean") {
  View view = costly_at_sixteen();
  view.jobs[1].slots_per_worker = 2;
  PolicyHost host = lua_host(R"(
return {size = function(view)
  local grow, boot = view.grow_seconds_at, view.boot_seconds_at
  assert(view.grow_seconds[1] == 20 and view.boot_seconds[1] == 0)
  assert(grow(1, 1) == 2 and grow(1, 2) == 20 and grow(1, 15) == 20 and grow(1, 32) == 20)
  assert(grow(1, 16) == 100 and grow(1, 31) == 100)
  assert(boot(1, 15) == 0 and boot(1, 16) == 40)
  assert(view.shrink_seconds_at(1, 16) == 20 and view.move_seconds_at(1, 1) == 20 and view.start_seconds_at(1, 1) == 20)
  assert(grow(2, 14) == 20 and grow(2, 16) == 100 and grow(2, 30) == 100 and grow(2, 32) == 20)
  assert(not pcall(grow, 3, 1))
  return {1, 2}
end})");
  CHECK(outcome_of(host.ask(view, {})) == "answered");
}

TEST_CASE("what is not known of types and prices is false and 0") {
  PolicyHost host = lua_host(R"(
return {size = function(view)
  assert(view.node_type[3] == false and view.node_price[3] == 0)
  assert(#view.types_asked[2] == 0 and view.types_held[2].a100 == 1)
  assert(view.price[1] == 8 and view.price[2] == 2.5)
  for type in pairs(view.types_held[2]) do assert(type == "a100") end
  return {1, 1}
end})");
  CHECK(outcome_of(host.ask(two_tenants(), {})) == "answered");
}

TEST_CASE("a name that does not fit is cut, and no other job gets it") {
  View view = two_tenants();
  view.jobs[0].tenant = std::string(300, 'x');
  PolicyHost host = lua_host(
      "return {size = function(v) assert(#v.tenant[1] == 255 and v.tenant[2] == 'team/b') "
      "return {1, 1} end}");
  CHECK(outcome_of(host.ask(view, {})) == "answered");
}

TEST_CASE("a native policy of version 1 is refused with what to change") {
  PolicyHost host = native_host("old_policy_1");
  const auto loaded = host.load();
  REQUIRE(std::holds_alternative<PolicyFault>(loaded));
  const auto& fault = std::get<PolicyFault>(loaded);
  CHECK(fault.code == "policy.wrong_abi");
  CHECK(fault.message.find("rename its function tidepool_policy_v1 to tidepool_policy_v2") != std::string::npos);
  for (const char* what : {"TIDEPOOL_JOB_TENANT", "TIDEPOOL_JOB_PRICE", "TIDEPOOL_NODE_TYPE", "docs/policies.md"}) {
    CHECK(fault.message.find(what) != std::string::npos);
  }
}

TEST_CASE("a native policy that was renamed and not built anew is refused, too") {
  PolicyHost host = native_host("old_policy_2");
  const auto loaded = host.load();
  REQUIRE(std::holds_alternative<PolicyFault>(loaded));
  const auto& fault = std::get<PolicyFault>(loaded);
  CHECK(fault.code == "policy.wrong_abi");
  CHECK(fault.message.find("build it anew with this tidepool_policy.h") != std::string::npos);
}

}  // namespace tidepool::test
