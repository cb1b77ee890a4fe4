// What a daemon has stored of policy files, read again.
#include "schedulerd/live/service/policy_version.hpp"

#include <catch2/catch.hpp>

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

}  // namespace tidepool::live
