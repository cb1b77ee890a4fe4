// Jobs: submit, list, and the wishes that change one.
#include <algorithm>
#include <set>
#include <utility>

#include "api/v1/job_spec.hpp"
#include "base/json.hpp"
#include "base/word_list.hpp"
#include "schedulerd/live/http/handlers.hpp"
#include "schedulerd/live/http/job_requests.hpp"
#include "schedulerd/live/http/paging.hpp"
#include "schedulerd/live/http/render.hpp"
#include "schedulerd/live/http/translate.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

constexpr std::string_view kJobsList = "jobs";

// The states named by ?state=a,b; empty = any.
Result<std::set<std::string>> read_states(const Call& call) {
  std::set<std::string> states;
  const std::string text = call.query("state");
  for (std::string_view rest = text; !rest.empty();) {
    const std::string word(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    bool known = false;
    for (int state = 0; state <= static_cast<int>(core::JobState::kCancelled); ++state) {
      known = known || word == core::to_text(static_cast<core::JobState>(state));
    }
    if (!known) {
      return invalid_argument("state \"" + word + "\" is none of pending, starting, running, resizing, suspending, " +
                              "suspended, succeeded, failed, cancelled");
    }
    states.insert(word);
  }
  return states;
}

// What the newcomer would find, without asking the engine: it never stores anything.
core::Reason expected_reason(const core::ClusterState& state, const core::JobSpec& spec) {
  const int needed = spec.elastic.min * spec.gpus_per_worker;
  const double free = state.slots_free();
  if (state.nodes.empty()) return {.code = core::ReasonCode::kNoNodes, .numbers = {}};
  if (needed > state.slots_total()) {
    return {
        .code = core::ReasonCode::kNeverFits,
        .numbers = {{"needed", static_cast<double>(needed)}, {"cluster", static_cast<double>(state.slots_total())}}};
  }
  if (needed > state.slots_free()) {
    return {.code = core::ReasonCode::kWaitingForSlots,
            .numbers = {{"needed", static_cast<double>(needed)}, {"free", free}}};
  }
  const int affordable = std::min(spec.elastic.preferred, state.slots_free() / spec.gpus_per_worker);
  return {.code = core::ReasonCode::kStarted, .numbers = {{"size", static_cast<double>(affordable)}}};
}

void reply_dry_submit(const Rest& rest, const Call& call, const core::JobSpec& spec) {
  core::Job job;
  job.spec = spec;
  job.submitted_at = call.seen->now;
  const core::Reason reason = expected_reason(call.seen->state, spec);
  const bool starts = reason.code == core::ReasonCode::kStarted;
  reply_dry_run(rest, call,
                {.job = job,
                 .changed = {{"id", nullptr}, {"reason", render_reason(reason)}},
                 .would = starts ? "be stored and could start at once" : "be stored and wait"});
}

void send_job_command(Rest& rest, Call call, CommandBody body, JobId id) {
  rest.command(std::move(call), std::move(body),
               [&rest, id](const Receipt&, const Published& seen) { return job_response(200, rest, seen, id); });
}

}  // namespace

void list_jobs(Rest& rest, Call call) {
  const auto page = read_page(call, kJobsList);
  if (!page) return call.fail(bad_parameter(page.error()));
  const auto states = read_states(call);
  if (!states) return call.fail(bad_parameter(states.error()));
  const std::string tenant = call.query("tenant");
  const auto& jobs = call.seen->state.jobs;
  auto end = page->after ? jobs.lower_bound(JobId(*page->after)) : jobs.end();
  PageBuilder builder(kJobsList, page->limit);
  while (end != jobs.begin()) {  // newest first
    --end;
    const core::Job& job = *end->second;
    const bool wanted = call.caller.sees(job.spec.tenant) && (tenant.empty() || tenant == job.spec.tenant) &&
                        (states->empty() || states->contains(core::to_text(job.state)));
    if (!wanted) continue;
    if (builder.full()) {
      builder.add(job.id.number(), nullptr);
      break;
    }
    const auto document = rest.documents().of(job);
    builder.add(job.id.number(), render_job(*call.seen, job, *document, rest.options().currency));
  }
  call.reply(200, std::move(builder).body(call.seen->as_of_seq));
}

void submit_job(Rest& rest, Call call) {
  const auto dry_run = read_flag(call, "dry_run");
  if (!dry_run) return call.fail(bad_parameter(dry_run.error()));
  auto body = read_body(call);
  if (const auto* problem = std::get_if<Problem>(&body)) return call.fail(*problem);
  auto& document = std::get<json>(body);
  if (!call.caller.tenant.empty() && document.is_object() && !document.contains("tenant")) {
    document["tenant"] = call.caller.tenant;
  }
  auto findings = api::v1::read_job_spec(document);
  check_names(findings.spec, rest.options(), findings.errors);
  if (!findings.errors.empty()) return call.fail(job_errors(std::move(findings.errors), "submit"));
  if (!call.caller.sees(findings.spec.tenant)) {
    return call.fail({.status = 403,
                      .code = "ForeignTenant",
                      .detail = "this token may only submit for the tenant " + call.caller.tenant});
  }
  core::JobSpec spec = to_core(findings.spec);
  if (dry_run.value()) return reply_dry_submit(rest, call, spec);
  rest.command(std::move(call), SubmitJob{std::move(spec)}, [&rest](const Receipt& receipt, const Published& seen) {
    const JobId id = receipt.job.value_or(JobId());
    HttpResponse response = job_response(201, rest, seen, id);
    response.headers.emplace_back("Location", "/v1/jobs/" + id.text());
    return response;
  });
}

void get_job(Rest& rest, Call call) {
  const core::Job* job = rest.find_job(call);
  if (job != nullptr) call.reply(job_response(200, rest, *call.seen, job->id));
}

void cancel_job(Rest& rest, Call call) {
  const auto dry_run = read_flag(call, "dry_run");
  if (!dry_run) return call.fail(bad_parameter(dry_run.error()));
  const core::Job* job = job_to_change(rest, call);
  if (job == nullptr) return;
  if (!dry_run.value()) return send_job_command(rest, std::move(call), CancelJob{job->id}, job->id);
  const auto slots = job->workers.size() * static_cast<std::size_t>(job->spec.gpus_per_worker);
  const std::string would = is_final(job->state) ? "change nothing: the job has ended"
                                                 : "be cancelled and give back " + std::to_string(slots) + " slots";
  reply_dry_run(rest, call, {.job = *job, .changed = json::object(), .would = would});
}

void resize_job(Rest& rest, Call call) {
  const auto dry_run = read_flag(call, "dry_run");
  if (!dry_run) return call.fail(bad_parameter(dry_run.error()));
  const core::Job* job = job_to_change(rest, call);
  if (job == nullptr) return;
  const auto body = read_body(call);
  if (const auto* problem = std::get_if<Problem>(&body)) return call.fail(*problem);
  std::vector<FieldError> errors;
  ObjectReader in(std::get<json>(body), "", errors);
  const auto size = static_cast<int>(in.required_integer("size", {.low = 0, .high = 4096}));
  in.finish();
  const auto& sizes = job->spec.elastic.sizes;
  const bool allowed = size == 0 || std::find(sizes.begin(), sizes.end(), size) != sizes.end();
  if (errors.empty() && !allowed) {
    in.fail(
        "size", "OutOfRange",
        "is " + std::to_string(size) + "; this job allows " + number_list(sizes) + ", or 0 to let the policy choose");
  }
  if (!errors.empty()) {
    return call.fail({.status = 422, .code = "InvalidSize", .detail = errors.front().message, .errors = errors});
  }
  if (!dry_run.value()) return send_job_command(rest, std::move(call), ResizeJob{job->id, size}, job->id);
  json changed = {{"pinned_size", size == 0 ? json(nullptr) : json(size)}};
  if (size > 0) changed["target_size"] = size;
  reply_dry_run(
      rest, call,
      {.job = *job,
       .changed = std::move(changed),
       .would = size == 0 ? "leave the size to the policy again" : "be held at " + std::to_string(size) + " workers"});
}

void suspend_job(Rest& rest, Call call) {
  const core::Job* job = job_to_change(rest, call);
  if (job != nullptr) send_job_command(rest, std::move(call), SuspendJob{job->id}, job->id);
}

void resume_job(Rest& rest, Call call) {
  const core::Job* job = job_to_change(rest, call);
  if (job != nullptr) send_job_command(rest, std::move(call), ResumeJob{job->id}, job->id);
}

void checkpoint_job(Rest& rest, Call call) {
  const core::Job* job = job_to_change(rest, call);
  if (job != nullptr) send_job_command(rest, std::move(call), CheckpointJob{job->id}, job->id);
}

}  // namespace tidepool::live::http
