// Pools over HTTP: what is configured, what was asked for, and what a provider has failed at.
#include <catch2/catch.hpp>

#include "tests/support/rest_fixture.hpp"
#include "tests/support/schema_check.hpp"

namespace tidepool::test {
namespace {

using nlohmann::json;

core::PoolSpec gpu_pool(int min) {
  return {.name = "gpu",
          .slot_type = "H100",
          .slots_per_node = 8,
          .price_per_slot_hour = Money::micros(2'500'000),
          .worth_per_slot_hour = Money::micros(5'000'000),
          .min = min,
          .max = 4,
          .idle = Duration::seconds(600),
          .lead_time = Duration::seconds(180)};
}

}  // namespace

TEST_CASE("pools are listed with their nodes, from asking for one to its joining") {
  RestFixture fixture;
  const auto pools = [&] {
    const json listed = fixture.json_of({.path = "/v1/pools", .token = fixture.admin});
    CHECK(misfit(listed, "PoolList").empty());
    return listed.at("items");
  };
  CHECK(pools().empty());
  core::PoolSpec small = gpu_pool(0);
  small.name = "a100";
  small.slot_type = "";
  fixture.service.report(core::PoolsConfigured{.spot_share = 1, .pools = {gpu_pool(1), small}});
  REQUIRE(pools().size() == 2);
  CHECK(pools().at(0).at("slot_type").is_null());
  const auto gpu = [&] { return pools().at(1); };
  CHECK(gpu().at("price_per_slot_hour") == "2.50");
  CHECK(gpu().at("idle") == "10m");
  REQUIRE(gpu().at("nodes").size() == 1);
  CHECK(gpu().at("nodes").at(0).at("state") == "asked");
  CHECK(gpu().at("nodes").at(0).at("provider_id").is_null());
  fixture.service.report(core::PoolNodeCreated{.request = 1, .provider_id = "i-1"});
  CHECK(gpu().at("nodes").at(0).at("state") == "created");
  CHECK(gpu().at("nodes").at(0).at("provider_id") == "i-1");
}

TEST_CASE("a pool tells what its provider has failed at and when it is asked again") {
  RestFixture fixture;
  fixture.service.report(core::PoolsConfigured{.spot_share = 1, .pools = {gpu_pool(1)}});
  fixture.service.report(
      core::PoolNodeCreateFailed{.request = 1, .fault = core::ProviderFault::kQuota, .detail = "16 at most"});
  const json pool = fixture.json_of({.path = "/v1/pools", .token = fixture.admin}).at("items").at(0);
  CHECK(pool.at("problem").at("failures") == 1);
  CHECK_THAT(pool.at("problem").at("detail").get<std::string>(), Catch::Matchers::Contains("16 at most"));
  CHECK(pool.at("problem").at("retry_at") > pool.at("problem").at("failed_at"));
}

TEST_CASE("a pool tells since when its nodes cannot be listed, until they are listed again") {
  RestFixture fixture;
  fixture.service.report(core::PoolsConfigured{.spot_share = 1, .pools = {gpu_pool(0)}});
  const auto problem = [&] {
    const json listed = fixture.json_of({.path = "/v1/pools", .token = fixture.admin});
    CHECK(misfit(listed, "PoolList").empty());
    return listed.at("items").at(0).at("list_problem");
  };
  CHECK(problem().is_null());
  fixture.service.report(
      core::PoolListFailed{.pool = "gpu", .fault = core::ProviderFault::kRefused, .detail = "the key has expired"});
  CHECK(problem().at("detail") == "the key has expired");
  CHECK(problem().at("since") == problem().at("failed_at"));
  fixture.service.report(core::PoolListed{.pool = "gpu", .asked_before = 1, .nodes = {}});
  CHECK(problem().is_null());
}

TEST_CASE("a node that its provider has said it ends has no problem while machines take to go") {
  RestFixture fixture;
  fixture.service.report(core::PoolsConfigured{.spot_share = 1, .pools = {gpu_pool(1)}});
  fixture.service.report(
      core::PoolNodeCreateFailed{.request = 1, .fault = core::ProviderFault::kTimeout, .detail = "no answer"});
  const auto problem = [&] {
    const json listed = fixture.json_of({.path = "/v1/pools", .token = fixture.admin});
    return listed.at("items").at(0).at("nodes").at(0).at("problem");
  };
  fixture.service.report(
      core::PoolNodeDeleteFailed{.request = 1, .fault = core::ProviderFault::kRefused, .detail = "try again"});
  CHECK(problem().at("detail") == "try again");
  fixture.service.report(core::PoolNodeDeleted{.request = 1});
  CHECK(problem().is_null());
}

TEST_CASE("a node that was asked for and has not joined cannot be removed, and the answer says what ends it") {
  RestFixture fixture;
  fixture.service.report(core::PoolsConfigured{.spot_share = 1, .pools = {gpu_pool(1)}});
  const auto remove = [&](const std::string& node, int status) {
    const json problem =
        fixture.json_of({.method = "DELETE", .path = "/v1/nodes/" + node, .token = fixture.admin}, status);
    return problem.at("detail").get<std::string>() + "; " + problem.at("hint").get<std::string>();
  };
  CHECK(remove("gpu-1", 409) ==
        "gpu-1 was requested by the pool gpu, and no agent has joined from it yet; its pool ends it if "
        "none does; see: schedctl pools");
  fixture.service.report(core::PoolNodeCreated{.request = 1, .provider_id = "i-1"});
  fixture.service.report(core::PoolsConfigured{.spot_share = 1, .pools = {}});
  CHECK_THAT(remove("gpu-1", 409), Catch::Matchers::Contains("configure the pool again with max: 0"));
  CHECK_THAT(remove("gpu-2", 404), Catch::Matchers::Contains("there is no node gpu-2"));
}

TEST_CASE("pools come in pages, and only tokens of no tenant see them") {
  RestFixture fixture;
  core::PoolSpec other = gpu_pool(0);
  other.name = "other";
  fixture.service.report(core::PoolsConfigured{.spot_share = 1, .pools = {gpu_pool(0), other}});
  const json first = fixture.json_of({.path = "/v1/pools?limit=1", .token = fixture.admin});
  CHECK(first.at("items").at(0).at("name") == "gpu");
  const std::string cursor = first.at("next_cursor");
  const json second = fixture.json_of({.path = "/v1/pools?limit=1&cursor=" + cursor, .token = fixture.admin});
  CHECK(second.at("items").at(0).at("name") == "other");
  CHECK(second.at("next_cursor").is_null());
  const std::string viewer = fixture.service.add_token("viewer");
  CHECK(fixture.call({.path = "/v1/pools", .token = viewer}).status == 200);
  const std::string of_tenant = fixture.service.add_token("admin", "red");
  CHECK(fixture.call({.path = "/v1/pools", .token = of_tenant}).status == 403);
}

}  // namespace tidepool::test
