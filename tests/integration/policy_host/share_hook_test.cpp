// The hook share in real hosts: what it is shown of tenants, what it answers, and what is wrong with that.
#include "policies/cluster/cluster_view.hpp"
#include "policies/host/policy_file.hpp"
#include "tests/integration/policy_host/hosts.hpp"

namespace tidepool::test {
namespace {

using policies::cluster::View;
using policies::host::Answers;
using policies::host::PolicyFault;
using policies::host::PolicyHost;

using Claims = std::vector<std::optional<int>>;

// One tenant with two below it, and one beside it; one job, which is of "vision".
View shared() {
  View view = waiting_jobs(1, 1);
  view.jobs[0].tenant = "vision";
  view.tenants.resize(4);
  const char* names[] = {"lab", "vision", "speech", "guests"};
  for (std::size_t i = 0; i < 4; ++i) {
    view.tenants[i].name = names[i];
    view.tenants[i].guarantee = 4 - static_cast<int>(i);
    view.tenants[i].weight = static_cast<int>(i);
    view.tenants[i].wanted = 10 + static_cast<int>(i);
    view.tenants[i].held = 20 + static_cast<int>(i);
    view.tenants[i].loan = 0.5 + static_cast<double>(i);
  }
  view.tenants[0].is_leaf = false;
  view.tenants[1].parent = view.tenants[2].parent = 0;
  view.tenants[1].borrow = 7;
  view.tenants[2].lend = 1;
  return view;
}

// By column, in the order of the header. Names count in their order: guests, lab, speech, vision.
const std::vector<Claims> kColumns = {{1, 3, 2, 0},
                                      {std::nullopt, 0, 0, std::nullopt},
                                      {4, 3, 2, 1},
                                      {0, 1, 2, 3},
                                      {std::nullopt, 7, std::nullopt, std::nullopt},
                                      {std::nullopt, std::nullopt, 1, std::nullopt},
                                      {10, 11, 12, 13},
                                      {20, 21, 22, 23},
                                      {0, 1, 2, 3},
                                      {0, 1, 1, 1}};

// What Lua shows as a name, a row from 1, a boolean or false is made the number that the header has.
constexpr const char* kByTenants = R"(
local columns = {"name", "parent", "guarantee", "weight", "borrow", "lend", "wanted", "held", "loan", "is_leaf"}
local place = {guests = 0, lab = 1, speech = 2, vision = 3}
return {share = function(view, params)
  local claims, column = {}, columns[params.by + 1]
  for t = 1, view.tenants do
    local value = view["tenant_" .. column][t]
    if column == "name" then value = place[value] end
    if column == "parent" and value then value = value - 1 end
    if column == "is_leaf" then value = value and 1 or 0 end
    claims[t] = value
  end
  return claims
end})";

void answers_by_columns(PolicyHost& host) {
  for (std::size_t by = 0; by < kColumns.size(); ++by) {
    INFO("column " << by);
    const auto judged = ask_by(host, shared(), static_cast<int>(by));
    REQUIRE(outcome_of(judged) == "answered");
    CHECK(std::get<Answers>(judged).claims == kColumns[by]);
  }
}

std::string fault_of(const std::string& answer) {
  return fault_of_hook("share", shared(), answer);
}

}  // namespace

TEST_CASE("a Lua policy is shown the tenants that share the pool, and its claims come back") {
  PolicyHost host = lua_host(kByTenants);
  answers_by_columns(host);
}

TEST_CASE("a native policy is shown the tenants that share the pool, and its claims come back") {
  PolicyHost host = native_host("by_tenants");
  answers_by_columns(host);
  CHECK(outcome_of(ask_by(host, shared(), -1)) == "policy.missing_answer");
  CHECK(outcome_of(ask_by(host, shared(), -2)) == "policy.runtime_error");
}

TEST_CASE("where tenants do not share the pool the hook is not asked, and none is there") {
  PolicyHost lua = lua_host(kByTenants);
  PolicyHost native = native_host("by_tenants");
  for (PolicyHost* host : {&lua, &native}) {
    const auto judged = ask_by(*host, waiting_jobs(1, 1), -2);
    REQUIRE(outcome_of(judged) == "answered");
    CHECK(std::get<Answers>(judged).claims.empty());
  }
  PolicyHost counts = lua_host("return {size = function(v) return {v.tenants + #v.tenant_name + 1} end}");
  CHECK(std::get<Answers>(counts.ask(waiting_jobs(1, 1), {})).sizes == std::vector<int>{1});
}

TEST_CASE("a wrong claim is a fault that names the tenant or its row") {
  CHECK(fault_of("5").find("policy.wrong_type (share): ") == 0);
  CHECK(fault_of("{1, 'all'}").find("share must give row 2 a number, nil or false, not a string") != std::string::npos);
  CHECK(fault_of("{1, true}").find("row 2 a number, nil or false, not true") != std::string::npos);
  CHECK(fault_of("{1, 0/0}").find("policy.invalid_number (share): ") == 0);
  CHECK(fault_of("{vision = 1, speech = 3}")
            .find("policy.wrong_type (share): share has an answer for \"speech\", which is no row: "
                  "rows go from 1 to view.tenants, and view.tenant_name has their names") == 0);
  CHECK(fault_of("{[0] = 1, 2}").find("share has an answer for a key that is a number, which is no row") !=
        std::string::npos);
  CHECK(fault_of("{1, 2, 3, 4, 5}").find("share answers for more tenants than there are") != std::string::npos);
  CHECK(fault_of("{1, -1}") ==
        "policy.invalid_number (share): what tenant vision should have beyond its guarantee is a number from 0 to "
        "1000000000, not -1");
  CHECK(fault_of("{math.huge}").find("policy.invalid_number (share): what tenant lab should have") == 0);
}

TEST_CASE("a native policy that was built before there was the hook goes on working") {
  PolicyHost host = native_host("earlier_header");
  CHECK(std::get<std::uint32_t>(host.load()) == policies::host::kSizes);
  const auto judged = host.ask(shared(), {});
  REQUIRE(outcome_of(judged) == "answered");
  CHECK(std::get<Answers>(judged).sizes == std::vector<int>{2});
  CHECK(std::get<Answers>(judged).claims.empty());
}

TEST_CASE("a file with the hook says so in policy.yaml, or is refused with what to write there") {
  PolicyHost host = lua_host(kByTenants);
  policies::host::PolicyFile file;
  const auto refused = look_over(file, host);
  REQUIRE(std::holds_alternative<PolicyFault>(refused));
  CHECK(std::get<PolicyFault>(refused).message.find("write \"hooks: [share]\" there") != std::string::npos);
  file.manifest.hooks = {"share"};
  CHECK(file.manifest.shares());
  CHECK(std::get<std::vector<std::string>>(look_over(file, host)) == std::vector<std::string>{"share"});
}

}  // namespace tidepool::test
