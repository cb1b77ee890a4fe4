#include "schedulerd/live/http/forecasts/plan_words.hpp"

#include <algorithm>

#include "core/words/wording.hpp"
#include "schedulerd/live/http/tenant_view.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;
using Change = forecast::SubmitPlan::Change;

json seconds_or_null(const std::optional<Duration>& time) {
  return time ? json(time->to_seconds()) : json(nullptr);
}

// Of a job that the caller may see; the claimant may be one that it may not.
json claimant_of(const Change& change, const JobNames& named) {
  return change.taken_for.for_job ? json(named(*change.taken_for.for_job)) : json(nullptr);
}

json render_change(const Change& change, const core::Job& job, const Published& seen, const JobNames& named) {
  using Effect = forecast::SubmitPlan::Effect;
  const json claimant = claimant_of(change, named);
  json out = {{"job", job.id.text()},
              {"name", job.spec.name},
              {"effect", to_text(change.effect)},
              {"at", instant_or_null(seen, change.at)},
              {"from", change.at ? json(change.from) : json(nullptr)},
              {"to", change.at ? json(change.to) : json(nullptr)},
              {"preempted_for", change.effect == Effect::kPreempted ? claimant : json(nullptr)},
              {"shrunk_for", change.effect == Effect::kShrunk ? claimant : json(nullptr)},
              {"shrunk_for_others", change.taken_for.for_others.value_or(0)},
              {"starts_later_s", seconds_or_null(change.start_by)},
              {"ends_later_s", seconds_or_null(change.end_by)}};
  if (change.budget) out["budget"] = render_budget(seen.clock, *change.budget);
  return out;
}

std::string count_of(const std::vector<Change>& changes, forecast::SubmitPlan::Effect effect, const char* what) {
  const auto count =
      std::count_if(changes.begin(), changes.end(), [&](const Change& each) { return each.effect == effect; });
  return count == 0 ? "" : core::counted(static_cast<double>(count), "job") + " " + what;
}

// "2 jobs would end later, 1 job would be shrunk"
std::string changes_in_words(const std::vector<Change>& changes) {
  using Effect = forecast::SubmitPlan::Effect;
  std::string words;
  for (const std::string& part :
       {count_of(changes, Effect::kEnded, "would be ended by a budget"),
        count_of(changes, Effect::kPreempted, "would be preempted"),
        count_of(changes, Effect::kShrunk, "would have fewer workers"),
        count_of(changes, Effect::kLater, "would be later"), count_of(changes, Effect::kSooner, "would be sooner")}) {
    if (!part.empty()) words += (words.empty() ? "" : ", ") + part;
  }
  return words.empty() ? "no other job would be affected" : words;
}

std::string end_in_words(const forecast::JobReport& told, const WallClock& clock) {
  if (!told.end) return "; its end is unknown";
  const std::string what = told.is_stopped() ? "be ended by the budget of tenant " + told.budget->tenant : "end";
  return " and " + what + " at about " + clock.text(told.end->at);
}

std::string summary_of(const PlannedSubmit& planned, const Published& seen) {
  const forecast::ForecastReport& of = planned.plan.told;
  const forecast::JobReport& told = of.jobs.at(planned.plan.job);
  std::string words;
  if (!told.start && !told.slots_at) {
    words =
        "would not start within the " + core::span_text((of.until - of.at).to_seconds()) + " that the plan looks ahead";
  } else {
    const Instant begins = told.start ? told.start->at : *told.slots_at;
    words = told.starts_at_once(of.at) ? "would start at once" : "would start at about " + seen.clock.text(begins);
    words += end_in_words(told, seen.clock);
  }
  return words + "; " + changes_in_words(planned.plan.changes);
}

}  // namespace

json render_plan(const PlannedSubmit& planned, const SeenBy& seen_by, const std::string& currency) {
  const Published& seen = seen_by.seen;
  const JobNames named = [&](JobId id) {
    return id == planned.plan.job ? std::string("the planned job") : name_of(seen_by, id);
  };
  json changes = json::array();
  int hidden = 0;
  for (const Change& change : planned.plan.changes) {
    const auto job = visible_job(seen_by, change.job);
    if (job == nullptr) {
      ++hidden;
    } else {
      changes.push_back(render_change(change, *job, seen, named));
    }
  }
  const core::Job& job = *seen.state.find_job(planned.plan.job);
  return {{"name", job.spec.name},
          {"tenant", job.spec.tenant},
          {"forecast", render_told(seen.clock, planned.plan.told.jobs.at(planned.plan.job), planned.plan.told, named)},
          {"currency", currency},
          {"policy", planned.plan.told.policy},
          {"until", seen.clock.text(planned.plan.told.until)},
          {"changes", std::move(changes)},
          {"others_changed", hidden},
          {"summary", summary_of(planned, seen)},
          {"as_of_seq", seen.as_of_seq}};
}

}  // namespace tidepool::live::http
