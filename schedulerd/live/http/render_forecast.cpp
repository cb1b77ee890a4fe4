#include "forecast/told.hpp"
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

json render_told(const WallClock& clock, const forecast::ToldJob& told, const forecast::Told& of) {
  json sizes = json::array();
  for (const forecast::SizeFrom& from : told.sizes) {
    sizes.push_back({{"at", clock.text(from.at)}, {"size", from.size}});
  }
  return {
      {"start", render_expected(clock, told.start, told.start_basis)},
      {"end", render_expected(clock, told.end, told.basis)},
      {"basis", to_text(told.basis)},
      {"not_before", told.not_before ? json(clock.text(*told.not_before)) : json(nullptr)},
      {"outcome", told.end ? json(core::to_text(told.outcome)) : json(nullptr)},
      {"cost", {{"low", to_text(told.cost_low)}, {"expected", to_text(told.cost)}, {"high", to_text(told.cost_high)}}},
      {"sizes", std::move(sizes)},
      {"unasked_policy", of.unasked_policy.empty() ? json(nullptr) : json(of.unasked_policy)},
      {"computed_at", clock.text(of.at)}};
}

// One that was made before the job ended says nothing of it any more; and when a suspended job goes on is its user's
// choice: the end of the time that is looked ahead would read as a date that was worked out.
json render_forecast(const SeenBy& seen_by, JobId job) {
  if (seen_by.forecasts == nullptr) return nullptr;
  const core::Job* known = seen_by.seen.state.find_job(job);
  const auto told = seen_by.forecasts->told.jobs.find(job);
  if (known == nullptr || told == seen_by.forecasts->told.jobs.end()) return nullptr;
  if (core::is_final(known->state()) || known->requests.suspend) return nullptr;
  return render_told(seen_by.seen.clock, told->second, seen_by.forecasts->told);
}

}  // namespace tidepool::live::http
