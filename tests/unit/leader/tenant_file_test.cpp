#include "schedulerd/leader/tenant_file.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include "base/written.hpp"
#include "core/codec/codec.hpp"
#include "core/state/tenant_settings.hpp"

namespace tidepool::leader {
namespace {

using nlohmann::json;

// The file of docs/operations.md, as JSON.
json tenants_document() {
  return json::parse(R"({
    "half_life": "12h", "rebalance_every": "1m", "preempt_after": "5m",
    "churn": {"per_job": 3, "pool": 20, "window": "30m"},
    "tenants": [
      {"name": "lab", "guarantee": 8, "weight": 2, "tenants": [
        {"name": "vision", "guarantee": 4, "borrow": 8, "lend": 2, "priority_max": 10, "job_slots_max": 16,
         "job_price_max": 12.50, "job_grace_max": "10m", "job_hold_max": "1h", "jobs_max": 200, "exclusive_nodes": true,
         "notice_extension": "2m", "notice_refusal": "30m", "preempt_after": "10m"},
        {"name": "speech", "weight": 0}]},
      {"name": "guests"}]
  })");
}

json tree_with(const char* pointer, json value) {
  json document = tenants_document();
  document[json::json_pointer(pointer)] = std::move(value);
  return document;
}

// The only finding is this one; gives what it says.
std::string finding(const json& document, const std::string& pointer, const std::string& code) {
  const auto findings = read_tenant_tree(document);
  INFO(document.dump());
  REQUIRE(findings.errors.size() == 1);
  INFO(findings.errors.front().message);
  CHECK(findings.errors.front().pointer == pointer);
  CHECK(findings.errors.front().code == code);
  return findings.errors.front().message;
}

// A setting with this value, or with one slot type of it.
template <class T>
T holding(const typename core::LimitOf<T>::Type& value) {
  if constexpr (std::is_same_v<T, std::map<std::string, int>>) {
    return {{"a100", value}};
  } else {
    return T(value);
  }
}

// A tenant of which nothing else is set, but slots for what it is guaranteed by type.
template <class T>
core::Tenant tenant_with(const core::TenantSetting<T>& row, const typename core::LimitOf<T>::Type& value) {
  core::Tenant tenant{.name = "a", .guarantee = core::kTenantSlotsMost};
  tenant.*row.field = holding<T>(value);
  return tenant;
}

json document_with(const core::Tenant& tenant, const auto& row) {
  json entry = {{"name", tenant.name}, {"guarantee", tenant.guarantee}};
  entry[row.name] = written(tenant.*row.field);
  return {{"tenants", json::array({entry})}};
}

}  // namespace

TEST_CASE("each setting is read as it is written, and stored, up to both of its limits") {
  core::for_each_setting([](const auto& row) {
    for (const auto& value : {row.least, row.most}) {
      const core::Tenant tenant = tenant_with(row, value);
      const json document = document_with(tenant, row);
      INFO(document.dump());
      if constexpr (std::is_same_v<decltype(row.most), Money>) {
        if (value == row.most) continue;  // beyond all amounts of money that files may name
      }
      const auto [errors, tree] = read_tenant_tree(document);
      REQUIRE(errors.empty());
      CHECK(tree.tenants == std::vector{tenant});
      CHECK(core::check_tenants(tree).ok());
      const auto fact = core::fact_from_json(core::to_json(core::Fact(core::TenantsConfigured{tree})));
      REQUIRE(fact.ok());
      CHECK(std::get<core::TenantsConfigured>(*fact).tree == tree);
    }
  });
}

TEST_CASE("below its least a setting is refused, in a file and in a tree") {
  core::for_each_setting([]<class T>(const core::TenantSetting<T>& row) {
    using Limit = typename core::LimitOf<T>::Type;
    if constexpr (!std::is_same_v<Limit, bool>) {
      Limit below = row.least;
      if constexpr (std::is_arithmetic_v<Limit>) {
        below -= 1;
      } else {
        below = below - Limit::micros(1);
      }
      const core::Tenant tenant = tenant_with(row, below);
      const auto errors = read_tenant_tree(document_with(tenant, row)).errors;
      INFO(row.name);
      REQUIRE(errors.size() == 1);
      CHECK(errors.front().pointer == std::string("/tenants/0/") + row.name);
      const Status tree = core::check_tenants({.tenants = {tenant}});
      REQUIRE_FALSE(tree.ok());
      CHECK_THAT(tree.error().message, Catch::Contains(std::string(row.name) + " is from "));
    }
  });
}

TEST_CASE("tenants are read with their parents before them, and without a field they have its default") {
  const auto [errors, tree] = read_tenant_tree(tenants_document());
  REQUIRE(errors.empty());
  CHECK(tree.half_life == Duration::seconds(12 * 3600));
  CHECK(tree.rebalance_every == Duration::seconds(60));
  CHECK(tree.preempt_after == Duration::seconds(300));
  CHECK(tree.churn.value().per_job == 3);
  CHECK(tree.churn.value().pool == 20);
  CHECK(tree.churn.value().window == Duration::seconds(1800));
  REQUIRE(tree.tenants.size() == 4);
  CHECK(tree.tenants[0].name == "lab");
  CHECK(tree.tenants[0].weight == 2);
  const core::Tenant& vision = tree.tenants[1];
  CHECK(vision.parent == "lab");
  CHECK(vision.guarantee == 4);
  CHECK(vision.borrow == 8);
  CHECK(vision.lend == 2);
  CHECK(vision.priority_max == 10);
  CHECK(vision.job_slots_max == 16);
  CHECK(vision.job_price_max == Money::micros(12'500'000));
  CHECK(vision.job_grace_max == Duration::seconds(600));
  CHECK(vision.job_hold_max == Duration::seconds(3'600));
  CHECK(vision.jobs_max == 200);
  CHECK(vision.exclusive_nodes);
  CHECK(vision.notice_extension == Duration::seconds(120));
  CHECK(vision.notice_refusal == Duration::seconds(1'800));
  CHECK(vision.preempt_after == Duration::seconds(600));
  CHECK(tree.tenants[2].parent == "lab");
  CHECK(tree.tenants[2].weight == 0);
  const core::Tenant& guests = tree.tenants[3];
  CHECK(guests.parent.empty());
  CHECK(guests.guarantee == 0);
  CHECK(guests.weight == 1);
  const bool limited = guests.borrow || guests.lend || guests.priority_max || guests.job_slots_max;
  CHECK_FALSE(limited);
  CHECK_FALSE(guests.job_price_max.has_value());
  CHECK_FALSE(guests.job_hold_max.has_value());
  CHECK_FALSE(guests.jobs_max.has_value());
  CHECK_FALSE(guests.exclusive_nodes);
}

TEST_CASE("an amount may be a number of as few as a millionth") {
  const auto read = read_tenant_tree(tree_with("/tenants/1/budget", {{"limit", 0.000001}}));
  REQUIRE(read.errors.empty());
  CHECK(read.tree.tenants[3].budget.value().limit == Money::micros(1));
}

TEST_CASE("without a limit is one whose field is left out, and a budget without a limit is none") {
  const json budget = {{"limit", 0}, {"thresholds", {{{"percent", 100}, {"action", "pause"}}}}};
  CHECK(finding(tree_with("/tenants/1/budget", budget), "/tenants/1/budget/limit", "OutOfRange") ==
        "limit must be above 0; leave budget out for no limit");
  CHECK(finding(tree_with("/tenants/1/job_price_max", 0), "/tenants/1/job_price_max", "OutOfRange") ==
        "job_price_max must be above 0; leave it out for no limit");
}

TEST_CASE("no tenants must be said, and the times have defaults") {
  const auto none = read_tenant_tree(json{{"tenants", json::array()}});
  CHECK(none.errors.empty());
  CHECK(none.tree.tenants.empty());
  CHECK(none.tree.half_life == Duration::seconds(24 * 3600));
  CHECK(none.tree.rebalance_every == Duration::seconds(300));
  CHECK(none.tree.preempt_after == Duration());
  CHECK_FALSE(none.tree.churn.has_value());
  CHECK(finding(json::object(), "/tenants", "Missing").find("[] to end sharing") != std::string::npos);
  (void)finding(json{{"tenants", nullptr}}, "/tenants", "Missing");
  (void)finding(json::array(), "", "WrongType");
}

TEST_CASE("a finding says where it is and what is right") {
  CHECK(finding(tree_with("/tenants/0/tenants/0/garantee", 1), "/tenants/0/tenants/0/garantee", "UnknownField")
            .find("guarantee") != std::string::npos);
  for (const json& parent : {json("lab"), json(nullptr)}) {
    CHECK(finding(tree_with("/tenants/1/parent", parent), "/tenants/1/parent", "UnknownField") ==
          "parent is not a field here; write a tenant that lies below another in that one's list tenants, such as "
          "{name: lab, tenants: [{name: vision}]}");
  }
  (void)finding(tree_with("/half_lfe", "1h"), "/half_lfe", "UnknownField");
  (void)finding(tree_with("/half_life", 5), "/half_life", "WrongType");
  (void)finding(tree_with("/half_life", "0s"), "/half_life", "OutOfRange");
  (void)finding(tree_with("/rebalance_every", "often"), "/rebalance_every", "Invalid");
  (void)finding(tree_with("/tenants", "lab"), "/tenants", "WrongType");
  (void)finding(tree_with("/tenants/1", "guests"), "/tenants/1", "WrongType");
  (void)finding(tree_with("/tenants/1", nullptr), "/tenants/1", "WrongType");
  (void)finding(tree_with("/tenants/1", json::object()), "/tenants/1/name", "Missing");
  (void)finding(tree_with("/tenants/1/name", ""), "/tenants/1/name", "Invalid");
  (void)finding(tree_with("/tenants/1/name", "Guests"), "/tenants/1/name", "Invalid");
  (void)finding(tree_with("/tenants/1/guarantee", -1), "/tenants/1/guarantee", "OutOfRange");
  (void)finding(tree_with("/tenants/1/guarantee", "4"), "/tenants/1/guarantee", "WrongType");
  (void)finding(tree_with("/tenants/1/weight", 1'000'001), "/tenants/1/weight", "OutOfRange");
  (void)finding(tree_with("/tenants/1/lend", 0.5), "/tenants/1/lend", "WrongType");
  (void)finding(tree_with("/tenants/1/job_slots_max", 0), "/tenants/1/job_slots_max", "OutOfRange");
  (void)finding(tree_with("/tenants/1/jobs_max", 0), "/tenants/1/jobs_max", "OutOfRange");
  (void)finding(tree_with("/preempt_after", "25h"), "/preempt_after", "OutOfRange");
  (void)finding(tree_with("/tenants/1/preempt_after", 10), "/tenants/1/preempt_after", "WrongType");
  (void)finding(tree_with("/churn", json::object()), "/churn/per_job", "Missing");
  (void)finding(tree_with("/churn/pool", 0), "/churn/pool", "OutOfRange");
  (void)finding(tree_with("/churn/window", "25h"), "/churn/window", "OutOfRange");
  (void)finding(tree_with("/churn/often", 1), "/churn/often", "UnknownField");
  (void)finding(tree_with("/tenants/1/notice_extension", "25h"), "/tenants/1/notice_extension", "OutOfRange");
  (void)finding(tree_with("/tenants/1/notice_refusal", "25h"), "/tenants/1/notice_refusal", "OutOfRange");
  CHECK(finding(tree_with("/tenants/1/job_hold_max", "25h"), "/tenants/1/job_hold_max", "OutOfRange")
            .find("from 0s to 1d; leave it out for no limit of its own") != std::string::npos);
  CHECK(finding(tree_with("/tenants/1/exclusive_nodes", 1), "/tenants/1/exclusive_nodes", "WrongType")
            .find("must be true or false") != std::string::npos);
  (void)finding(tree_with("/tenants/1/notice_extension", "long"), "/tenants/1/notice_extension", "Invalid");
  (void)finding(tree_with("/tenants/1/notice_extension", 120), "/tenants/1/notice_extension", "WrongType");
  (void)finding(tree_with("/tenants/1/job_price_max", 0), "/tenants/1/job_price_max", "OutOfRange");
  CHECK(finding(tree_with("/tenants/1/job_price_max", 0.0000001), "/tenants/1/job_price_max", "Invalid")
            .find("\"0.0000001\" is not an amount") != std::string::npos);
  (void)finding(tree_with("/tenants/1/job_price_max", "much"), "/tenants/1/job_price_max", "Invalid");
  (void)finding(tree_with("/tenants/1/job_price_max", "200000000000"), "/tenants/1/job_price_max", "OutOfRange");
}

TEST_CASE("defaults are a part of a job file, read as strictly as one") {
  const auto [errors, tree] = read_tenant_tree(
      tree_with("/tenants/0/defaults", {{"priority", "high"}, {"elastic", {{"cooldown", "1m"}, {"grace", nullptr}}}}));
  REQUIRE(errors.empty());
  CHECK(*tree.tenants[0].defaults == core::JobDefaults{.priority = 10, .cooldown = Duration::seconds(60)});
  CHECK(*tree.tenants[1].defaults == core::JobDefaults{});
  const std::string at = "/tenants/1/defaults";
  const auto wrong = [&](const json& defaults, const std::string& pointer, const std::string& code) {
    return finding(tree_with(at.c_str(), defaults), at + pointer, code);
  };
  (void)wrong("high", "", "WrongType");
  CHECK(wrong({{"elastic", {{"coldown", "1m"}}}}, "/elastic/coldown", "UnknownField")
            .find("did you mean elastic.cooldown?") != std::string::npos);
  (void)wrong({{"elastic", {{"max", 4}}}}, "/elastic/max", "UnknownField");
  (void)wrong({{"run", {{"trainer", "mlp"}}}}, "/run", "UnknownField");
  (void)wrong({{"elastic.cooldown", "1m"}}, "/elastic/cooldown", "UnknownField");
  (void)wrong({{"elastic", {{"cooldown", "soon"}}}}, "/elastic/cooldown", "Invalid");
  (void)wrong({{"elastic", {{"cooldown", "25h"}}}}, "/elastic/cooldown", "OutOfRange");
  (void)wrong({{"priority", 2000}}, "/priority", "OutOfRange");
  (void)wrong({{"resources", {{"gpu", {{"type", {{"h100", 1}}}}}}}}, "/resources/gpu/type", "WrongType");
  (void)wrong({{"placement", {{"selector", {{"disk", 5}}}}}}, "/placement/selector/disk", "Invalid");
}

TEST_CASE("a guarantee that cannot be read is the only finding: nothing is compared with it") {
  for (const json& wrong : {json(-8), json("8"), json(8.5)}) {
    const auto errors = read_tenant_tree(tree_with("/tenants/0/guarantee", wrong)).errors;
    REQUIRE(errors.size() == 1);
    CHECK(errors[0].pointer == "/tenants/0/guarantee");
  }
  json misspelt = tree_with("/tenants/0/guarantee", nullptr);
  misspelt["tenants"][0]["garantee"] = 8;
  const auto errors = read_tenant_tree(misspelt).errors;
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].pointer == "/tenants/0/garantee");
}

TEST_CASE("a name stands once, and guarantees below are parts of the one above") {
  CHECK(finding(tree_with("/tenants/1/name", "vision"), "/tenants/1/name", "Invalid").find("/tenants/0/tenants/0") !=
        std::string::npos);
  const std::string sum = finding(tree_with("/tenants/0/tenants/1/guarantee", 5), "/tenants/0/guarantee", "Invalid");
  CHECK(sum.find("is 8, but the tenants below are guaranteed 9 slots together") != std::string::npos);
  const std::string types = finding(tree_with("/tenants/0/tenants/0/guarantee_by_type", json{{"a100", 2}}),
                                    "/tenants/0/guarantee_by_type", "Invalid");
  CHECK(types.find("has 0 of type a100, but the tenants below are guaranteed 2 slots together") != std::string::npos);
  CHECK(finding(tree_with("/tenants/0/guarantee_by_type", json{{"a100", 7}, {"v100", 2}}),
                "/tenants/0/guarantee_by_type", "Invalid")
            .find("gives 9 slots, of a guarantee of 8") != std::string::npos);
  (void)finding(tree_with("/tenants/0/guarantee_by_type", json{{"a100", -1}}), "/tenants/0/guarantee_by_type",
                "Invalid");
  (void)finding(tree_with("/tenants/0/guarantee_by_type", "a100"), "/tenants/0/guarantee_by_type", "WrongType");
  json deep = {{"name", "t9"}};
  std::string pointer = "/tenants";
  for (int level = 8; level > 0; --level) {
    deep = {{"name", "t" + std::to_string(level)}, {"tenants", json::array({deep})}};
    pointer += "/0/tenants";
  }
  CHECK_THAT(finding({{"tenants", json::array({deep})}}, pointer, "OutOfRange"),
             Catch::Contains("nested deeper than 8 levels"));
  json many = json::array();
  for (int i = 0; i <= 10'000; ++i) many.push_back({{"name", "t" + std::to_string(i)}});
  CHECK(finding({{"tenants", many}}, "/tenants", "OutOfRange") == "tenants has more than 10000 tenants");
}

TEST_CASE("all findings come at once") {
  json document = tree_with("/tenants/0/tenants/0/borrow", "lots");
  document["tenants"][1]["weight"] = -1;
  document["extra"] = 1;
  CHECK(read_tenant_tree(document).errors.size() == 3);
}

}  // namespace tidepool::leader
