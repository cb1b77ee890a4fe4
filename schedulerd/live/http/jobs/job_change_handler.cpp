// PATCH of a job: an RFC 7396 merge patch of its document, as far as it can change while the job lives.
#include <utility>

#include "base/json.hpp"
#include "schedulerd/leader/job_change.hpp"
#include "schedulerd/leader/job_file.hpp"
#include "schedulerd/leader/user_commands.hpp"
#include "schedulerd/live/http/handlers.hpp"
#include "schedulerd/live/http/jobs/job_requests.hpp"
#include "schedulerd/live/http/paging.hpp"
#include "schedulerd/live/http/render.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

// With the ETag of the job as it is: the change itself is sent with that.
void reply_dry_change(const Rest& rest, const Call& call, const core::Job& job, core::JobSpec spec) {
  const Status taken = leader::check_change(call.seen->state, job, spec, call.seen->now);
  if (!taken.ok()) return call.fail(problem_of(taken.error()));
  if (const auto problem = why_refused(*call.seen, core::JobChanged{job.id, spec})) return call.fail(*problem);
  core::Job changed = job;
  changed.spec = std::move(spec);
  HttpResponse response =
      dry_run_response(rest, rest.seen_by(call), {.job = changed, .changed = json::object(), .would = "be changed"});
  response.headers.emplace_back("ETag", leader::job_etag(job, leader::file_text(job)));
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
    return call.fail({.status = 422,
                      .code = "InvalidJob",
                      .detail = "a change is an object with the parts to change",
                      .hint = "nothing was stored",
                      .errors = {{"", "Invalid", "must be an object with one part of the job file or more"}}});
  }
  auto changed = leader::changed_spec(job->spec, patch);
  // What the job was stored with it may keep.
  const bool names_move = changed.spec.scaling.policy != job->spec.scaling.policy;
  if (changed.errors.empty() && names_move) check_names(leader::to_file(changed.spec), rest.options(), changed.errors);
  if (!changed.errors.empty()) return call.fail(job_errors(std::move(changed.errors), "change it"));
  if (dry_run.value()) return reply_dry_change(rest, call, *job, std::move(changed.spec));
  send_job_command(rest, std::move(call), leader::ChangeJob{job->id, patch}, job->id);
}

}  // namespace tidepool::live::http
