// Forecasts of all jobs, and plans of submissions.
#include <utility>

#include "schedulerd/live/http/forecasts/plan_words.hpp"
#include "schedulerd/live/http/handlers.hpp"
#include "schedulerd/live/http/jobs/job_requests.hpp"
#include "schedulerd/live/http/paging.hpp"
#include "schedulerd/live/http/render.hpp"

namespace tidepool::live::http {

using nlohmann::json;

namespace {

// Null while no forecast was made yet.
json render_observed(const ForecastPicture* newest) {
  if (newest == nullptr) return nullptr;
  const auto of = [&](forecast::Moment moment) -> json {
    const forecast::Observed observed = newest->calibration->observed(moment);
    return {{"all", observed.all}, {"within", observed.within}};
  };
  return {{"start", of(forecast::Moment::kStart)}, {"end", of(forecast::Moment::kEnd)}};
}

}  // namespace

void list_forecasts(Rest& rest, Call call) {
  const auto page = read_page(call, "forecast");
  if (!page) return call.fail(bad_parameter(page.error()));
  const SeenBy seen_by = rest.seen_by(call);
  const auto& newest = seen_by.forecasts;
  PageBuilder builder("forecast", page->limit);
  for (const auto& [id, job] : call.seen->state.jobs) {
    if (id.number() <= page->after.value_or(0) || !call.caller.sees(job->spec.tenant)) continue;
    json forecast = render_forecast(seen_by, id);
    if (forecast.is_null()) continue;
    json item = {{"job", id.text()}, {"name", job->spec.name}, {"forecast", std::move(forecast)}};
    if (!builder.add(id.number(), std::move(item))) break;
  }
  json body = std::move(builder).body(call.seen->as_of_seq);
  const WallClock& clock = call.seen->clock;
  body["computed_at"] = newest == nullptr ? json(nullptr) : json(clock.text(newest->told.at));
  body["until"] = newest == nullptr ? json(nullptr) : json(clock.text(newest->told.until));
  body["cut_short"] = newest != nullptr && newest->told.cut_short;
  body["policy"] = newest == nullptr ? json(nullptr) : json(newest->told.policy);
  body["observed"] = render_observed(newest.get());
  call.reply(200, body);
}

void plan_job(Rest& rest, Call call) {
  auto read = read_submitted_file(call, rest.options());
  if (const auto* problem = std::get_if<Problem>(&read)) return call.fail(*problem);
  if (const auto full = rest.plan_places().take(call.caller, *call.seen->state.tenants)) return call.fail(*full);
  auto& spec = std::get<core::JobSpec>(read);
  Service& service = rest.service();
  auto done = [weak = rest.weak_from_this(), call = std::move(call),
               tenant = spec.tenant](Result<PlannedSubmit> planned) {
    const auto alive = weak.lock();
    if (!alive) return;
    alive->io().post([raw = alive.get(), call, tenant, planned = std::move(planned)] {
      raw->plan_places().give_back(call.caller.token_id);
      if (!planned.ok()) return call.fail(naming_tenant(problem_of(planned.error()), tenant, *call.seen));
      const SeenBy seen_by{*planned->picture, call.caller, raw->service().history()};
      call.reply(200, render_plan(*planned, seen_by, raw->options().currency));
    });
  };
  service.plan(std::move(spec), std::move(done));
}

}  // namespace tidepool::live::http
