// PATCH of a job: an RFC 7396 merge patch of its document, as far as it can change while the job lives.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/v1/job_defaults.hpp"
#include "api/v1/job_spec.hpp"
#include "base/json.hpp"
#include "schedulerd/leader/job_file.hpp"
#include "schedulerd/leader/user_commands.hpp"
#include "schedulerd/live/http/handlers.hpp"
#include "schedulerd/live/http/jobs/job_requests.hpp"
#include "schedulerd/live/http/paging.hpp"
#include "schedulerd/live/http/render.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

// The parts that no worker has been started with.
constexpr std::array<std::string_view, 10> kChangeable = {"elastic", "scaling",  "work",      "priority", "preemptible",
                                                          "budget",  "topology", "placement", "limits",   "labels"};

// None: the job file has such a part.
std::optional<FieldError> unknown_part(const std::string& part, const json& value) {
  auto errors = api::v1::read_job_spec({{part, value}}).errors;
  const auto found = std::find_if(errors.begin(), errors.end(), [&](const FieldError& error) {
    return error.code == "UnknownField" && error.pointer == "/" + part;
  });
  return found == errors.end() ? std::nullopt : std::optional(std::move(*found));
}

void check_parts(const json& patch, std::vector<FieldError>& errors) {
  for (const auto& [name, value] : patch.items()) {
    const std::string& part = name;
    if (std::find(kChangeable.begin(), kChangeable.end(), part) != kChangeable.end()) continue;
    if (auto unknown = unknown_part(part, value)) {
      errors.push_back(*std::move(unknown));
      continue;
    }
    errors.push_back({"/" + part, "Unchangeable",
                      "cannot change while the job lives: its workers were started with it; submit a new job"});
  }
}

// A list of sizes that only follows from the bounds is left to follow from the new ones.
void loosen_sizes(json& document, const json& patch) {
  const bool moves_bounds = patch.contains("elastic") && patch["elastic"].is_object() &&
                            !patch["elastic"].contains("sizes") && !patch["elastic"].empty();
  if (!moves_bounds) return;
  json loose = document;
  loose["elastic"].erase("sizes");
  const auto derived = api::v1::read_job_spec(loose);
  if (derived.errors.empty() && json(derived.spec.elastic.sizes) == document["elastic"]["sizes"]) {
    document = std::move(loose);
  }
}

// Without what the job has already been stored with: its file was read by the rules of an earlier version.
void forgive_stored(const json& stored, std::vector<FieldError>& errors) {
  if (errors.empty()) return;
  const auto before = api::v1::read_job_spec(stored).errors;
  std::erase_if(errors, [&](const FieldError& error) {
    return std::any_of(before.begin(), before.end(), [&](const FieldError& old) {
      return old.pointer == error.pointer && old.code == error.code && old.message == error.message;
    });
  });
}

// Whose defaults the fields still have: those that the change left as they were.
std::map<std::string, std::string> unchanged_defaults(const core::JobSpec& before, const core::JobSpec& after) {
  const json was = leader::job_document(before);
  const json is = leader::job_document(after);
  auto from = before.defaults_from;
  std::erase_if(from, [&](const auto& entry) {
    const auto at = api::v1::pointer_of_field(entry.first);
    return !was.contains(at) || !is.contains(at) || was.at(at) != is.at(at);
  });
  return from;
}

// With the ETag of the job as it is: the change itself is sent with that.
void reply_dry_change(const Rest& rest, const Call& call, const core::Job& job, core::JobSpec spec) {
  const Status taken = leader::check_change(call.seen->state, job, spec, call.seen->now);
  if (!taken.ok()) return call.fail(problem_of(taken.error()));
  if (const auto problem = why_refused(*call.seen, core::JobChanged{job.id, spec})) return call.fail(*problem);
  core::Job changed = job;
  changed.spec = std::move(spec);
  HttpResponse response =
      dry_run_response(rest, rest.seen_by(call), {.job = changed, .changed = json::object(), .would = "be changed"});
  response.headers.emplace_back("ETag", job_etag(job, file_text(job)));
  call.reply(std::move(response));
}

}  // namespace

void change_job(Rest& rest, Call call) {
  const auto dry_run = read_flag(call, "dry_run");
  if (!dry_run) return call.fail(bad_parameter(dry_run.error()));
  const auto job = job_to_change(rest, call);
  if (job == nullptr) return;
  const auto body = read_body(call);
  if (const auto* problem = std::get_if<Problem>(&body)) return call.fail(*problem);
  const auto& patch = std::get<json>(body);
  if (!patch.is_object() || patch.empty()) {
    return call.fail({.status = 422, .code = "InvalidJob", .detail = "a change is an object with the parts to change"});
  }
  std::vector<FieldError> errors;
  check_parts(patch, errors);
  if (!errors.empty()) return call.fail(job_errors(std::move(errors), "change it"));
  const json stored = leader::job_document(job->spec);
  json document = stored;
  loosen_sizes(document, patch);
  document.merge_patch(patch);
  auto findings = api::v1::read_job_spec(document);
  forgive_stored(stored, findings.errors);
  check_names(findings.spec, rest.options(), findings.errors);
  if (!findings.errors.empty()) return call.fail(job_errors(std::move(findings.errors), "change it"));
  const JobId id = job->id;
  core::JobSpec spec = leader::to_core(findings.spec);
  spec.defaults_from = unchanged_defaults(job->spec, spec);
  if (dry_run.value()) return reply_dry_change(rest, call, *job, std::move(spec));
  send_job_command(rest, std::move(call), ChangeJob{id, std::move(spec)}, id);
}

}  // namespace tidepool::live::http
