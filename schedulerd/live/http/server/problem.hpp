// Every refusal as RFC 9457 problem+json: what is wrong, which field, and what to do.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/result.hpp"
#include "schedulerd/live/http/server/http_message.hpp"
#include "schedulerd/live/http/server/request_validator.hpp"

namespace tidepool::live::http {

struct Problem {
  int status = 400;
  std::string code;    // closed list in api/openapi.yaml
  std::string detail;  // one sentence
  std::string hint;    // what to do; empty = nothing beyond the detail
  std::vector<FieldError> errors;
  nlohmann::json refused;  // of a batch: its refused entries, each with its index and problem; null = it is none
};

[[nodiscard]] HttpResponse problem_response(const Problem& problem, const std::string& path,
                                            const std::string& request_id);
// Its body, to be a part of another's.
[[nodiscard]] nlohmann::json problem_document(const Problem& problem, const std::string& path,
                                              const std::string& request_id);

// The loop's refusals: kNotFound is 404, kConflict 409, kUnavailable 503 with Retry-After, ...
[[nodiscard]] Problem problem_of(const Error& error);
// Of a command: also what that means for what it would have stored.
[[nodiscard]] Problem problem_of_change(const Error& error);

[[nodiscard]] Problem problem_of(const Refusal& refusal);

// What a body names, or the code of a refusal, as ` id="job-7"`; never more of it: an answer may hold a secret.
[[nodiscard]] std::string about_of(const nlohmann::json& body);

[[nodiscard]] HttpResponse json_response(int status, const nlohmann::json& body);
// From JSON that is text already.
[[nodiscard]] HttpResponse json_text_response(int status, std::string body);

}  // namespace tidepool::live::http
