// What requests about jobs have in common: their bodies, the job that they name, and how a job is answered.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "schedulerd/live/http/rest.hpp"

namespace tidepool::live::http {

// `again`: what the caller did, "submit" or "change it".
[[nodiscard]] Problem job_errors(std::vector<FieldError> errors, const std::string& again);

// Why this policy cannot be asked for, if it is not among those the daemon has.
[[nodiscard]] std::optional<FieldError> check_policy(const std::string& policy,
                                                     const std::vector<PolicyInfo>& policies);

// Reads the body's JSON; a problem if it is none.
[[nodiscard]] std::variant<nlohmann::json, Problem> read_body(const Call& call);

// The job with its ETag.
[[nodiscard]] HttpResponse job_response(int status, const Rest& rest, const Published& seen, JobId id);

// A rendered job as the answer to ?dry_run=true.
[[nodiscard]] nlohmann::json dry_run_body(nlohmann::json job, const std::string& would);

// The job of a changing call: found, visible, and as If-Match says; null = answered already.
[[nodiscard]] const core::Job* job_to_change(const Rest& rest, const Call& call);

}  // namespace tidepool::live::http
