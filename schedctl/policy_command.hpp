// `schedctl policy new|validate|test`: policy files, offline. They run in the same sandboxed host as in the daemon.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "policies/host/policy_file.hpp"
#include "schedctl/app.hpp"

namespace tidepool::ctl {

inline constexpr std::size_t kVersionShown = 12;  // of the 64 digits of a version

// Adds to the group `policy`, which must be there already.
void add_policy_file_commands(CLI::App& app, Chosen& chosen);

// The policy at `path` (a .lua file, a .so library or a folder). Throws Failure if it cannot be read.
[[nodiscard]] policies::host::PolicyFile open_policy(const std::string& path);

// Throws Failure if the policy cannot be run or one of its tests fails, as the daemon refuses to activate it. Says on
// standard error if it has none.
void require_sound(const policies::host::PolicyFile& file, const std::string& path);

// What `--param` is given, as the parameters of a run: "most=4" as a number, a boolean or a text. Throws Failure.
[[nodiscard]] nlohmann::json params_of(const std::vector<std::string>& given);

// The parameters of a run of the file. Throws Failure that names the one that it lacks or cannot have.
[[nodiscard]] std::vector<policies::host::Param> chosen_params(const policies::host::PolicyFile& file,
                                                               const std::string& path, const nlohmann::json& given);

// Whether --policy names a file and not a built-in policy.
[[nodiscard]] bool names_policy_file(const std::string& policy);

}  // namespace tidepool::ctl
