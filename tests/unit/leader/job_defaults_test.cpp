// Default job settings of tenants: what fills a job file, from where, and that they survive the journal.
#include "schedulerd/leader/job_defaults.hpp"

#include <catch2/catch.hpp>

#include "api/v1/job_defaults.hpp"
#include "base/json.hpp"
#include "core/codec/codec.hpp"
#include "schedulerd/leader/tenant_file.hpp"

namespace tidepool::leader {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;
using Filled = std::map<std::string, std::string>;

json all_defaults() {
  return json::parse(R"({"priority": 3, "preemptible": false,
    "resources": {"gpu": {"type": ["h100", "a100"]}}, "placement": {"selector": {"disk": ["ssd"]}},
    "elastic": {"min_runtime": "5m", "cooldown": "1m", "grace": "45s"},
    "scaling": {"efficiency_threshold": 0.25, "price_cap": "4.50"},
    "checkpoint": {"every": "10m", "dir": "kept", "keep": 7}, "limits": {"max_duration": "2d", "max_restarts": 9}})");
}

core::TenantTree tree_of(const json& lab, const json& vision) {
  const json file = {
      {"tenants",
       {{{"name", "lab"},
         {"guarantee", 4},
         {"defaults", lab},
         {"tenants",
          {{{"name", "vision"}, {"guarantee", 2}, {"defaults", vision}}, {{"name", "speech"}, {"guarantee", 1}}}}}}}};
  const auto findings = read_tenant_tree(file);
  for (const auto& error : findings.errors) UNSCOPED_INFO(error.pointer << " " << error.message);
  REQUIRE(findings.errors.empty());
  return findings.tree;
}

}  // namespace

TEST_CASE("every field that can have a default is kept, written again and stored") {
  const json written = defaults_document(to_core_defaults(all_defaults()));
  CHECK(written == all_defaults());
  for (const std::string_view field : api::v1::kFieldsWithDefaults) {
    INFO(field);
    CHECK(written.contains(api::v1::pointer_of_field(field)));
  }
  const core::TenantTree tree = tree_of(all_defaults(), json::object());
  const core::Fact fact = core::TenantsConfigured{tree};
  const auto read = core::fact_from_json(core::to_json(fact));
  REQUIRE(read.ok());
  CHECK(std::get<core::TenantsConfigured>(*read).tree == tree);
  CHECK(defaults_document(core::JobDefaults{}).empty());
}

TEST_CASE("a tree that an earlier version stored has no defaults") {
  json stored = core::to_json(core::Fact(core::TenantsConfigured{tree_of(json::object(), json::object())}));
  std::size_t erased = 0;
  for (json& tenant : stored["tree"]["tenants"]) erased += tenant.erase("defaults");
  REQUIRE(erased == 3);
  const auto read = core::fact_from_json(stored);
  REQUIRE(read.ok());
  CHECK(*std::get<core::TenantsConfigured>(*read).tree.tenants.front().defaults == core::JobDefaults{});
}

TEST_CASE("what a job file leaves out is filled by the nearest tenant that has a default for it") {
  const core::TenantTree tree = tree_of({{"priority", 3}, {"elastic", {{"cooldown", "1m"}, {"grace", "45s"}}}},
                                        {{"elastic", {{"cooldown", "2m"}}}});
  json file = {{"tenant", "vision"}, {"elastic", {{"min", 1}, {"max", 4}}}};
  CHECK(fill_defaults(file, tree, "vision") ==
        Filled{{"elastic.cooldown", "vision"}, {"elastic.grace", "lab"}, {"priority", "lab"}});
  CHECK(file == json::parse(R"({"tenant": "vision", "priority": 3,
                                "elastic": {"min": 1, "max": 4, "cooldown": "2m", "grace": "45s"}})"));
  json other = json::object();
  CHECK(fill_defaults(other, tree, "speech") ==
        Filled{{"elastic.cooldown", "lab"}, {"elastic.grace", "lab"}, {"priority", "lab"}});
  CHECK(other.at("elastic").at("cooldown") == "1m");
}

TEST_CASE("what a job file names stays as it is, even if it is null or wrong") {
  const core::TenantTree tree =
      tree_of({{"elastic", {{"cooldown", "1m"}}}, {"scaling", {{"price_cap", "4.50"}}}}, json::object());
  json file = {{"elastic", {{"cooldown", "5s"}}}, {"scaling", {{"price_cap", nullptr}}}};
  const json before = file;
  CHECK(fill_defaults(file, tree, "vision").empty());
  CHECK(file == before);
  json wrong = {{"elastic", 5}};
  CHECK(fill_defaults(wrong, tree, "vision") == Filled{{"scaling.price_cap", "lab"}});
  CHECK(wrong.at("elastic") == 5);
  json null_part = {{"elastic", nullptr}};
  CHECK(fill_defaults(null_part, tree, "vision").contains("elastic.cooldown"));
  json nowhere = json::object();
  CHECK(fill_defaults(nowhere, tree, "visoin").empty());
}

TEST_CASE("a default that a limit of its tenant forbids is refused with the names of both") {
  const auto refused = [&](core::Tenant lab, core::Tenant leaf) {
    lab.name = "lab";
    leaf.name = "leaf";
    leaf.parent = "lab";
    const Status status = core::check_tenants({.tenants = {std::move(lab), std::move(leaf)}});
    return status.ok() ? std::string("taken") : status.error().message;
  };
  const core::JobDefaults urgent{.priority = 6};
  const core::JobDefaults rich{.price_cap = Money::micros(3'000'000)};
  const core::JobDefaults firm{.preemptible = false};
  const core::JobDefaults slow{.min_runtime = Duration::seconds(60), .cooldown = Duration::seconds(120)};
  CHECK_THAT(refused({.defaults = urgent}, {.priority_max = 5}),
             Contains("the default priority 6 of tenant \"lab\" is above priority_max 5 of tenant \"leaf\""));
  CHECK_THAT(refused({.priority_max = 5}, {.priority_max = 9, .defaults = urgent}),
             Contains("of tenant \"leaf\" is above priority_max 5 of tenant \"lab\""));
  CHECK_THAT(refused({.job_price_max = Money::micros(2'000'000)}, {.defaults = rich}),
             Contains("scaling.price_cap 3.00 of tenant \"leaf\" is above job_price_max 2.00 of tenant \"lab\""));
  CHECK_THAT(refused({.job_hold_max = Duration::seconds(60)}, {.defaults = slow}),
             Contains("elastic.cooldown 2m of tenant \"leaf\" is above job_hold_max 1m of tenant \"lab\"") &&
                 !Contains("min_runtime"));
  CHECK_THAT(refused({.defaults = slow}, {.job_hold_max = Duration::seconds(59)}),
             Contains("elastic.min_runtime 1m of tenant \"lab\" is above job_hold_max 59s of tenant \"leaf\""));
  CHECK(refused({.job_hold_max = Duration::seconds(120), .defaults = slow}, {}) == "taken");
  CHECK_THAT(refused({.guarantee = 2, .defaults = firm}, {}),
             Contains("preemptible: false of tenant \"lab\" is beyond the guarantee of 0 of tenant \"leaf\""));
  // A nearer default takes the place of one that the leaf could not have.
  CHECK(refused({.guarantee = 2, .defaults = firm}, {.defaults = core::JobDefaults{.preemptible = true}}) == "taken");
  CHECK(refused({.priority_max = 9, .defaults = urgent}, {}) == "taken");
}

TEST_CASE("whose defaults a job took is stored with it, and jobs of earlier versions took none") {
  core::JobSpec spec;
  spec.elastic.sizes = {1};
  spec.defaults_from = {{"elastic.cooldown", "lab"}};
  json stored = core::to_json(core::Fact(core::JobSubmitted{JobId(1), spec}));
  const auto read = core::fact_from_json(stored);
  REQUIRE(read.ok());
  CHECK(std::get<core::JobSubmitted>(*read).spec == spec);
  REQUIRE(stored["spec"].erase("defaults_from") == 1);
  const auto earlier = core::fact_from_json(stored);
  REQUIRE(earlier.ok());
  CHECK(std::get<core::JobSubmitted>(*earlier).spec.defaults_from.empty());
}

}  // namespace tidepool::leader
