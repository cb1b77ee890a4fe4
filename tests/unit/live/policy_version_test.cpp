// What a daemon has stored of policy files, read again: versions, and what a shadow's rounds have added up to.
#include "schedulerd/live/service/policy_version.hpp"

#include <catch2/catch.hpp>

#include "schedulerd/live/service/shadow_report.hpp"

namespace tidepool::live {

TEST_CASE("a stored version is read as it was; a damaged one says so") {
  PolicyVersion version = version_from({.manifest = {.name = "rule"}, .source = "return {}", .tests = {}}, {});
  REQUIRE(file_of(version).ok());
  version.source += " ";
  CHECK(file_of(version).error().message.find("does not have its own hash") != std::string::npos);
}

TEST_CASE("a stored version of the first interface is refused with what to change") {
  PolicyVersion version = version_from({.manifest = {.name = "rule"}, .source = "return {}", .tests = {}}, {});
  const auto at = version.manifest.find("\"api\":2");
  REQUIRE(at != std::string::npos);
  version.manifest.replace(at, 7, "\"api\":1");
  const auto file = file_of(version);
  REQUIRE(!file.ok());
  CHECK(file.error().message.find("of rule is refused: api is 1") != std::string::npos);
  CHECK(file.error().message.find("write \"api: 2\"") != std::string::npos);
  CHECK(file.error().message.find("then store it again") != std::string::npos);
}

TEST_CASE("a shadow's report adds up nodes by pool, and one of before that knows no pools is read") {
  ShadowReport report;
  policies::host::RoundComparison round;
  round.pools = {{.pool = "gpu", .slot_type = "h100", .live = 2, .candidate = 3}};
  report.add(round);
  round.pools[0].candidate = 2;
  report.add(round);
  nlohmann::json stored = to_json(report);
  const auto read = shadow_report_from_json(stored);
  REQUIRE(read);
  const ShadowPool& pool = read->pools.at("gpu");
  CHECK(pool.slot_type == "h100");
  CHECK(pool.rounds == 2);
  CHECK(pool.rounds_different == 1);
  CHECK(pool.nodes_live == 4);
  CHECK(pool.nodes_candidate == 5);
  stored.erase("pools");
  const auto before = shadow_report_from_json(stored);
  REQUIRE(before);
  CHECK(before->rounds == 2);
  CHECK(before->pools.empty());
}

}  // namespace tidepool::live
