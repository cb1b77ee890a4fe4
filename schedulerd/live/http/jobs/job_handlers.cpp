// Jobs: submit, and the wishes that change one.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "api/v1/job_spec.hpp"
#include "base/json.hpp"
#include "base/word_list.hpp"
#include "core/explain/explain.hpp"
#include "core/words/wording.hpp"
#include "schedulerd/live/http/handlers.hpp"
#include "schedulerd/live/http/jobs/job_requests.hpp"
#include "schedulerd/live/http/paging.hpp"
#include "schedulerd/live/http/render.hpp"
#include "schedulerd/live/http/tenant_view.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

json render_places(const PreviewedSubmit& preview) {
  json places = json::array();
  for (const auto& place : preview.places) {
    const core::Node* node = preview.picture->state.find_node(place.node);
    places.push_back(
        {{"node", place.node.text()}, {"node_name", node == nullptr ? "" : node->name}, {"workers", place.workers}});
  }
  return places;
}

// Jobs of other tenants are counted, not named.
json render_changes(const PreviewedSubmit& preview, const SeenBy& seen_by) {
  json changes = json::array();
  for (const auto& change : preview.changes) {
    const auto job = visible_job(seen_by, change.job);
    changes.push_back({{"job", job == nullptr ? json(nullptr) : json(job->id.text())},
                       {"name", job == nullptr ? json(nullptr) : json(job->spec.name)},
                       {"kind", change.kind},
                       {"from", change.from},
                       {"to", change.to}});
  }
  return changes;
}

// "start at once with 3 workers: 2 on n1, 1 on n2"
std::string start_in_words(const PreviewedSubmit& preview) {
  int workers = 0;
  std::string where;
  for (const auto& place : preview.places) {
    const core::Node* node = preview.picture->state.find_node(place.node);
    workers += place.workers;
    where += (where.empty() ? "" : ", ") + std::to_string(place.workers) + " on " +
             (node == nullptr ? place.node.text() : node->name);
  }
  return "start at once with " + core::counted(workers, "worker") + ": " + where;
}

json render_decided(const PreviewedSubmit& preview, const SeenBy& seen_by, bool starts, int size) {
  const core::ClusterState& state = preview.picture->state;
  core::Explanation explanation = core::explain(state, preview.job);
  add_keepers(seen_by, state, *state.find_job(preview.job), explanation);
  json decision = {{"starts", starts},
                   {"size", size},
                   {"places", render_places(preview)},
                   {"changes", render_changes(preview, seen_by)},
                   {"summary", explanation.summary},
                   {"evidence", explanation.evidence},
                   {"unblocks", advice_for(seen_by, explanation.advice)}};
  return without_foreign_jobs(std::move(decision), seen_by);
}

HttpResponse dry_answer(Rest& rest, const PreviewedSubmit& preview, const Caller& caller) {
  const Published& seen = *preview.picture;
  const SeenBy seen_by{seen, caller, rest.service().history()};
  const core::Job& job = *seen.state.find_job(preview.job);
  int size = 0;
  for (const auto& place : preview.places) size += place.workers;
  json changed = {{"id", nullptr}, {"decision", render_decided(preview, seen_by, size > 0, size)}};
  const std::string would = "be stored and " + (size > 0 ? start_in_words(preview) : std::string("wait"));
  return dry_run_response(rest, seen_by, {.job = job, .changed = std::move(changed), .would = would});
}

// Of the job as it is, with its wish and what the engine makes of it now.
HttpResponse dry_resize_answer(Rest& rest, const PreviewedSubmit& preview, const Call& call, int size) {
  const core::Job& before = *call.seen->state.find_job(preview.job);
  const int to = target_size_of(*preview.picture->state.find_job(preview.job));
  const SeenBy seen_by{*preview.picture, call.caller, rest.service().history()};
  json changed = {{"pinned_size", size == 0 ? json(nullptr) : json(size)},
                  {"decision", render_decided(preview, seen_by, to != target_size_of(before), to)}};
  if (size > 0) changed["target_size"] = size;
  const std::string would =
      size == 0 ? "leave the size to the policy again" : "be held at " + core::counted(size, "worker");
  return dry_run_response(rest, rest.seen_by(call), {.job = before, .changed = std::move(changed), .would = would});
}

// Answers what that would lead to if it were done now, as the engine decides it.
void reply_tried(Rest& rest, Call call, core::Tried tried) {
  Service& service = rest.service();
  const auto* resize = std::get_if<core::JobResizeRequested>(&tried);
  const auto size = resize == nullptr ? std::nullopt : std::optional(resize->size);
  const auto* submit = std::get_if<core::JobSpec>(&tried);
  const std::string tenant = submit == nullptr ? "" : submit->tenant;
  auto done = [weak = rest.weak_from_this(), call = std::move(call), size, tenant](Result<PreviewedSubmit> preview) {
    const auto alive = weak.lock();
    if (!alive) return;
    alive->io().post([raw = alive.get(), call, size, tenant, preview = std::move(preview)] {
      if (!preview.ok()) return call.fail(naming_tenant(problem_of(preview.error()), tenant, *call.seen));
      if (preview->picture->state.find_job(preview->job) == nullptr) {
        return call.fail(problem_of(conflict(preview->job.text() + " has ended")));
      }
      call.reply(size ? dry_resize_answer(*raw, *preview, call, *size) : dry_answer(*raw, *preview, call.caller));
    });
  };
  service.preview(std::move(tried), std::move(done));
}

}  // namespace

void submit_job(Rest& rest, Call call) {
  const auto dry_run = read_flag(call, "dry_run");
  if (!dry_run) return call.fail(bad_parameter(dry_run.error()));
  auto read = read_submitted_file(call, rest.options());
  if (const auto* problem = std::get_if<Problem>(&read)) return call.fail(*problem);
  auto& spec = std::get<core::JobSpec>(read);
  if (dry_run.value()) return reply_tried(rest, std::move(call), std::move(spec));
  const auto answer = [&rest, caller = call.caller](const Receipt& receipt, const Published& seen) {
    const JobId id = receipt.job.value_or(JobId());
    HttpResponse response = job_response(201, rest, rest.seen_by(seen, caller), id);
    response.headers.emplace_back("Location", "/v1/jobs/" + id.text());
    return response;
  };
  const auto refusal = [tenant = spec.tenant](const Error& error, const Published& seen) {
    return naming_tenant(problem_of_change(error), tenant, seen);
  };
  rest.command(std::move(call), leader::SubmitJob{std::move(spec)}, answer, refusal);
}

void get_job(Rest& rest, Call call) {
  const auto job = rest.find_job(call);
  if (job != nullptr) call.reply(job_response(200, rest, rest.seen_by(call), job->id));
}

void cancel_job(Rest& rest, Call call) {
  const auto dry_run = read_flag(call, "dry_run");
  if (!dry_run) return call.fail(bad_parameter(dry_run.error()));
  const auto job = job_to_change(rest, call);
  if (job == nullptr) return;
  if (!dry_run.value()) return send_job_command(rest, std::move(call), leader::CancelJob{job->id}, job->id);
  const auto slots = job->membership.workers.size() * static_cast<std::size_t>(job->spec.gpus_per_worker);
  const std::string would = is_final(job->state())
                                ? "change nothing: the job has ended"
                                : "be cancelled and give back " + core::counted(static_cast<double>(slots), "slot");
  reply_dry_run(rest, call, {.job = *job, .changed = json::object(), .would = would});
}

void resize_job(Rest& rest, Call call) {
  const auto dry_run = read_flag(call, "dry_run");
  if (!dry_run) return call.fail(bad_parameter(dry_run.error()));
  const auto job = job_to_change(rest, call);
  if (job == nullptr) return;
  const auto body = read_body(call);
  if (const auto* problem = std::get_if<Problem>(&body)) return call.fail(*problem);
  std::vector<FieldError> errors;
  ObjectReader in(std::get<json>(body), "", errors);
  // So wide that a request for too many workers is answered with the sizes that the job has.
  const std::int64_t size = in.required_integer("size", {.low = INT64_MIN, .high = INT64_MAX});
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
  const core::JobResizeRequested fact{job->id, static_cast<int>(size)};
  if (!dry_run.value()) {
    return send_job_command(rest, std::move(call), leader::ResizeJob{fact.job, fact.size}, job->id);
  }
  if (const auto problem = why_refused(*call.seen, fact)) return call.fail(*problem);
  reply_tried(rest, std::move(call), fact);
}

void suspend_job(Rest& rest, Call call) {
  const auto job = job_to_change(rest, call);
  if (job != nullptr) send_job_command(rest, std::move(call), leader::SuspendJob{job->id}, job->id);
}

void resume_job(Rest& rest, Call call) {
  const auto job = job_to_change(rest, call);
  if (job != nullptr) send_job_command(rest, std::move(call), leader::ResumeJob{job->id}, job->id);
}

void checkpoint_job(Rest& rest, Call call) {
  const auto job = job_to_change(rest, call);
  if (job != nullptr) send_job_command(rest, std::move(call), leader::CheckpointJob{job->id}, job->id);
}

}  // namespace tidepool::live::http
