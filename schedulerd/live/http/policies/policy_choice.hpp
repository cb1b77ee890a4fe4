// Which stored version of a policy file a request means, and why it may not be used: read from the body, looked up in
// the journal, judged by what was found when it was run.
//
// A function that takes the Call has answered it where it gives nothing or false; the caller then only returns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "schedulerd/live/http/rest.hpp"
#include "schedulerd/live/http/server/problem.hpp"
#include "schedulerd/live/policies/policy_evaluator.hpp"

namespace tidepool::live::http {

// What a request says about which version it means.
struct PolicyChoice {
  std::string version;  // empty = the newest
  nlohmann::json params = nlohmann::json::object();
  std::string since;
  std::int64_t rounds = 1'000;
  bool stop = false;
  std::vector<FieldError> errors;
};

// `more` names the fields beside `version`.
[[nodiscard]] std::optional<PolicyChoice> read_policy_choice(const Call& call, const std::vector<std::string>& more);
// False if the daemon's own policy is asked to be another: it has no versions and no parameters.
[[nodiscard]] bool names_no_version(const Call& call, const PolicyChoice& choice);
// The version meant, whole. `wanted`: the beginning of it, or empty = the newest.
[[nodiscard]] std::optional<PolicyVersion> find_policy_version(Rest& rest, const Call& call, const std::string& wanted);

[[nodiscard]] std::optional<Problem> refuse_native(Rest& rest, const PolicyVersion& version);
// Why the version may not decide, or be asked at all.
[[nodiscard]] std::optional<Problem> unfit(const PolicyVersion& version, const PolicyExamined& examined);

}  // namespace tidepool::live::http
