// The list of prices over REST: set, read, refused, and what it makes of nodes.
#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/support/rest_fixture.hpp"

namespace tidepool::test {
namespace {

using nlohmann::json;

json full_list() {
  return json::parse(R"({"rules": [
    {"name": "cpu", "slot_type": "cpu", "spot_discount": 60, "entries": [
      {"price": 0.5},
      {"from": "2099-12-01T00:00:00Z", "price": "2.80", "schedule": [
        {"hours": "22-06", "price": 1.9}, {"days": ["sat", "sun"], "price": "2.10"}]}]},
    {"name": "rest", "labels": {"zone": "eu"}, "pool": "slow", "entries": [{"price": "0.10"}]}]})");
}

Ask put_prices(const RestFixture& fixture, const json& body, const std::string& query = "") {
  return {.method = "PUT", .path = "/v1/prices" + query, .token = fixture.admin, .body = body.dump()};
}

json prices_of(const RestFixture& fixture) {
  return fixture.json_of({.path = "/v1/prices", .token = fixture.admin});
}

json priced_node(const RestFixture& fixture) {
  return fixture.json_of({.path = "/v1/nodes", .token = fixture.admin}).at("items").at(0);
}

}  // namespace

TEST_CASE("prices are set as a whole, read as they were set, and hold at once") {
  RestFixture fixture;
  fixture.service.join_node(4);
  CHECK(prices_of(fixture).at("rules").empty());
  CHECK(priced_node(fixture).at("price_rule").is_null());
  const std::string own = priced_node(fixture).at("price_per_slot_hour");
  const json set = fixture.json_of(put_prices(fixture, full_list()));
  CHECK(set.at("changes").at(0).at("fields").at("entries").at("to") ==
        json({"0.50", "2.80 from 2099-12-01T00:00:00Z, 1.90 in 22-06, 2.10 in 00-24 of sat, sun"}));
  CHECK(set.at("warnings") == json({"rule rest names the pool slow, which the daemon does not have",
                                    "rule rest names nodes with zone=eu, and there is none now"}));
  const json read = prices_of(fixture);
  REQUIRE(read.at("rules").size() == 2);
  const json& cpu = read.at("rules").at(0);
  CHECK(cpu.at("entries").at(1).at("from") == "2099-12-01T00:00:00Z");
  CHECK(cpu.at("entries").at(1).at("schedule").at(1).at("days") == json({"sat", "sun"}));
  CHECK(cpu.at("now").at("price") == "0.50");
  CHECK(cpu.at("now").at("changes_at") == "2099-12-01T00:00:00Z");
  CHECK(cpu.at("now").at("nodes") == 1);
  CHECK(priced_node(fixture).at("price_per_slot_hour") == "0.50");
  CHECK(priced_node(fixture).at("price_rule") == "cpu");
  CHECK(priced_node(fixture).at("own_price_per_slot_hour") == own);
  const auto events = fixture.json_of({.path = "/v1/events?limit=1000", .token = fixture.admin}).at("items");
  std::size_t told = 0;
  for (const auto& event : events) told += event.at("type") == "prices.configured" ? 1U : 0U;
  CHECK(told == 1);
  (void)fixture.json_of(put_prices(fixture, {{"rules", json::array()}}));
  CHECK(priced_node(fixture).at("price_per_slot_hour") == own);
}

TEST_CASE("a price of a type of slots that there is not is told with the types that there are") {
  RestFixture fixture;
  const json list = json::parse(R"({"rules": [{"name": "new", "slot_type": "h100", "entries": [{"price": 1}]}]})");
  const auto warnings = [&] { return fixture.json_of(put_prices(fixture, list, "?dry_run=true")).at("warnings"); };
  CHECK(warnings() == json::array({"rule new sets no price: no node or pool has slots of type h100"}));
  fixture.service.join_node(4);
  CHECK(warnings() == json::array({"rule new sets no price: no node or pool has slots of type h100; known: cpu"}));
}

TEST_CASE("a dry run of prices tells what would change, and a stale etag is refused") {
  RestFixture fixture;
  const json planned = fixture.json_of(put_prices(fixture, full_list(), "?dry_run=true"));
  CHECK(planned.at("dry_run") == true);
  CHECK(planned.at("refused").is_null());
  CHECK(prices_of(fixture).at("rules").empty());
  auto bound = put_prices(fixture, full_list());
  bound.headers = "If-Match: " + planned.at("etag").get<std::string>() + "\r\n";
  (void)fixture.json_of(bound);
  CHECK(fixture.json_of(bound, 412).at("code") == "Changed");
  CHECK(fixture.json_of(put_prices(fixture, full_list(), "?dry_run=true")).at("changes").empty());
}

TEST_CASE("wrong prices are refused with every finding and where it stands") {
  RestFixture fixture;
  json wrong = full_list();
  wrong["rules"][0]["entries"][1]["from"] = "tomorrow";
  wrong["rules"][0]["entries"][1]["schedule"][0]["hours"] = "22-25";
  wrong["rules"][0]["entries"][1]["schedule"][1]["days"] = {"sunday"};
  wrong["rules"][0]["spot_discont"] = 1;
  wrong["rules"][1]["entries"] = json::array();
  const json refused = fixture.json_of(put_prices(fixture, wrong), 422);
  CHECK(refused.at("code") == "InvalidPrices");
  std::vector<std::string> pointers;
  for (const auto& error : refused.at("errors")) pointers.push_back(error.at("pointer"));
  for (const char* at : {"/rules/0/entries/1/from", "/rules/0/entries/1/schedule/0/hours",
                         "/rules/0/entries/1/schedule/1/days", "/rules/0/spot_discont", "/rules/1/entries"}) {
    INFO(at);
    CHECK(std::count(pointers.begin(), pointers.end(), at) == 1);
  }
  json twice = full_list();
  twice["rules"][1]["name"] = "cpu";
  CHECK(fixture.json_of(put_prices(fixture, twice), 422).at("errors").at(0).at("pointer") == "/rules/1/name");
  json backwards = full_list();
  backwards["rules"][0]["entries"][0]["from"] = "2100-01-01T00:00:00Z";
  CHECK(fixture.json_of(put_prices(fixture, backwards), 422).at("errors").at(0).at("pointer") == "/rules/0/entries");
}

}  // namespace tidepool::test
