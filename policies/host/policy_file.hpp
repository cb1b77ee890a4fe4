// A policy as its author keeps it: one Lua file, or a folder with `policy.lua` (or `policy.so`), `policy.yaml` and
// `tests/*.yaml`. policy.yaml contains its name, its parameters and what a round may use. A version is the SHA-256 of
// what decides its answers, so the same version always answers the same.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/result.hpp"
#include "policies/host/policy_host.hpp"

namespace tidepool::policies::host {

struct ParamRule {
  Param param;  // its name and default
  std::optional<double> low, high;
  std::vector<std::string> choices;  // of a text; empty = any
  std::string about;
};

struct Manifest {
  std::string name;   // small letters, digits, _ and -
  std::string about;  // one line
  EngineKind engine = EngineKind::kLua;
  std::vector<std::string> hooks;  // those that must exist; empty = all that exist except `share` and `provision`
  std::vector<ParamRule> params;
  Budgets budgets;

  // It lists the hook `share`: while it decides, tenants share the pool with its claims (PolicyFileRef::shares).
  [[nodiscard]] bool shares() const;
  // It lists the hook `provision` (PolicyFileRef::provisions).
  [[nodiscard]] bool provisions() const;
};

// Reads the content of a policy.yaml; `name` if it has none. Findings go to `errors`.
[[nodiscard]] Manifest read_manifest(const nlohmann::json& value, const std::string& name,
                                     std::vector<FieldError>& errors);
// The inverse, with every default written out.
[[nodiscard]] nlohmann::json to_json(const Manifest& manifest);

// The hooks in a mask of Hook, in the words of policy.yaml; `marks`, which only a library reports, is last.
[[nodiscard]] std::vector<std::string> hook_names(std::uint32_t hooks);

// The parameters of a run: the defaults, changed by an object of names and values. Errors name the parameter.
[[nodiscard]] Result<std::vector<Param>> choose_params(const Manifest& manifest, const nlohmann::json& given);

struct PolicyFile {
  Manifest manifest;
  std::string source;                        // Lua text or a library's bytes
  std::vector<std::filesystem::path> tests;  // files of tests beside it, by name

  [[nodiscard]] Source for_host() const { return {manifest.engine, source, manifest.budgets}; }
};

// Has the host load the file: the names of its hooks, or why it does not match its policy.yaml.
[[nodiscard]] std::variant<std::vector<std::string>, PolicyFault> look_over(const PolicyFile& file,
                                                                            PolicyHost& process);

// 64 hexadecimal digits.
[[nodiscard]] std::string version_of(const PolicyFile& file);

// Errors name the file and what to change; for policy.yaml all errors, each with its line. A program next to a
// policy.yaml means its folder: alone it would have neither the parameters nor the tests.
[[nodiscard]] Result<PolicyFile> read_policy_file(const std::filesystem::path& path);

inline constexpr std::size_t kTestBytesMax = 1U << 20U;  // of one file of tests beside a policy

// A regular file's content, at most `bytes_max` of it.
[[nodiscard]] Result<std::string> read_whole_file(const std::filesystem::path& path, std::size_t bytes_max);

}  // namespace tidepool::policies::host
