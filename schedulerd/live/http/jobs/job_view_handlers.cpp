// One job, seen from its sides: why, decisions, events, measurements, workers, cost.
#include "schedulerd/live/http/handlers.hpp"
#include "schedulerd/live/http/history_pages.hpp"
#include "schedulerd/live/http/paging.hpp"
#include "schedulerd/live/http/render.hpp"

namespace tidepool::live::http {

using nlohmann::json;

void explain_job(Rest& rest, Call call) {
  const auto job = rest.find_job(call);
  if (job != nullptr) call.reply(200, render_explanation(rest.seen_by(call), *job));
}

void list_job_decisions(Rest& rest, Call call) {
  const auto job = rest.find_job(call);
  if (job != nullptr) reply_decisions(rest, call, job->id);
}

void list_job_events(Rest& rest, Call call) {
  const auto job = rest.find_job(call);
  if (job != nullptr) reply_events(rest, call, {.job = job->id});
}

void job_metrics(Rest& rest, Call call) {
  const auto job = rest.find_job(call);
  if (job == nullptr) return;
  const auto limit = read_number(call, "limit", {.fallback = 500, .low = 1, .high = 5'000});
  if (!limit) return call.fail(bad_parameter(limit.error()));
  json points = json::array();
  for (const auto& point : rest.service().history().metrics(job->id, static_cast<int>(limit.value()))) {
    points.push_back(render_metric_point(*call.seen, point));
  }
  call.reply(200, {{"job", job->id.text()},
                   {"points", std::move(points)},
                   {"sizes", render_sizes(*job)},
                   {"fit", render_fit(*job)},
                   {"as_of_seq", call.seen->as_of_seq}});
}

void list_job_workers(Rest& rest, Call call) {
  const auto job = rest.find_job(call);
  if (job == nullptr) return;
  const auto page = read_page(call, "workers");
  if (!page) return call.fail(bad_parameter(page.error()));
  PageBuilder builder("workers", page->limit);
  for (const WorkerId id : job->membership.workers) {  // ascending
    const core::Worker* worker = call.seen->state.find_worker(id);
    if (worker == nullptr || id.number() <= page->after.value_or(0)) continue;
    if (!builder.add(id.number(), render_worker(*call.seen, *worker))) break;
  }
  call.reply(200, std::move(builder).body(call.seen->as_of_seq));
}

void job_cost(Rest& rest, Call call) {
  const auto job = rest.find_job(call);
  if (job == nullptr) return;
  json body = render_cost(*call.seen, *job, rest.options().currency);
  body["job"] = job->id.text();
  body["at"] = call.seen->clock.text(call.seen->now);
  const auto& cap = job->spec.scaling.price_cap;
  body["price_cap"] = cap ? json(to_text(*cap)) : json(nullptr);
  call.reply(200, body);
}

}  // namespace tidepool::live::http
