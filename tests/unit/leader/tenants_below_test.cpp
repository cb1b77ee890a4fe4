// The part of the tree below one tenant, as an admin of that tenant sets it.
#include "core/facts/tenant_facts.hpp"
#include "core/tenants/tenant_subtree.hpp"
#include "schedulerd/leader/user_commands.hpp"
#include "tests/unit/leader/turn_scene.hpp"

namespace tidepool::leader {
namespace {

using Catch::Matchers::Contains;
using core::Tenant;
using core::TenantTree;
using Names = std::vector<std::string>;

Names names_of(const std::vector<Tenant>& tenants) {
  Names names;
  for (const Tenant& tenant : tenants) names.push_back(tenant.name);
  return names;
}

TenantTree lab_tree() {
  return {.tenants = {{.name = "lab", .guarantee = 8, .borrow = 4, .lend = 6, .priority_max = 10},
                      {.name = "vision", .parent = "lab", .guarantee = 4, .job_slots_max = 8},
                      {.name = "faces", .parent = "vision", .guarantee = 2},
                      {.name = "speech", .parent = "lab"},
                      {.name = "guests"}}};
}

// As an admin of the lab.
ConfigureTenantsBelow by_lab(std::vector<Tenant> below) {
  return {.above = "lab", .tenants = std::move(below), .limited_to = "lab"};
}

Tenant in_lab(Tenant tenant) {
  tenant.parent = "lab";
  return tenant;
}

}  // namespace

TEST_CASE("what lies below a tenant is taken out and put in its place, and nothing else moves") {
  const TenantTree tree = lab_tree();
  CHECK(names_of(core::tenants_below(tree, "lab")) == Names{"vision", "faces", "speech"});
  CHECK(core::tenants_below(tree, "faces").empty());
  CHECK(core::tenants_below(tree, "nowhere").empty());
  CHECK(core::with_tenants_below(tree, "lab", core::tenants_below(tree, "lab")) == tree);
  const TenantTree without = core::with_tenants_below(tree, "vision", {});
  CHECK(names_of(without.tenants) == Names{"lab", "vision", "speech", "guests"});
  const TenantTree more = core::with_tenants_below(tree, "guests", {{.name = "x", .parent = "guests"}});
  CHECK(names_of(more.tenants) == Names{"lab", "vision", "faces", "speech", "guests", "x"});
}

TEST_CASE("an admin of a tenant sets what lies below it, by the newest tree and never beside it") {
  Daemon daemon;
  REQUIRE(daemon.take(command(ConfigureTenants{lab_tree()})).answers.front().receipt.ok());
  const auto refusal = [&](const ConfigureTenantsBelow& change) {
    const auto result = daemon.take(command(change));
    const auto& receipt = result.answers.front().receipt;
    return receipt.ok() ? std::string("taken") : receipt.error().message;
  };
  // Another tenant's admin has set something else meanwhile: both stand.
  REQUIRE(refusal({.above = "guests", .tenants = {{.name = "x", .parent = "guests"}}}) == "taken");
  const std::vector<Tenant> below = {in_lab({.name = "vision", .guarantee = 8})};
  CHECK(refusal(by_lab(below)) == "taken");
  CHECK(names_of(daemon.turn.state().tenants->tenants) == Names{"lab", "vision", "guests", "x"});
  CHECK(daemon.turn.state().tenants->find("lab")->guarantee == 8);
  // Only in place of what was read, and only below the caller's own tenant.
  ConfigureTenantsBelow late = by_lab({});
  late.instead_of = core::tenants_below(lab_tree(), "lab");
  CHECK_THAT(refusal(late), Contains("have changed since they were read"));
  late.instead_of = below;
  CHECK(refusal(late) == "taken");
  CHECK(refusal({.above = "guests", .tenants = {}, .limited_to = "lab"}) == "there is no tenant guests");
  CHECK(refusal({.above = "nowhere", .tenants = {}}) == "there is no tenant nowhere");
  // A name that stands elsewhere, or slots that the tenant does not have, are refused as in any tree.
  CHECK_THAT(refusal(by_lab({in_lab({.name = "guests"})})), Contains("there are two of this name"));
  CHECK_THAT(refusal(by_lab({in_lab({.name = "vision", .guarantee = 9})})), Contains("raise its guarantee"));
}

TEST_CASE("limits below a tenant are no looser than its own where its admin sets them") {
  const auto refusal = [](std::vector<Tenant> below) {
    const auto tree = core::with_tenants_below(lab_tree(), "lab", below);
    const Status within = core::check_within(tree, "lab");
    return within.ok() ? std::string() : within.error().message;
  };
  CHECK(refusal({in_lab({.name = "a", .priority_max = 10})}).empty());
  CHECK_THAT(refusal({in_lab({.name = "a", .priority_max = 11})}),
             Contains("priority_max 11 is looser than the 10 of tenant \"lab\""));
  const Tenant tight = in_lab({.name = "a",
                               .priority_max = 3,
                               .job_slots_max = 4,
                               .job_price_max = Money::micros(1'000'000),
                               .job_grace_max = Duration::seconds(20),
                               .job_hold_max = Duration::seconds(40),
                               .jobs_max = 20,
                               .notice_extension = Duration::seconds(60),
                               .notice_refusal = Duration::seconds(600)});
  const auto below_a = [&](Tenant tenant) {
    tenant.name = "b";
    tenant.parent = "a";
    return refusal({tight, tenant});
  };
  CHECK(below_a({.priority_max = 3}).empty());
  CHECK_THAT(below_a({.priority_max = 9}), Contains("the 3 of tenant \"a\""));
  CHECK_THAT(below_a({.job_slots_max = 5}), Contains("job_slots_max 5 is looser than the 4"));
  CHECK_THAT(below_a({.job_price_max = Money::micros(2'000'000)}),
             Contains("job_price_max 2.00 is looser than the 1.00"));
  CHECK_THAT(below_a({.job_grace_max = Duration::seconds(21)}), Contains("job_grace_max 21s is looser than the 20s"));
  CHECK_THAT(below_a({.job_hold_max = Duration::seconds(41)}), Contains("job_hold_max 41s is looser than the 40s"));
  CHECK_THAT(below_a({.jobs_max = 21}), Contains("jobs_max 21 is looser than the 20 of tenant \"a\""));
  CHECK_THAT(below_a({.notice_extension = Duration::seconds(61)}), Contains("is looser than the 1m of tenant \"a\""));
  CHECK_THAT(below_a({.notice_refusal = Duration::seconds(601)}),
             Contains("notice_refusal 601s is looser than the 10m"));
  CHECK_THAT(below_a({.exclusive_nodes = true}),
             Contains("tenant \"b\": exclusive_nodes is not granted to tenant \"a\" above it"));
  TenantTree granted = lab_tree();
  granted.tenants.front().exclusive_nodes = true;
  const std::vector<Tenant> alone = {in_lab({.name = "a", .exclusive_nodes = true})};
  CHECK(core::check_within(core::with_tenants_below(granted, "lab", alone), "lab").ok());
  CHECK_THAT(refusal(alone), Contains("is not granted to tenant \"lab\" above it; leave it out, or ask an operator"));
  // The lab may have 8 + 4 slots, and keeps 2 of its guarantee from others.
  CHECK(refusal({in_lab({.name = "a", .guarantee = 8, .borrow = 4})}).empty());
  CHECK_THAT(refusal({in_lab({.name = "a", .guarantee = 8, .borrow = 5})}), Contains("13 slots, looser than the 12"));
  CHECK(refusal({in_lab({.name = "a", .guarantee = 5, .lend = 3})}).empty());
  CHECK_THAT(
      refusal({in_lab({.name = "a", .guarantee = 5, .lend = 3}), in_lab({.name = "b", .guarantee = 1, .lend = 0})}),
      Contains("would keep 3 slots") && Contains("more than the 2"));
}

TEST_CASE("all limits that a part of the tree breaks are told at once, and what else is wrong with it") {
  Daemon daemon;
  REQUIRE(daemon.take(command(ConfigureTenants{lab_tree()})).answers.front().receipt.ok());
  const auto result =
      daemon.take(command(by_lab({in_lab({.name = "a", .guarantee = 8, .borrow = 5, .priority_max = 11}),
                                  in_lab({.name = "b", .guarantee = 1, .priority_max = 12})})));
  REQUIRE_FALSE(result.answers.front().receipt.ok());
  CHECK_THAT(result.answers.front().receipt.error().message,
             Contains("tenant \"a\": priority_max 11 is looser") && Contains("13 slots, looser than the 12") &&
                 Contains("; also tenant \"b\": priority_max 12 is looser") &&
                 Contains("; also tenant \"lab\": the tenants below it are guaranteed 9 slots, it has 8"));
}

TEST_CASE("all tenants with jobs that a tree lacks are told at once, beside what is wrong with the tree itself") {
  core::ClusterState state;
  for (int i = 1; i <= 2; ++i) {
    auto job = std::make_shared<core::Job>();
    job->id = JobId(static_cast<std::uint64_t>(i));
    job->spec.tenant = "gone" + std::to_string(i);
    state.jobs.insert_or_assign(job->id, std::move(job));
  }
  core::StateChange change(state, Instant());
  const core::JobDefaults urgent{.priority = 6};
  const TenantTree tree{.tenants = {{.name = "x", .priority_max = 5, .defaults = urgent},
                                    {.name = "y", .priority_max = 4, .defaults = urgent}}};
  const Status taken = core::apply(change, core::TenantsConfigured{tree});
  REQUIRE_FALSE(taken.ok());
  CHECK_THAT(taken.error().message, Contains("above priority_max 5 of tenant \"x\"") &&
                                        Contains("above priority_max 4 of tenant \"y\"") &&
                                        Contains("tenant \"gone1\" has jobs") && Contains("tenant \"gone2\" has jobs"));
}

}  // namespace tidepool::leader
