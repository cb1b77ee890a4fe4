#include <cmath>

#include "base/calendar.hpp"
#include "base/json.hpp"
#include "core/codec/reason_numbers.hpp"
#include "core/explain/current_reason.hpp"
#include "core/explain/explain.hpp"
#include "core/facts/throughput.hpp"
#include "core/state/measured/job_work.hpp"
#include "core/state/state_move.hpp"
#include "core/state/utc_time.hpp"
#include "core/words/wording.hpp"
#include "forecast/forecast_report.hpp"
#include "policies/models/usl_curve.hpp"
#include "schedulerd/live/http/numbers/job_use.hpp"
#include "schedulerd/live/http/numbers/job_waits.hpp"
#include "schedulerd/live/http/render.hpp"
#include "schedulerd/live/http/tenant_view.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

json number_or_null(const std::optional<double>& number) {
  return number ? json(*number) : json(nullptr);
}

// Whole numbers are written without a fraction.
json plain_number(double value) {
  const bool whole = std::isfinite(value) && std::abs(value) < 1e15 && std::trunc(value) == value;
  return whole ? json(static_cast<std::int64_t>(value)) : json(value);
}

// What the job file says, else what the program has told.
json samples_total(const core::Job& job) {
  const auto& total = job.spec.work_samples ? job.spec.work_samples : job.progress.length.samples;
  return total ? json(*total) : json(nullptr);
}

json render_progress(const Published& seen, const core::Job& job) {
  const auto& told = job.progress.length.steps;
  const auto total_steps = told ? told : core::steps_in_file(*job.spec.run);
  const json steps_total = total_steps ? json(*total_steps) : json(nullptr);
  const auto pulse = seen.latest_metrics.find(job.id);
  const bool has_pulse = pulse != seen.latest_metrics.end() && !job.membership.members.empty();
  json fraction = nullptr;
  if (steps_total.is_number_integer() && steps_total > 0) {
    fraction = std::min(1.0, static_cast<double>(job.progress.step) / steps_total.get<double>());
  } else if (const json total = samples_total(job); !total.is_null()) {
    fraction = std::min(1.0, static_cast<double>(job.progress.samples) / total.get<double>());
  }
  const bool stepped = job.progress.step > 0;
  json out = json::object();
  out["step"] = job.progress.step;
  out["steps_total"] = steps_total;
  out["fraction"] = fraction;
  out["samples"] = job.progress.samples;
  out["samples_total"] = samples_total(job);
  out["epoch"] = job.progress.epoch;
  out["loss"] = stepped ? json(job.progress.last_loss) : json(nullptr);
  out["first_loss"] = stepped ? json(job.progress.first_loss) : json(nullptr);
  out["samples_per_second"] = has_pulse ? pulse->second.samples_per_second : 0.0;
  out["step_ms"] = has_pulse ? pulse->second.step_ms : 0.0;
  out["global_batch"] = job.progress.global_batch > 0 ? json(job.progress.global_batch) : json(nullptr);
  out["noise_scale"] = number_or_null(job.progress.noise_scale);
  out["statistical_efficiency"] = number_or_null(core::statistical_efficiency(job));
  return out;
}

Money price_per_hour(const Published& seen, const core::Job& job) {
  Money price;
  for (const WorkerId id : job.membership.workers) {
    const core::Worker* worker = seen.state.find_worker(id);
    const core::Node* node = worker == nullptr ? nullptr : seen.state.find_node(worker->node);
    if (node == nullptr) continue;
    price +=
        cost_of(node->price_per_slot_hour, static_cast<std::int64_t>(worker->slots.size()), Duration::seconds(3600));
  }
  return price;
}

}  // namespace

json instant_or_null(const Published& seen, const std::optional<Instant>& at) {
  return at ? json(seen.clock.text(*at)) : json(nullptr);
}

json render_reason(const core::Reason& reason) {
  json numbers = json::object();
  for (const auto& number : core::numbers_of(reason)) numbers[number.name] = plain_number(number.value);
  json rendered{{"code", core::name_of(reason)}, {"numbers", std::move(numbers)}, {"text", core::sentence(reason)}};
  if (std::string word = core::word_of(reason); !word.empty()) rendered["word"] = std::move(word);
  return rendered;
}

json render_alternative(const core::Alternative& weighed) {
  return {{"size", weighed.size}, {"score", weighed.score}, {"reason", render_reason(weighed.reason)}};
}

json render_alternatives(const std::vector<core::Alternative>& lost) {
  json alternatives = json::array();
  for (const auto& alternative : lost) alternatives.push_back(render_alternative(alternative));
  return alternatives;
}

json render_sizes(const core::Job& job) {
  json sizes = json::array();
  const core::SizeRecord* smaller = nullptr;
  int smaller_size = 0;
  for (const auto& [size, record] : job.measurements.sizes) {
    json efficiency = nullptr;
    if (smaller != nullptr && smaller->samples_per_second > 0) {
      // Throughput scaling efficiency: what each added worker gave, in workers of the smaller size. Or, Zhang,
      // Freedman: Resource Elasticity in Distributed Deep Learning, MLSys 2020, section 4.
      const double gained = (record.samples_per_second - smaller->samples_per_second) / (size - smaller_size);
      efficiency = gained / (smaller->samples_per_second / smaller_size);
    }
    sizes.push_back({{"size", size},
                     {"steps", record.steps},
                     {"step_ms", record.step_seconds * 1e3},
                     {"samples_per_second", record.samples_per_second},
                     {"efficiency", efficiency}});
    smaller = &record;
    smaller_size = size;
  }
  return sizes;
}

json render_cost(const Published& seen, const core::Job& job, const std::string& currency) {
  const core::Used used = used_now(seen.state, job, seen.now);
  json out = json::object();
  out["amount"] = to_text(used.cost);
  out["currency"] = currency;
  out["slot_seconds"] = slot_seconds(used.slot_time);
  out["per_hour"] = to_text(price_per_hour(seen, job));
  return out;
}

// What the job would go on from if all of its workers were lost now.
json render_saved_state(const Published& seen, const core::Job& job) {
  const core::SavedState* kept = core::newest_kept(job);
  if (kept == nullptr || core::is_final(job.state())) return nullptr;
  const core::Node* node = seen.state.find_node(kept->node);
  return {{"step", kept->step},
          {"at", seen.clock.text(kept->at)},
          {"node", kept->node.text()},
          {"node_name", node == nullptr ? json(nullptr) : json(node->name)},
          {"bytes", kept->bytes}};
}

json render_checkpoint_failure(const Published& seen, const core::Job& job) {
  const auto& failure = job.recovery.checkpoint_failure;
  if (!failure || core::is_final(job.state())) return nullptr;
  return {{"step", failure->step},
          {"at", seen.clock.text(failure->at)},
          {"times", failure->times},
          {"error", failure->detail}};
}

// Field by field: a list of jobs is made of this, and an initializer list would copy each value twice.
json render_job_to_all(const Published& seen, const core::Job& job, const std::string& currency) {
  json out = json::object();
  out["id"] = job.id.text();
  out["name"] = job.spec.name;
  out["tenant"] = job.spec.tenant;
  out["state"] = core::to_text(job.state());
  out["submitted_at"] = seen.clock.text(job.submitted_at);
  out["started_at"] = instant_or_null(seen, job.started_at);
  out["finished_at"] = instant_or_null(seen, job.phase.ended_at());
  out["size"] = job.size();
  out["target_size"] = target_size_of(job);
  out["pinned_size"] = job.requests.pinned_size > 0 ? json(job.requests.pinned_size) : json(nullptr);
  out["min"] = job.spec.elastic.min;
  out["max"] = job.spec.elastic.max;
  out["generation"] = job.membership.generation;
  out["priority"] = job.spec.priority;
  out["progress"] = render_progress(seen, job);
  out["cost"] = render_cost(seen, job, currency);
  out["reason"] = job.verdict.job ? render_reason(job.verdict.reason) : json(nullptr);
  out["sizes"] = render_sizes(job);
  out["error"] = job.recovery.last_error.empty() ? json(nullptr) : json(job.recovery.last_error);
  out["saved_state"] = render_saved_state(seen, job);
  out["checkpoint_failure"] = render_checkpoint_failure(seen, job);
  out["labels"] = job.spec.labels;
  out["forecast"] = nullptr;
  return out;
}

json render_job(const SeenBy& seen_by, const core::Job& job, const std::string& currency) {
  json out = render_job_to_all(seen_by.seen, job, currency);
  const core::Reason why = core::current_reason(seen_by.seen.state, job);
  if (job.verdict.job) out["reason"] = render_reason(why);
  out["reason"] = without_foreign_jobs(std::move(out["reason"]), seen_by);
  out["forecast"] = render_forecast(seen_by, job, why);
  return out;
}

std::string job_text(const json& rendered, const std::string& file) {
  constexpr std::string_view kSpec = "spec";
  std::string text = "{";
  bool has_spec = false;
  const auto add = [&](std::string_view name, std::string_view value) {
    if (text.size() > 1) text += ',';
    text.append("\"").append(name).append("\":").append(value);
  };
  for (const auto& [name, value] : rendered.items()) {
    if (!has_spec && name > kSpec) {
      add(kSpec, file);
      has_spec = true;
    }
    add(name, canonical_json(value));
  }
  if (!has_spec) add(kSpec, file);
  return text + "}";
}

namespace {

// One that goes on is told as the job's own reason is.
json render_waits(const SeenBy& seen_by, const core::Job& job, const core::Reason& why) {
  const Published& seen = seen_by.seen;
  json waits = json::array();
  for (const JobWait& wait : waits_of(job, seen_by.past.decisions(std::nullopt, job.id, kDecisionsOfWaits))) {
    const core::Reason& reason = wait.until ? wait.reason : why;
    waits.push_back({{"from", seen.clock.text(wait.from)},
                     {"until", instant_or_null(seen, wait.until)},
                     {"reason", render_reason(reason)}});
  }
  return waits;
}

}  // namespace

int target_size_of(const core::Job& job) {
  return job.phase.transition() ? job.phase.transition()->to_size : job.size();
}

// A deadline to come before which the job is not expected to end; one that has passed is told by the explanation.
void add_deadline(const SeenBy& seen_by, const core::Job& job, const core::Reason& why,
                  std::vector<std::string>& evidence) {
  if (!job.spec.deadline || core::is_final(job.state())) return;
  const Instant due = job.submitted_at + *job.spec.deadline;
  const forecast::JobReport* told = forecast_of(seen_by, job, why);
  if (told == nullptr || due < seen_by.seen.state.now) return;
  const auto text = [&](Instant at) { return utc_text(core::utc_us(seen_by.seen.state, at) / 1'000'000); };
  const auto tell = [&](const std::string& how) {
    evidence.push_back("it is expected to miss its deadline of " + text(due) + how);
  };
  const auto tell_late = [&](Instant expected, const char* by, const char* what) {
    const std::string late = core::waiting_time((expected - due).to_seconds());
    tell(by + late + (text(due) == text(expected) ? "" : what + text(expected)));
  };
  if (told->end) {
    if (told->end->at > due) tell_late(told->end->at, " by about ", ": its end is expected at about ");
  } else if (told->start && told->start->at > due) {
    tell_late(told->start->at, " by at least ", ": its start is expected at about ");
  } else if (const bool is_guess = told->basis == forecast::Basis::kUnknown && (told->start || job.size() > 0);
             told->not_before && !is_guess) {
    const forecast::ForecastReport& of = seen_by.forecasts->told;
    const std::string ahead = core::span_text((of.until - of.at).to_seconds());
    if (*told->not_before > due) tell(": the forecast looks " + ahead + " ahead and sees no end of it");
  }
}

json render_explanation(const SeenBy& seen_by, const core::Job& job) {
  const Published& seen = seen_by.seen;
  core::Explanation explanation = core::explain(seen.state, job);
  const core::Reason why = core::current_reason(seen.state, job);
  add_deadline(seen_by, job, why, explanation.evidence);
  add_keepers(seen_by, seen.state, job, explanation);
  json ahead = json::array();
  for (const JobId id : explanation.ahead) {
    if (visible_job(seen_by, id) != nullptr) ahead.push_back(id.text());
  }
  json rendered = {{"job", job.id.text()},
                   {"state", core::to_text(job.state())},
                   {"summary", explanation.summary},
                   {"reason", render_reason(explanation.reason)},
                   {"evidence", explanation.evidence},
                   {"unblocks", advice_for(seen_by, explanation.advice)},
                   {"chosen", explanation.chosen ? render_alternative(*explanation.chosen) : json(nullptr)},
                   {"alternatives", render_alternatives(explanation.lost)},
                   {"ahead", std::move(ahead)},
                   {"forecast", render_forecast(seen_by, job, why)},
                   {"waits", render_waits(seen_by, job, why)},
                   {"as_of_seq", seen.as_of_seq}};
  return without_foreign_jobs(std::move(rendered), seen_by);
}

json render_fit(const core::Job& job) {
  const auto fitted = policies::fit_usl(job.measurements.sizes);
  if (!fitted) return nullptr;
  json curve = json::array();
  for (int size = 1; size <= std::min(job.spec.elastic.max, 64); ++size) {
    curve.push_back({{"size", size}, {"samples_per_second", fitted->at(size)}});
  }
  return {{"model", "usl"}, {"sigma", fitted->sigma}, {"kappa", fitted->kappa}, {"curve", std::move(curve)}};
}

}  // namespace tidepool::live::http
