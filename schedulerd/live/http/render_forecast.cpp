#include "core/explain/current_reason.hpp"
#include "forecast/forecast_report.hpp"
#include "schedulerd/live/http/render.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

json render_expected(const WallClock& clock, const std::optional<forecast::Expected>& expected, forecast::Basis basis) {
  if (!expected) return nullptr;
  return {{"expected", clock.text(expected->at)},
          {"early", clock.text(expected->early)},
          {"late", clock.text(expected->late)},
          {"basis", to_text(basis)}};
}

}  // namespace

json render_budget(const WallClock& clock, const forecast::BudgetEffect& budget) {
  return {{"tenant", budget.tenant}, {"action", core::to_text(budget.action)}, {"at", clock.text(budget.at)}};
}

json render_told(const WallClock& clock, const forecast::JobReport& told, const forecast::ForecastReport& of,
                 const JobNames& named) {
  json sizes = json::array();
  for (const forecast::SizeFrom& from : told.sizes) {
    json& row = sizes.emplace_back(json{{"at", clock.text(from.at)}, {"size", from.size}});
    if (!from.taken_for.for_job) continue;
    row["taken_for"] = named(*from.taken_for.for_job);
    row["taken_for_others"] = from.taken_for.for_others.value_or(0);
  }
  json starts_after = nullptr;
  if (told.starts_after) {
    starts_after = {{"job", named(told.starts_after->job)}, {"how", to_text(told.starts_after->how)}};
  }
  return {
      {"start", render_expected(clock, told.start, told.start_basis)},
      {"slots_at", told.slots_at ? json(clock.text(*told.slots_at)) : json(nullptr)},
      {"at_once", told.starts_at_once(of.at)},
      {"starts_after", std::move(starts_after)},
      {"end", render_expected(clock, told.end, told.basis)},
      {"basis", to_text(told.basis)},
      {"not_before", told.not_before ? json(clock.text(*told.not_before)) : json(nullptr)},
      {"budget", told.budget ? render_budget(clock, *told.budget) : json(nullptr)},
      {"outcome", told.end ? json(core::to_text(told.outcome)) : json(nullptr)},
      {"cost", {{"low", to_text(told.cost_low)}, {"expected", to_text(told.cost)}, {"high", to_text(told.cost_high)}}},
      {"sizes", std::move(sizes)},
      {"unasked_policy", of.unasked_policy.empty() ? json(nullptr) : json(of.unasked_policy)},
      {"computed_at", clock.text(of.at)}};
}

// One that was made before the job ended, or lost its slots, says nothing of it any more. When a suspended job goes on
// is its user's choice, one that is cancelled ends within its grace, and one that cannot start has no start: the end of
// the time that is looked ahead would read as a date that was worked out.
const forecast::JobReport* forecast_of(const SeenBy& seen_by, const core::Job& job, const core::Reason& why) {
  const bool was_asked = job.requests.suspend || job.requests.cancel;
  if (seen_by.forecasts == nullptr || core::is_final(job.state()) || was_asked) return nullptr;
  const auto found = seen_by.forecasts->told.jobs.find(job.id);
  if (found == seen_by.forecasts->told.jobs.end()) return nullptr;
  const forecast::JobReport& told = found->second;
  if (told.start) return &told;
  const bool waits = job.state() == core::JobState::kPending || job.state() == core::JobState::kSuspending;
  const bool counted_as_running = !told.sizes.empty() && told.sizes.front().size > 0;
  const bool is_of_before = waits && counted_as_running;
  return is_of_before || core::cannot_start(job, why) ? nullptr : &told;
}

json render_forecast(const SeenBy& seen_by, JobId job) {
  const core::Job* known = seen_by.seen.state.find_job(job);
  if (known == nullptr) return nullptr;
  return render_forecast(seen_by, *known, core::current_reason(seen_by.seen.state, *known));
}

json render_forecast(const SeenBy& seen_by, const core::Job& job, const core::Reason& why) {
  const forecast::JobReport* told = forecast_of(seen_by, job, why);
  if (told == nullptr) return nullptr;
  return render_told(seen_by.seen.clock, *told, seen_by.forecasts->told,
                     [&](JobId other) { return name_of(seen_by, other); });
}

}  // namespace tidepool::live::http
