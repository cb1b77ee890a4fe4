// What tenants have used: of their jobs, and of tenants that have left the tree.
#include <catch2/catch.hpp>

#include "tests/support/shared_pool.hpp"

namespace tidepool::test {

TEST_CASE("what a tenant has used is what its jobs have, to the microsecond") {
  SharedPool pool({{.name = "vision"}, {.name = "speech"}});
  const JobId one = pool.running("vision", 2);
  const JobId two = pool.running("vision", 3);
  const JobId other = pool.running("speech", 1);
  pool.story.pass(Duration::micros(12'345'677));
  for (const JobId id : {one, two, other}) pool.story.steps(id, 1);
  const auto& uses = pool.story.state().tenant_uses;
  const auto& first = pool.story.job(one).account;
  const auto& second = pool.story.job(two).account;
  CHECK(uses.at("vision").slot_time == first.slot_time + second.slot_time);
  CHECK(uses.at("vision").cost == first.cost + second.cost);
  CHECK(uses.at("speech").slot_time == pool.story.job(other).account.slot_time);
}

TEST_CASE("what a tenant has used that leaves the tree stays with the nearest one above it that does not leave") {
  SharedPool pool({{.name = "lab"},
                   {.name = "team", .parent = "lab"},
                   {.name = "vision", .parent = "team"},
                   {.name = "speech", .parent = "lab"},
                   {.name = "guests"}});
  const auto used_by = [&](const char* tenant) {
    const JobId id = pool.running(tenant, 2);
    pool.story.pass(Duration::seconds(100));
    pool.end(id);
    return pool.story.state().tenant_uses.at(tenant);
  };
  const core::TenantUse vision = used_by("vision");
  const core::TenantUse speech = used_by("speech");
  (void)used_by("guests");
  const auto uses = [&](std::vector<core::Tenant> tenants) {
    pool.story.learn(core::TenantsConfigured{{.tenants = std::move(tenants)}});
    return pool.story.state().tenant_uses;
  };
  CHECK(uses({{.name = "lab"}, {.name = "speech", .parent = "lab"}}) ==
        core::TenantUses{{"lab", vision}, {"speech", speech}});
  // The one that moves keeps what it has used; those that come back begin anew.
  CHECK(uses({{.name = "lab"}, {.name = "speech"}, {.name = "vision", .parent = "lab"}, {.name = "guests"}}) ==
        core::TenantUses{{"lab", vision}, {"speech", speech}});
  // None is above the other one.
  CHECK(uses({{.name = "lab"}}) == core::TenantUses{{"lab", vision}});
}

}  // namespace tidepool::test
