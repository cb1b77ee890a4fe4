// PATCH of a job: an RFC 7396 merge patch of its document, as far as it can change while the job lives.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "api/v1/job_defaults.hpp"
#include "api/v1/job_spec.hpp"
#include "base/json.hpp"
#include "schedulerd/leader/job_file.hpp"
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

void check_parts(const json& patch, std::vector<FieldError>& errors) {
  for (const auto& [name, value] : patch.items()) {
    const std::string& part = name;
    if (std::find(kChangeable.begin(), kChangeable.end(), part) != kChangeable.end()) continue;
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
  json document = leader::job_document(job->spec);
  loosen_sizes(document, patch);
  document.merge_patch(patch);
  auto findings = api::v1::read_job_spec(document);
  check_names(findings.spec, rest.options(), findings.errors);
  if (!findings.errors.empty()) return call.fail(job_errors(std::move(findings.errors), "change it"));
  const JobId id = job->id;
  core::JobSpec spec = leader::to_core(findings.spec);
  spec.defaults_from = unchanged_defaults(job->spec, spec);
  if (dry_run.value()) {
    if (const auto problem = why_refused(*call.seen, core::JobChanged{id, spec})) return call.fail(*problem);
    core::Job changed = *job;
    changed.spec = std::move(spec);
    return reply_dry_run(rest, call, {.job = changed, .changed = json::object(), .would = "be changed"});
  }
  send_job_command(rest, std::move(call), ChangeJob{id, std::move(spec)}, id);
}

}  // namespace tidepool::live::http
