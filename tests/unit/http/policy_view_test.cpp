#include "schedulerd/live/http/policies/policy_view.hpp"

#include <catch2/catch.hpp>

#include "schedulerd/live/http/policies/policy_choice.hpp"
#include "tests/support/no_history.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

PolicyVersion version_of(const std::string& engine) {
  PolicyVersion version;
  version.name = "mine";
  version.version = std::string(64, 'a');
  version.manifest = json{{"name", "mine"}, {"engine", engine}}.dump();
  version.tests = json{{"grow", json::array({"a test"})}}.dump();
  version.source = "the source";
  return version;
}

PolicyExamined examined_with(std::vector<PolicyTestResult> tests) {
  PolicyExamined examined;
  examined.checks.runs = true;
  examined.checks.tests = static_cast<std::int64_t>(tests.size());
  for (const PolicyTestResult& test : tests) examined.checks.failed += test.differences.empty() ? 0 : 1;
  examined.tests = std::move(tests);
  return examined;
}

}  // namespace

TEST_CASE("a Lua policy is shown with its source where that is asked for, a library never") {
  const Published seen{};
  CHECK(render_policy_version(seen, version_of("lua"), true).at("source") == "the source");
  CHECK(render_policy_version(seen, version_of("native"), true).at("source").is_null());
  const json listed = render_policy_version(seen, version_of("lua"), false);
  CHECK_FALSE(listed.contains("source"));
  CHECK(listed.at("test_files") == json::array({"grow"}));
  CHECK(listed.at("active") == false);
  CHECK(listed.at("checks").is_null());
}

TEST_CASE("a version is unfit if it does not run or a test of it fails, and each failed test is told") {
  const PolicyVersion version = version_of("lua");
  const PolicyExamined good = examined_with({{"grow", "one", {}}});
  CHECK_FALSE(unfit(version, good).has_value());
  CHECK(render_examined_policy(version, good).at("tests").at(0).at("passed") == true);

  const PolicyExamined failed = examined_with({{"grow", "one", {}}, {"grow", "two", {"size is 1", "and more"}}});
  const auto why = unfit(version, failed);
  REQUIRE(why.has_value());
  CHECK(why->code == "PolicyTestsFailed");
  CHECK(why->detail == "1 of 2 tests of mine fail");
  REQUIRE(why->errors.size() == 1);
  CHECK(why->errors.front().pointer == "/tests/grow");
  CHECK(why->errors.front().message == "two: size is 1");
  CHECK(render_examined_policy(version, failed).at("failed") == 1);

  PolicyExamined broken;
  broken.checks.fault = "line 3: no such name";
  CHECK(unfit(version, broken)->code == "PolicyDoesNotRun");
  CHECK(render_examined_policy(version, broken).at("fault") == "line 3: no such name");
}

TEST_CASE("a shadow's report gives means over its rounds, and none where there was no round") {
  const Published seen{};
  test::NoHistory past;
  ShadowReport report;
  CHECK(render_shadow_report(seen, report, past).at("mean_slots_live") == 0.0);
  report.rounds = 4;
  report.slots_live = 10;
  report.slots_candidate = 6;
  const json rendered = render_shadow_report(seen, report, past);
  CHECK(rendered.at("mean_slots_live") == 2.5);
  CHECK(rendered.at("mean_slots_candidate") == 1.5);
  CHECK(rendered.at("last_fault").is_null());
  CHECK(rendered.at("differences").empty());
}

}  // namespace tidepool::live::http
