// Whose plans are made at once.
#include "schedulerd/live/http/plan_places.hpp"

#include <catch2/catch.hpp>

namespace tidepool::live::http {
namespace {

const core::TenantsByName& tenants_of_lab() {
  static const core::TenantsByName tenants = core::TenantTree{.tenants = {{.name = "lab"},
                                                                          {.name = "vision", .parent = "lab"},
                                                                          {.name = "faces", .parent = "vision"},
                                                                          {.name = "speech", .parent = "lab"},
                                                                          {.name = "guests"}}};
  return tenants;
}

// Of a place that is taken nothing.
std::string no_place(PlanPlaces& places, const char* token, const char* tenant) {
  const auto full = places.take({.token_id = token, .tenant = tenant}, tenants_of_lab());
  if (!full) return "";
  CHECK(full->status == 429);
  CHECK(full->code == "TooManyPlans");
  return full->detail;
}

}  // namespace

TEST_CASE("many tokens of a tenant leave a place to others on each level") {
  PlanPlaces places;
  CHECK(no_place(places, "a", "faces").empty());
  CHECK(no_place(places, "b", "faces") ==
        "tenant faces and those below it have 1 plan at a time, which are being made for tokens of theirs");
  CHECK(no_place(places, "b", "vision").empty());
  CHECK_THAT(no_place(places, "c", "vision"), Catch::StartsWith("tenant vision and those below it have 2 plans"));
  CHECK(no_place(places, "c", "speech").empty());
  CHECK_THAT(no_place(places, "d", "speech"), Catch::StartsWith("tenant lab and those below it have 3 plans"));
  CHECK_THAT(no_place(places, "d", "lab"), Catch::StartsWith("tenant lab and those below it have 3 plans"));
  CHECK(no_place(places, "d", "guests").empty());
  places.give_back("a");
  CHECK(no_place(places, "e", "faces").empty());
}

TEST_CASE("a token has one plan at a time, and tokens of all tenants are held to no more than that") {
  PlanPlaces places;
  for (const char* token : {"a", "b", "c", "d", "e"}) CHECK(no_place(places, token, "").empty());
  CHECK_THAT(no_place(places, "a", ""), Catch::StartsWith("a plan is being made for this token already"));
  places.give_back("a");
  CHECK(no_place(places, "a", "").empty());
}

TEST_CASE("teams by name and tenants without a tree count for the tenant whose name they begin with") {
  PlanPlaces places;
  CHECK(no_place(places, "a", "guests/one").empty());
  CHECK(no_place(places, "b", "guests/one").empty());
  CHECK_THAT(no_place(places, "c", "guests/one"), Catch::StartsWith("tenant guests/one and those below it have 2"));
  CHECK(no_place(places, "c", "guests/two").empty());
  CHECK_THAT(no_place(places, "d", "guests"), Catch::StartsWith("tenant guests and those below it have 3 plans"));
  for (const char* token : {"x", "y", "z"}) CHECK(no_place(places, token, "nowhere").empty());
  CHECK_THAT(no_place(places, "w", "nowhere/team"), Catch::StartsWith("tenant nowhere and those below it have 3"));
}

}  // namespace tidepool::live::http
