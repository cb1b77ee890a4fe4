// Manifests, parameters and versions of policy files.
#include "policies/host/policy_file.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "policies/host/shared_image.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tidepool::policies::host {
namespace {

using nlohmann::json;

Manifest manifest_of(const json& value) {
  std::vector<FieldError> errors;
  const Manifest manifest = read_manifest(value, "file", errors);
  for (const auto& error : errors) UNSCOPED_INFO(error.pointer + ": " + error.message);
  REQUIRE(errors.empty());
  return manifest;
}

std::string finding_of(const json& value) {
  std::vector<FieldError> errors;
  (void)read_manifest(value, "file", errors);
  return errors.empty() ? "" : errors.front().pointer + ": " + errors.front().message;
}

const json kCap = {{"params",
                    {{"cap", {{"default", 4}, {"min", 1}, {"max", 9}}},
                     {"mode", {{"default", "fair"}, {"choices", {"fair", "fast"}}}},
                     {"strict", {{"default", false}}}}}};

}  // namespace

TEST_CASE("an empty manifest takes the file's name and the usual budgets") {
  const Manifest manifest = manifest_of(json::object());
  CHECK(manifest.name == "file");
  CHECK(manifest.engine == EngineKind::kLua);
  CHECK(manifest.budgets.wall == Duration::millis(250));
}

TEST_CASE("a manifest survives being written and read") {
  json full = kCap;
  full["name"] = "capped";
  full["hooks"] = {"size"};
  full["budgets"] = {{"instructions", 20'000}, {"memory_mib", 2}, {"wall", "100ms"}};
  const Manifest once = manifest_of(full);
  CHECK(to_json(manifest_of(to_json(once))) == to_json(once));
  CHECK(once.budgets.memory_bytes == 2 << 20);
}

TEST_CASE("hooks are named as policy.yaml names them") {
  CHECK(hook_names(0).empty());
  CHECK(hook_names(kSizes | kAdmit) == std::vector<std::string>{"admit", "size"});
  CHECK(hook_names(~0U) == std::vector<std::string>{"admit", "order", "size", "share", "provision", "marks"});
  for (const std::string& name : hook_names(kAdmit | kOrder | kSizes | kShare | kProvision)) {
    CHECK(manifest_of({{"hooks", {name}}}).hooks == std::vector<std::string>{name});
  }
  CHECK(finding_of({{"hooks", {"marks"}}}) == "/hooks: hooks may list admit, order, size, share, provision");
}

TEST_CASE("each wrong field is found") {
  CHECK(finding_of({{"name", "Upper"}}).find("/name") == 0);
  CHECK(finding_of({{"api", 3}}) ==
        "/api: api is later than 2, the newest version of the interface here: write the "
        "policy for that one, or install a newer Tidepool");
  CHECK(finding_of({{"hooks", {"sizes"}}}).find("/hooks") == 0);
  CHECK(finding_of({{"hooks", "size"}}).find("/hooks") == 0);
  for (const json& choices : {json(5), json({"a", 5})}) {
    CHECK(finding_of({{"params", {{"cap", {{"default", "a"}, {"choices", choices}}}}}}).find("/params/cap/choices") ==
          0);
  }
  CHECK(finding_of({{"params", {{"cap", {{"default", 1}, {"choices", {"a"}}}}}}}).find("/params/cap/choices") == 0);
  CHECK(finding_of({{"budgets", {{"instructions", 5}}}}).find("/budgets/instructions") == 0);
  CHECK(finding_of({{"params", {{"Cap", {{"default", 1}}}}}}).find("/params/Cap") == 0);
  CHECK(finding_of({{"params", {{"cap", json::object()}}}}).find("/params/cap/default") == 0);
  CHECK(finding_of({{"parms", json::object()}}).find("params") != std::string::npos);
}

TEST_CASE("a policy is not called as a path beside the policies is") {
  CHECK(finding_of({{"name", "status"}}) ==
        "/name: name must not be \"status\", which is the path of GET /v1/policies/status; choose another");
}

TEST_CASE("a manifest of version 1 is refused with the line to edit, the new columns and the page that tells of them") {
  const std::string finding = finding_of({{"name", "old"}, {"api", 1}});
  CHECK(finding.find("/api: api is 1") == 0);
  for (const char* what : {"write \"api: 2\" in this line of policy.yaml", "view.node_type", "view.tenant",
                           "view.price", "view.types_asked", "view.types_held", "docs/policies.md"}) {
    CAPTURE(what);
    CHECK(finding.find(what) != std::string::npos);
  }
  CHECK(to_json(manifest_of({{"api", 2}}))["api"] == 2);
}

TEST_CASE("parameters have the type of their default and stay in their range") {
  const Manifest manifest = manifest_of(kCap);
  const auto message = [&](const json& given) {
    const auto chosen = choose_params(manifest, given);
    return chosen.ok() ? std::string("fine") : chosen.error().message;
  };
  CHECK(message({{"cap", 9}, {"mode", "fast"}, {"strict", true}}) == "fine");
  CHECK(message({{"cap", 10}}) == "the parameter cap must be at most 9");
  CHECK(message({{"cap", "9"}}) == "the parameter cap must be a number");
  CHECK(message({{"mode", 2}}) == "the parameter mode must be a text, quoted where it looks like another value");
  CHECK(message({{"mode", "slow"}}) == R"(the parameter mode must be one of ["fair","fast"])");
  CHECK(message({{"cop", 1}}) == R"(the policy has no parameter "cop"; did you mean "cap"?)");
}

TEST_CASE("a folder that is not there is not told to be no policy") {
  const test::TemporaryFolder top;
  const std::filesystem::path none = top / "none" / "";
  CHECK(read_policy_file(none).error().message ==
        none.string() + " is not there: give a .lua file, a .so library or a folder with one");
}

TEST_CASE("the program beside a policy.yaml stands for its folder, with name, parameters and tests") {
  const test::TemporaryFolder top;
  const auto folder = top / "mine";
  std::filesystem::create_directories(folder / "tests");
  const auto write = [&](const std::string& name, const std::string& text) { std::ofstream(folder / name) << text; };
  write("policy.lua", "return {}");
  write("tests/basic.yaml", "[]");
  REQUIRE(read_policy_file(folder / "policy.lua").ok());
  CHECK(read_policy_file(folder / "policy.lua")->manifest.name == "policy");  // a file by itself
  write("policy.yaml", "name: capped\nparams: {most: {default: 4}}\n");
  const auto file = read_policy_file(folder / "policy.lua");
  REQUIRE(file.ok());
  CHECK(file->manifest.name == "capped");
  CHECK(file->manifest.params.size() == 1);
  CHECK(file->tests == std::vector{folder / "tests" / "basic.yaml"});
  CHECK(version_of(*file) == version_of(*read_policy_file(folder)));
  write("policy.so", "");
  CHECK(read_policy_file(folder / "policy.so").error().message ==
        (folder / "policy.so").string() +
            ": the policy.yaml beside it runs policy.lua; write \"engine: native\" there, or remove one of the two");
}

TEST_CASE("the version changes with whatever decides the answers") {
  PolicyFile file{.manifest = manifest_of(kCap), .source = "return {}", .tests = {}};
  const std::string before = version_of(file);
  CHECK(before.size() == 64);
  CHECK(version_of(file) == before);
  file.source += " ";
  const std::string changed = version_of(file);
  CHECK(changed != before);
  file.manifest.params[0].param.value = 5.0;
  CHECK(version_of(file) != changed);
}

}  // namespace tidepool::policies::host
