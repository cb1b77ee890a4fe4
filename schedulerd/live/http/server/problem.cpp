#include "schedulerd/live/http/server/problem.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

const char* title_of(int status) {
  switch (status) {
    case 400: return "The request is malformed";
    case 401: return "A valid token is needed";
    case 403: return "Not allowed";
    case 404: return "Not found";
    case 405: return "This method is not known here";
    case 409: return "Not in the present state";
    case 412: return "It has changed meanwhile";
    case 413: return "The body is too large";
    case 415: return "The body has a type that is not taken here";
    case 417: return "The expectation cannot be met";
    case 421: return "Wrong host";
    case 422: return "The request has errors";
    case 429: return "A limit is reached";
    case 431: return "The headers are too large";
    case 503: return "Not available now";
    default: return "The daemon failed";
  }
}

}  // namespace

std::string about_of(const json& body) {
  std::string about;
  if (!body.is_object()) return about;
  for (const char* field : {"id", "name", "code"}) {
    const auto found = body.find(field);
    if (found != body.end() && found->is_string()) about += std::string(" ") + field + "=" + canonical_json(*found);
  }
  return about;
}

json problem_document(const Problem& problem, const std::string& path, const std::string& request_id) {
  json errors = json::array();
  for (const auto& error : problem.errors) {
    errors.push_back({{"pointer", error.pointer}, {"code", error.code}, {"message", error.message}});
    if (error.line > 0) errors.back()["line"] = error.line;
  }
  const bool retryable = problem.status == 503 || problem.status == 429;
  json body = {{"type", "about:blank"},
               {"title", problem.code == "InvalidJob" ? "The job file has errors" : title_of(problem.status)},
               {"status", problem.status},
               {"code", problem.code},
               {"detail", problem.detail},
               {"instance", path.empty() ? json(nullptr) : json(path)},
               {"request_id", request_id},
               {"retryable", retryable},
               {"errors", std::move(errors)},
               {"hint", problem.hint.empty() ? json(nullptr) : json(problem.hint)}};
  if (!problem.refused.is_null()) body["refused"] = problem.refused;
  return body;
}

HttpResponse problem_response(const Problem& problem, const std::string& path, const std::string& request_id) {
  const json document = problem_document(problem, path, request_id);
  HttpResponse response{.status = problem.status,
                        .headers = {{"Content-Type", "application/problem+json"}, {"Cache-Control", "no-store"}},
                        .body = canonical_json(document),
                        .about = about_of(document)};
  if (problem.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"tidepool\"");
  if (problem.status == 503 || problem.status == 429) response.headers.emplace_back("Retry-After", "1");
  return response;
}

Problem problem_of(const Error& error) {
  const auto problem = [&](int status, std::string code, std::string hint) {
    return Problem{.status = status, .code = std::move(code), .detail = error.message, .hint = std::move(hint)};
  };
  switch (error.code) {
    case ErrorCode::kInvalidArgument: return problem(422, "InvalidArgument", "");
    case ErrorCode::kNotFound: return problem(404, "NotFound", "");
    case ErrorCode::kConflict: return problem(409, "Conflict", "");
    case ErrorCode::kOutdated:
      return problem(412, "Changed", "read it again and repeat with its new ETag; nothing was stored");
    case ErrorCode::kLastAdmin:
      return problem(409, "LastAdmin", "make another one before: schedctl token create NAME --role admin");
    case ErrorCode::kLimitExceeded: return problem(429, "LimitExceeded", "");
    case ErrorCode::kUnavailable: return problem(503, "Unavailable", "try again in a second");
    case ErrorCode::kIo:
      return problem(503, "OutcomeUnknown",
                     "it is not known whether this was stored; send it again with the same Idempotency-Key");
    case ErrorCode::kInternal: break;
  }
  return problem(500, "Internal", "this is a bug of the daemon; its log has more under the request id");
}

Problem problem_of_change(const Error& error) {
  Problem problem = problem_of(error);
  if (error.code == ErrorCode::kUnavailable) problem.hint += "; nothing was stored";
  return problem;
}

Problem problem_of(const Refusal& refusal) {
  return {.status = refusal.status, .code = refusal.code, .detail = refusal.message, .hint = refusal.hint};
}

HttpResponse json_response(int status, const json& body) {
  HttpResponse response = json_text_response(status, canonical_json(body));
  response.about = about_of(body);
  return response;
}

HttpResponse json_text_response(int status, std::string body) {
  return {.status = status,
          .headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}},
          .body = std::move(body)};
}

}  // namespace tidepool::live::http
