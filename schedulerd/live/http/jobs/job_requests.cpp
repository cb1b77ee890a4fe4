#include "schedulerd/live/http/jobs/job_requests.hpp"

#include <algorithm>
#include <utility>

#include "base/word_list.hpp"
#include "base/yaml/yaml_document.hpp"
#include "core/facts/tenant_facts.hpp"
#include "schedulerd/leader/job_change.hpp"
#include "schedulerd/leader/job_defaults.hpp"
#include "schedulerd/leader/job_file.hpp"
#include "schedulerd/live/http/conditions.hpp"

namespace tidepool::live::http {

using nlohmann::json;

namespace {

// Far beyond what people write, and what its reader takes a tenth of a second for at worst: requests are read in turns.
constexpr std::size_t kYamlBytesMax = 64U * 1024U;

// Null is as if it were left out.
bool names_tenant(const json& file) {
  return file.is_object() && file.contains("tenant") && !file["tenant"].is_null();
}

// Of a job file; empty where it is no text, of which the file's reader complains.
std::string tenant_of(const json& file) {
  if (!names_tenant(file)) return core::JobSpec().tenant;
  return file["tenant"].is_string() ? file["tenant"].get<std::string>() : "";
}

Problem unreadable(const char* code, const Error& error) {
  const bool too_big = error.code == ErrorCode::kLimitExceeded;
  return {.status = too_big ? 413 : 400, .code = code, .detail = error.message};
}

// Beside a job's file: which of its fields are a tenant's defaults.
void add_defaults(json& rendered, const core::Job& job) {
  if (!job.spec.defaults_from.empty()) rendered["defaults_from"] = job.spec.defaults_from;
}

}  // namespace

Problem job_errors(std::vector<FieldError> errors, const std::string& again) {
  const std::size_t count = errors.size();
  return {.status = 422,
          .code = "InvalidJob",
          .detail = count == 1 ? "1 field needs a change" : std::to_string(count) + " fields need a change",
          .hint = "correct the fields and " + again + " again; nothing was stored",
          .errors = std::move(errors)};
}

void check_names(const api::v1::JobSpecV1& spec, const RestOptions& options, std::vector<FieldError>& errors) {
  const auto check = [&](const char* pointer, const char* field, const std::string& name, const auto& known) {
    if (std::find(known.begin(), known.end(), name) != known.end()) return;
    errors.push_back(
        {pointer, "Invalid", std::string(field) + " is \"" + name + "\"; this daemon has " + word_list(known)});
  };
  std::vector<std::string> policies = {"default"};
  for (const PolicyInfo& policy : options.policies) {
    if (policy.scope == "job") policies.push_back(policy.name);
  }
  const auto plans_for_all = [&](const PolicyInfo& policy) {
    return policy.scope != "job" && policy.name == spec.scaling.policy;
  };
  if (std::any_of(options.policies.begin(), options.policies.end(), plans_for_all)) {
    errors.push_back({"/scaling/policy", "Invalid",
                      spec.scaling.policy +
                          " plans for all jobs at once and cannot size one alone; a job may name one of " +
                          word_list(policies) + "; what plans for all is chosen with schedulerd --policy"});
  } else {
    check("/scaling/policy", "policy", spec.scaling.policy, policies);
  }
  std::vector<std::string> detectors = {"default", core::kNoDetector};
  detectors.insert(detectors.end(), options.detectors.begin(), options.detectors.end());
  check("/straggler/detector", "detector", spec.straggler_detector, detectors);
}

std::variant<core::JobSpec, Problem> read_submitted(json document, const Call& call, const RestOptions& options) {
  const Caller& caller = call.caller;
  if (!caller.tenant.empty() && document.is_object() && !names_tenant(document)) document["tenant"] = caller.tenant;
  const std::string tenant = tenant_of(document);
  auto filled = leader::fill_defaults(document, *call.seen->state.tenants, tenant);
  auto findings = api::v1::read_job_spec(document);
  check_names(findings.spec, options, findings.errors);
  if (!findings.errors.empty()) return job_errors(std::move(findings.errors), "submit");
  if (!caller.sees(findings.spec.tenant)) {
    return Problem{.status = 403,
                   .code = "ForeignTenant",
                   .detail = "the job file says tenant " + findings.spec.tenant +
                             ", and this token may only submit for the tenant " + caller.tenant + " and those below it",
                   .hint = "name one of these, or leave tenant out for " + caller.tenant};
  }
  core::JobSpec spec = leader::to_core(findings.spec);
  spec.defaults_from = std::move(filled);
  return spec;
}

std::variant<core::JobSpec, Problem> read_submitted_file(const Call& call, const RestOptions& options) {
  if (media_type(call.request.header("content-type")) != kYamlType) {
    auto body = read_body(call);
    if (const auto* problem = std::get_if<Problem>(&body)) return *problem;
    return read_submitted(std::get<json>(std::move(body)), call, options);
  }
  FieldLines lines;
  auto document = tidepool::read_yaml(call.request.body, lines, {.bytes_max = kYamlBytesMax});
  if (!document.ok()) {
    Problem problem = unreadable("BadYaml", document.error());
    if (problem.status == 413) problem.hint = "send it as JSON, which may be larger";
    return problem;
  }
  auto read = read_submitted(std::move(document).value(), call, options);
  if (auto* problem = std::get_if<Problem>(&read)) {
    for (FieldError& error : problem->errors) error.line = lines.line_of(error.pointer);
  }
  return read;
}

Problem naming_tenant(Problem refusal, const std::string& tenant, const Published& seen) {
  const Status leaf = core::check_leaf(*seen.state.tenants, tenant);
  if (!leaf.ok() && leaf.error().message == refusal.detail) {
    refusal.errors.push_back({"/tenant", "Invalid", refusal.detail});
  }
  return refusal;
}

std::variant<json, Problem> read_body(const Call& call) {
  if (call.request.body.empty()) {
    return Problem{.status = 400, .code = "MissingBody", .detail = "this needs a JSON body"};
  }
  auto body = parse_json(call.request.body);
  if (body) return std::move(body).value();
  return unreadable("BadJson", body.error());
}

HttpResponse job_response(int status, Rest& rest, const SeenBy& seen_by, JobId id) {
  const auto job = job_of(seen_by.seen, id, seen_by.past);
  if (job == nullptr) {
    return json_response(status, {{"id", id.text()}});  // gone from the picture already: nothing more is known
  }
  const std::string file = leader::file_text(*job);
  json rendered = render_job(seen_by, *job, rest.options().currency);
  add_defaults(rendered, *job);
  HttpResponse response = json_text_response(status, job_text(rendered, file));
  response.about = about_of(rendered);
  response.headers.emplace_back("ETag", leader::job_etag(*job, file));
  return response;
}

void send_job_command(Rest& rest, Call call, CommandBody body, JobId id) {
  const auto answer = [&rest, id, caller = call.caller](const Receipt&, const Published& seen) {
    return job_response(200, rest, rest.seen_by(seen, caller), id);
  };
  rest.command(std::move(call), std::move(body), answer);
}

HttpResponse dry_run_response(const Rest& rest, const SeenBy& seen_by, const DryRun& dry_run) {
  json rendered = render_job(seen_by, dry_run.job, rest.options().currency);
  rendered.update(dry_run.changed);
  add_defaults(rendered, dry_run.job);
  rendered["dry_run"] = true;
  rendered["would"] = dry_run.would;
  HttpResponse response = json_text_response(200, job_text(rendered, leader::file_text(dry_run.job)));
  response.about = about_of(rendered);
  return response;
}

void reply_dry_run(const Rest& rest, const Call& call, const DryRun& dry_run) {
  call.reply(dry_run_response(rest, rest.seen_by(call), dry_run));
}

std::shared_ptr<const core::Job> job_to_change(const Rest& rest, Call& call) {
  const auto job = rest.find_job(call);
  if (job == nullptr) return nullptr;
  const std::string etag = leader::job_etag(*job, leader::file_text(*job));
  if (if_match_names_tags(call.request)) call.only_of = leader::JobVersion{job->id, etag};
  if (if_match_holds(call.request, etag)) return job;
  const bool goes_on = call.fail_unless_repeated({.status = 412,
                                                  .code = "Changed",
                                                  .detail = call.id + " has changed since it was read",
                                                  .hint = "read it again and repeat with its new ETag"});
  return goes_on ? job : nullptr;
}

}  // namespace tidepool::live::http
