// What tenants have and want, as it is shown.
#include <catch2/catch.hpp>

#include "schedulerd/live/http/numbers/tenant_numbers.hpp"

namespace tidepool::live::http {

TEST_CASE("a tenant whose jobs lack slots of a type shows that it wants them") {
  core::ClusterState state;
  state.tenants = core::TenantTree{
      .tenants = {{.name = "lab"}, {.name = "vision", .parent = "lab"}, {.name = "speech", .parent = "lab"}}};
  state.plan.tenants["vision"] = {.entitled = 2, .wanted = 2, .satisfied = true};
  state.plan.tenants["speech"] = {
      .entitled = 2, .wanted = 2, .satisfied = true, .of_types = {{"new", 2}}, .lacks_slots = 3};
  const auto numbers = tenant_numbers(state, Instant());
  CHECK(numbers[1].wanted == 2);
  CHECK(numbers[1].satisfied);
  CHECK(numbers[2].wanted == 5);
  CHECK_FALSE(numbers[2].satisfied);
  CHECK(numbers[0].wanted == 7);
  CHECK_FALSE(numbers[0].satisfied);
  // What its jobs would have without any bound is known already.
  state.plan.tenants["speech"].satisfied = false;
  CHECK(tenant_numbers(state, Instant())[2].wanted == 2);
}

TEST_CASE("a tenant's sum has what was used below it by tenants that have left the tree") {
  core::ClusterState state;
  state.tenants = core::TenantTree{.tenants = {{.name = "lab"}, {.name = "vision", .parent = "lab"}}};
  state.tenant_uses["lab"] = {.slot_time = Duration::seconds(30), .cost = Money::micros(7)};
  state.tenant_uses["vision"] = {.slot_time = Duration::seconds(12), .cost = Money::micros(5)};
  const auto numbers = tenant_numbers(state, Instant());
  CHECK(numbers[0].use == core::TenantUse{.slot_time = Duration::seconds(42), .cost = Money::micros(12)});
  CHECK(numbers[1].use == core::TenantUse{.slot_time = Duration::seconds(12), .cost = Money::micros(5)});
}

}  // namespace tidepool::live::http
