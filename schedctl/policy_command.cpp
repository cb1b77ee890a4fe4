#include "schedctl/policy_command.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <variant>

#include "base/word_list.hpp"
#include "policies/host/policy_test.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/job_file.hpp"
#include "schedctl/policy_template.hpp"
#include "schedctl/text_table.hpp"

namespace tidepool::ctl {
namespace {

namespace host = policies::host;
using nlohmann::json;

void print(const Settings& settings, const json& value, const std::string& as_text) {
  if (settings.format == "json") return write_out(value.dump(2) + "\n");
  write_out(settings.format == "yaml" ? to_yaml(value) : as_text);
}

// The names of the hooks that the policy has. Throws Failure if it cannot be run or lacks one that policy.yaml lists.
std::vector<std::string> looked_over(const host::PolicyFile& file, host::PolicyHost& process) {
  auto hooks = look_over(file, process);
  if (const auto* fault = std::get_if<host::PolicyFault>(&hooks)) {
    const bool machine = fault->code == "policy.not_started" || fault->code == "policy.no_sandbox";
    fail(machine ? kExitInternal : kExitNegative, file.manifest.name + ": " + to_text(*fault));
  }
  return std::get<std::vector<std::string>>(std::move(hooks));
}

int validate(const std::string& path, const Settings& settings) {
  const host::PolicyFile file = open_policy(path);
  host::PolicyHost process(file.for_host(), host::policy_host_program());
  const auto hooks = looked_over(file, process);
  const std::string version = version_of(file);
  json answer = to_json(file.manifest);
  answer["version"] = version;
  answer["hooks"] = hooks;
  print(settings, answer,
        file.manifest.name + " can be run: version " + version.substr(0, kVersionShown) + ", hooks " +
            word_list(hooks) + "\n");
  return kExitOk;
}

// The tests of one file. Throws Failure that names the line of the first finding.
std::vector<host::PolicyTest> tests_of(const std::filesystem::path& path) {
  const auto text = host::read_whole_file(path, host::kTestBytesMax);
  if (!text) fail(kExitUsage, text.error().message);
  FieldLines lines;
  const auto parsed = parse_job_text(*text, lines);
  if (!parsed) fail(kExitUsage, path.string() + ": " + parsed.error().message);
  std::vector<FieldError> errors;
  auto tests = host::read_tests(*parsed, errors);
  if (!errors.empty()) fail(kExitUsage, findings_text(path.string(), lines, errors));
  return tests;
}

struct TestOutcome {
  std::string file;
  std::string test;
  std::vector<std::string> differences;  // empty = passed
};

// All tests of the policy, one after the other. Throws Failure if it cannot be run, or a test cannot be read.
std::vector<TestOutcome> tested(const host::PolicyFile& file) {
  host::PolicyHost process(file.for_host(), host::policy_host_program());
  (void)looked_over(file, process);
  std::vector<TestOutcome> outcomes;
  for (const auto& tests : file.tests) {
    for (const host::PolicyTest& test : tests_of(tests)) {
      outcomes.push_back({tests.filename().string(), test.name, run_test(test, file.manifest, process)});
    }
  }
  return outcomes;
}

std::string has_no_tests(const host::PolicyFile& file) {
  return file.manifest.name + " has no tests; write some to tests/*.yaml beside it (docs/policies.md)";
}

int run_tests(const std::string& path, const Settings& settings) {
  const host::PolicyFile file = open_policy(path);
  json results = json::array();
  std::string text;
  int failed = 0;
  for (const TestOutcome& outcome : tested(file)) {
    const bool passed = outcome.differences.empty();
    failed += passed ? 0 : 1;
    text += (passed ? "ok      " : "FAILED  ") + outcome.test + "\n";
    for (const std::string& difference : outcome.differences) text += "        " + difference + "\n";
    results.push_back(
        {{"file", outcome.file}, {"test", outcome.test}, {"passed", passed}, {"differences", outcome.differences}});
  }
  if (results.empty()) fail(kExitNegative, has_no_tests(file));
  text += std::to_string(results.size() - static_cast<std::size_t>(failed)) + " of " + std::to_string(results.size()) +
          " tests of " + file.manifest.name + " passed\n";
  print(settings,
        {{"policy", file.manifest.name}, {"version", version_of(file)}, {"failed", failed}, {"tests", results}}, text);
  return failed == 0 ? kExitOk : kExitNegative;
}

void write_new(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  if (!out.flush()) fail(kExitUsage, path.string() + " cannot be written; check its folder and the space left");
}

int make_new(const std::string& path, const Settings& settings) {
  const std::filesystem::path given = path;
  const std::filesystem::path folder = given.has_filename() ? given : given.parent_path();  // "name/"
  std::error_code failed;
  if (std::filesystem::exists(folder, failed)) fail(kExitUsage, path + " is there already; choose another name");
  const std::string name = folder.filename().string();
  std::vector<FieldError> errors;
  (void)host::read_manifest({{"name", name}}, name, errors);
  if (!errors.empty()) fail(kExitUsage, name + ": " + errors.front().message);
  std::filesystem::create_directories(folder / "tests", failed);
  if (failed) fail(kExitUsage, path + " cannot be made: " + failed.message());
  write_new(folder / "policy.yaml", policy_yaml_template(name));
  write_new(folder / "policy.lua", policy_lua_template(name));
  write_new(folder / "tests" / "basic.yaml", policy_test_template());
  print(settings, {{"policy", name}, {"path", path}},
        "made " + path + " with policy.yaml, policy.lua and tests/basic.yaml\ntry it: schedctl policy test " + path +
            "\n");
  return kExitOk;
}

using OnPath = int (*)(const std::string& path, const Settings& settings);

CLI::App* add_on_path(CLI::App& group, Chosen& chosen, const std::string& name, OnPath run) {
  const auto path = std::make_shared<std::string>();
  CLI::App* command = group.add_subcommand(name);
  command->add_option("path", *path, "a .lua file, a .so library, or a folder with policy.yaml")->required();
  command->callback([path, run, &chosen] {
    chosen.offline = [path, run](const Settings& settings) { return run(*path, settings); };
  });
  return command;
}

}  // namespace

host::PolicyFile open_policy(const std::string& path) {
  auto file = host::read_policy_file(path);
  if (!file) fail(kExitUsage, file.error().message);
  return *std::move(file);
}

void require_sound(const host::PolicyFile& file, const std::string& path) {
  const std::vector<TestOutcome> outcomes = tested(file);
  if (outcomes.empty()) std::fprintf(stderr, "note: %s\n", has_no_tests(file).c_str());
  const auto fails = [](const TestOutcome& outcome) { return !outcome.differences.empty(); };
  const auto first = std::find_if(outcomes.begin(), outcomes.end(), fails);
  if (first == outcomes.end()) return;
  fail(kExitNegative, file.manifest.name + ": " +
                          std::to_string(std::count_if(outcomes.begin(), outcomes.end(), fails)) + " of " +
                          std::to_string(outcomes.size()) + " tests fail; tests/" + first->file + ", \"" + first->test +
                          "\": " + first->differences.front() + "; see all: schedctl policy test " + path);
}

json params_of(const std::vector<std::string>& given) {
  json params = json::object();
  for (const std::string& each : given) {
    const auto equals = each.find('=');
    if (equals == std::string::npos || equals == 0) fail(kExitUsage, each + " is not NAME=VALUE, such as most=4");
    const std::string text = each.substr(equals + 1);
    const json value = json::parse(text, nullptr, false);
    const bool is_written = value.is_number() || value.is_boolean() || value.is_string();
    params[each.substr(0, equals)] = is_written ? value : json(text);
  }
  return params;
}

std::vector<host::Param> chosen_params(const host::PolicyFile& file, const std::string& path, const json& given) {
  auto chosen = choose_params(file.manifest, given);
  if (!chosen) fail(kExitUsage, path + ": " + chosen.error().message);
  return *std::move(chosen);
}

bool names_policy_file(const std::string& policy) {
  return policy.find('/') != std::string::npos || policy.ends_with(".lua") || policy.ends_with(".so");
}

void add_policy_file_commands(CLI::App& app, Chosen& chosen) {
  CLI::App* group = app.get_subcommand("policy");
  CLI::App* fresh = add_on_path(*group, chosen, "new", make_new);
  fresh->description("Make a folder with a policy that works and a test for it");
  fresh->get_option("path")->description("the folder to make; its name is the policy's");
  add_on_path(*group, chosen, "validate", validate)
      ->description("Check that a policy can be run, and show its version");
  add_on_path(*group, chosen, "test", run_tests)->description("Run a policy's tests; exit code 1 if one fails");
}

}  // namespace tidepool::ctl
