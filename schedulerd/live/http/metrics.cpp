#include "schedulerd/live/http/metrics.hpp"

#include <array>
#include <map>
#include <mutex>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "base/version.hpp"
#include "core/codec/reason_numbers.hpp"
#include "core/state/job_state.hpp"
#include "schedulerd/live/http/numbers/labelled_gauges.hpp"
#include "schedulerd/live/http/numbers/pool_series.hpp"
#include "schedulerd/live/http/numbers/tenant_gauges.hpp"

namespace tidepool::live::http {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;

const Histogram::BucketBoundaries kFastSeconds = {0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3};
const Histogram::BucketBoundaries kSwitchSeconds = {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 120};
const Histogram::BucketBoundaries kBytes = {1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11};
const Histogram::BucketBoundaries kWaitSeconds = {1, 5, 15, 60, 300, 900, 3600, 14'400, 43'200, 86'400};

constexpr std::array kStates = {core::JobState::kPending,   core::JobState::kStarting,   core::JobState::kRunning,
                                core::JobState::kResizing,  core::JobState::kSuspending, core::JobState::kSuspended,
                                core::JobState::kSucceeded, core::JobState::kFailed,     core::JobState::kCancelled};

const char* state_of(const core::Node& node) {
  if (node.state != core::NodeState::kUp) return "lost";
  if (node.is_drained()) return "drained";
  if (node.drain) return "draining";
  if (node.cordoned) return "cordoned";
  return node.is_unsteady() ? "unsteady" : "up";
}

Family<Gauge>& gauges(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}
Family<Counter>& counters(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}
Family<Histogram>& histograms(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

double number_in(const nlohmann::json& data, const char* name) {
  const auto found = data.find(name);
  return found != data.end() && found->is_number() ? found->get<double>() : 0;
}

}  // namespace

struct Metrics::Series {
  prometheus::Registry registry;
  std::mutex mutex;  // of what follows
  std::map<JobId, Instant> waiting;

  Gauge& started = gauges(registry, "sched_start_time_seconds", "When the daemon started, in Unix time").Add({});
  Family<Gauge>& jobs = gauges(registry, "sched_jobs", "Jobs by state");
  Family<Gauge>& pending = gauges(registry, "sched_pending_jobs", "Jobs that wait, by reason");
  TenantGauges tenants{registry};
  PoolSeries pools{registry};
  Family<Gauge>& slots = gauges(registry, "sched_slots", "Slots by state");
  Family<Gauge>& nodes = gauges(registry, "sched_nodes", "Nodes by state");
  Family<Counter>& resizes = counters(registry, "sched_resizes_total", "Changes of size by direction");
  Counter& rebalances =
      counters(registry, "sched_rebalances_total", "Changes of the shares of a step's samples").Add({});
  Histogram& rebalance_stall =
      histograms(registry, "sched_rebalance_stall_seconds", "First step by new shares, beyond the next")
          .Add({}, kSwitchSeconds);
  Counter& stragglers =
      counters(registry, "sched_stragglers_replaced_total", "Slow workers that another one has replaced").Add({});
  Counter& lost = counters(registry, "sched_workers_lost_total", "Workers that died unasked").Add({});
  Family<Counter>& audits = counters(registry, "sched_epoch_audits_total", "Audits of the samples used, by outcome");
  Counter& decisions = counters(registry, "sched_decisions_total", "Decisions made").Add({});
  Counter& policy_errors = counters(registry, "sched_policy_errors_total", "Rounds in which the policy failed").Add({});
  Counter& policy_rollbacks =
      counters(registry, "sched_policy_rollbacks_total", "Policy files that gave way after failed rounds").Add({});
  Histogram& wait =
      histograms(registry, "sched_wait_seconds", "From submission to the first step").Add({}, kWaitSeconds);
  Family<Histogram>& stall =
      histograms(registry, "sched_generation_stall_seconds", "Training time lost at a switch, by kind");
  Family<Histogram>& build =
      histograms(registry, "sched_generation_build_seconds", "Building the communicator of a generation, by kind");
  Family<Histogram>& moved =
      histograms(registry, "sched_generation_moved_bytes", "State sent to joining workers at a switch, by kind");
  Family<Counter>& redone =
      counters(registry, "sched_steps_redone_total", "Steps done again after a switch, by its kind");
  Counter& stuck = counters(registry, "sched_workers_stuck_total", "Workers ended for making no progress").Add({});
  Counter& parked = counters(registry, "sched_parked_total", "States saved when a job gave up its slots").Add({});
  Counter& checkpoints = counters(registry, "sched_checkpoints_total", "Checkpoints taken").Add({});
  Counter& checkpoint_failures =
      counters(registry, "sched_checkpoint_failures_total", "Checkpoints that could not be taken").Add({});
  Counter& lost_steps =
      counters(registry, "sched_restored_steps_lost_total", "Steps that a start did not find again").Add({});
  Histogram& round = histograms(registry, "sched_round_seconds", "One pass of the loop").Add({}, kFastSeconds);
  Family<Histogram>& stages = histograms(registry, "sched_stage_seconds", "The decisions of one pass, by stage");
  Histogram& commit = histograms(registry, "sched_commit_seconds", "One commit of the journal").Add({}, kFastSeconds);
  Family<Counter>& requests = counters(registry, "sched_http_requests_total", "Requests answered, by class of status");
  Histogram& answer = histograms(registry, "sched_http_seconds", "From request to answer").Add({}, kFastSeconds);
  Gauge& streams = gauges(registry, "sched_sse_clients", "Event streams open").Add({});
  Counter& turned_away =
      counters(registry, "sched_http_turned_away_total", "Connections refused because too many were open").Add({});
  Counter& resets = counters(registry, "sched_sse_resets_total", "Streams told to list again").Add({});

  Family<Gauge>& journal_bytes = gauges(registry, "sched_journal_bytes", "Of the journal in the state directory");
  Family<Gauge>& free_bytes =
      gauges(registry, "sched_state_free_bytes", "Free on the file system of the state directory");

  LabelledGauges certificate_ends{registry, "sched_certificate_end_seconds",
                                  "When a certificate ends, in Unix time, by whose it is"};

  Counter& forecasts = counters(registry, "sched_forecasts_total", "Forecasts of all jobs made").Add({});
  Counter& forecast_events =
      counters(registry, "sched_forecast_events_total", "Facts and decisions that forecasts went through").Add({});
  Counter& forecast_spent =
      counters(registry, "sched_forecast_processor_seconds_total", "Processor time that forecasts took").Add({});
  Counter& forecast_errors =
      counters(registry, "sched_forecast_errors_total", "Forecasts in which an unlawful plan was dropped").Add({});
  Gauge& forecast_newest =
      gauges(registry, "sched_forecast_newest_seconds", "Processor time that the newest forecast took").Add({});
  Gauge& forecast_age = gauges(registry, "sched_forecast_age_seconds", "Since the newest forecast's picture").Add({});
  ForecastCosts counted;  // of what the counters of forecasts tell

  void count_forecasts(const Published& seen, const ForecastPicture& newest);
  void observe(const core::Event& event);
  void observe_switch(const nlohmann::json& data);
  void set_job_gauges(const core::ClusterState& state);
  void set_node_gauges(const core::ClusterState& state);
};

void Metrics::Series::observe(const core::Event& event) {
  const auto& type = event.type;
  if (type == "job.submitted" && event.job) {
    waiting[*event.job] = event.at;
  } else if (type == "job.started" && event.job) {
    const auto since = waiting.find(*event.job);
    if (since == waiting.end()) return;
    wait.Observe((event.at - since->second).to_seconds());
    waiting.erase(since);
  } else if (type == "job.finished" && event.job) {
    waiting.erase(*event.job);
    audits.Add({{"outcome", "exact"}}).Increment(number_in(event.data, "epochs_untold"));
  } else if (type == "job.resized") {
    const bool up = number_in(event.data, "to") > number_in(event.data, "from");
    resizes.Add({{"dir", up ? "up" : "down"}}).Increment();
  } else if (type == "generation.switched") {
    observe_switch(event.data);
  } else if (type == "job.parked") {
    parked.Increment();
  } else if (type == "job.checkpointed") {
    checkpoints.Increment();
  } else if (type == "job.restored") {
    lost_steps.Increment(number_in(event.data, "steps_lost"));
  } else if (type == "worker.stuck") {
    stuck.Increment();
  } else if (type == "job.rebalanced") {
    rebalances.Increment();
    rebalance_stall.Observe(number_in(event.data, "stall_ms") * 1e-3);
  } else if (type == "worker.replaced") {
    if (event.data.value("straggler", false)) stragglers.Increment();
  } else if (type == "worker.lost") {
    lost.Increment();
  } else if (type == "decision.made") {
    decisions.Increment();
  } else if (type == "policy.error") {
    policy_errors.Increment();
  } else if (type == "policy.rolled_back") {
    if (event.actor.empty()) policy_rollbacks.Increment();  // else an operator has asked for it
  } else if (type == "data.epoch_audited") {
    const bool good =
        event.data.value("checksum_ok", false) && number_in(event.data, "used") == number_in(event.data, "expected");
    audits.Add({{"outcome", good ? "exact" : "wrong"}}).Increment(event.data.value("epochs", 1.0));
  }
}

// The kinds are a closed list of seven (core/facts/event_data.cpp).
void Metrics::Series::observe_switch(const nlohmann::json& data) {
  const std::string kind = data.value("kind", std::string());
  if (!data.value("measured", false)) return;
  stall.Add({{"kind", kind}}, kSwitchSeconds).Observe(number_in(data, "stall_ms") * 1e-3);
  build.Add({{"kind", kind}}, kSwitchSeconds).Observe(number_in(data, "build_ms") * 1e-3);
  moved.Add({{"kind", kind}}, kBytes).Observe(number_in(data, "bytes_moved"));
  redone.Add({{"kind", kind}}).Increment(number_in(data, "steps_redone"));
}

void Metrics::Series::set_job_gauges(const core::ClusterState& state) {
  std::map<core::JobState, int> by_state;
  std::map<std::string, int> by_reason;
  for (const auto& [id, job] : state.jobs) {
    ++by_state[job->state()];
    if (job->state() == core::JobState::kPending) ++by_reason[std::string(core::name_of(job->verdict.reason))];
  }
  by_state[core::JobState::kSucceeded] += static_cast<int>(state.ended_counts.succeeded);
  by_state[core::JobState::kFailed] += static_cast<int>(state.ended_counts.failed);
  by_state[core::JobState::kCancelled] += static_cast<int>(state.ended_counts.cancelled);
  for (const auto each : kStates) jobs.Add({{"state", core::to_text(each)}}).Set(by_state[each]);
  for (const auto& metric : pending.Collect()) {  // reasons for which no job waits any more go to zero
    for (const auto& sample : metric.metric) by_reason.emplace(sample.label.front().value, 0);
  }
  for (const auto& [reason, count] : by_reason) pending.Add({{"reason", reason}}).Set(count);
}

void Metrics::Series::set_node_gauges(const core::ClusterState& state) {
  int used = 0;
  int quarantined = 0;
  int away = 0;
  int all = 0;
  std::map<std::string, int> by_node = {{"up", 0},      {"cordoned", 0}, {"draining", 0},
                                        {"drained", 0}, {"unsteady", 0}, {"lost", 0}};
  for (const auto& [id, node] : state.nodes) {
    if (state.has_gone(node)) continue;
    const bool up = node.state == core::NodeState::kUp;
    ++by_node[state_of(node)];
    all += static_cast<int>(node.owners.size());
    if (!up) away += static_cast<int>(node.owners.size());
    for (const WorkerId owner : node.owners) {
      if (!up || !owner) continue;
      ++(state.find_worker(owner)->held ? quarantined : used);
    }
  }
  for (const auto& [name, count] : by_node) nodes.Add({{"state", name}}).Set(count);
  slots.Add({{"state", "used"}}).Set(used);
  slots.Add({{"state", "quarantined"}}).Set(quarantined);
  const int free = static_cast<int>(state.slots_free());
  slots.Add({{"state", "free"}}).Set(free);
  // Held by no worker, on nodes that take no workers.
  slots.Add({{"state", "closed"}}).Set(all - used - quarantined - free - away);
  slots.Add({{"state", "lost"}}).Set(away);
}

void Metrics::Series::count_forecasts(const Published& seen, const ForecastPicture& newest) {
  const ForecastCosts& costs = newest.costs;
  forecasts.Increment(static_cast<double>(costs.made - counted.made));
  forecast_events.Increment(static_cast<double>(costs.events - counted.events));
  forecast_spent.Increment((costs.spent - counted.spent).to_seconds());
  forecast_errors.Increment(static_cast<double>(costs.errors - counted.errors));
  forecast_newest.Set(costs.newest.to_seconds());
  forecast_age.Set((seen.now - newest.told.at).to_seconds());
  counted = costs;
}

// What is alerted on is there from the start: a series that begins at 1 has not grown.
Metrics::Metrics() : series_(std::make_unique<Series>()) {
  gauges(series_->registry, "sched_build_info", "Its label names the version that runs")
      .Add({{"version", tidepool::kVersion}})
      .Set(1);
  for (const char* dir : {"up", "down"}) series_->resizes.Add({{"dir", dir}});
  for (const char* outcome : {"exact", "wrong"}) series_->audits.Add({{"outcome", outcome}});
  for (const char* status : {"2xx", "4xx", "5xx"}) series_->requests.Add({{"class", status}});
}
Metrics::~Metrics() = default;

void Metrics::begin(std::int64_t unix_now, const core::ClusterState& state) {
  const std::lock_guard lock(series_->mutex);
  series_->started.Set(static_cast<double>(unix_now));
  for (const auto& [id, job] : state.jobs) {
    if (!job->started_at && !core::is_final(job->state())) series_->waiting[id] = job->submitted_at;
  }
}

void Metrics::observe_round(Duration took) {
  series_->round.Observe(took.to_seconds());
}

void Metrics::observe_commit(Duration took) {
  series_->commit.Observe(took.to_seconds());
}

void Metrics::observe_stages(const core::StageTimes& took) {
  for (std::size_t i = 0; i < core::kStageNames.size(); ++i) {
    const Duration spent = took.of(static_cast<core::Stage>(i));
    if (spent <= Duration()) continue;
    series_->stages.Add({{"stage", std::string(core::kStageNames.at(i))}}, kFastSeconds).Observe(spent.to_seconds());
  }
}

void Metrics::count_checkpoint_failures(std::size_t failures) {
  series_->checkpoint_failures.Increment(static_cast<double>(failures));
}

void Metrics::observe_events(const std::vector<core::Event>& events) {
  const std::lock_guard lock(series_->mutex);
  for (const auto& event : events) {
    series_->observe(event);
    series_->pools.observe(event);
  }
}

void Metrics::observe_request(int status, Duration took) {
  series_->requests.Add({{"class", std::to_string(status / 100) + "xx"}}).Increment();
  series_->answer.Observe(took.to_seconds());
}

void Metrics::set_streams(std::size_t open) {
  series_->streams.Set(static_cast<double>(open));
}

void Metrics::count_turned_away() {
  series_->turned_away.Increment();
}

void Metrics::set_state_room(const StateRoom& room) {
  series_->journal_bytes.Add({}).Set(static_cast<double>(room.journal_bytes));
  series_->free_bytes.Add({}).Set(static_cast<double>(room.free_bytes));
}

void Metrics::set_certificate_ends(const std::map<std::string, std::int64_t>& ends) {
  const std::lock_guard lock(series_->mutex);
  LabelledGauges::Values values;
  for (const auto& [whose, end] : ends) values[{{"of", whose}}] = static_cast<double>(end);
  series_->certificate_ends.set(values);
}

void Metrics::count_reset() {
  series_->resets.Increment();
}

std::string Metrics::text(const Published& seen, bool shared, const ForecastPicture* forecasts) {
  const std::lock_guard lock(series_->mutex);
  if (forecasts != nullptr) series_->count_forecasts(seen, *forecasts);
  series_->set_job_gauges(seen.state);
  series_->set_node_gauges(seen.state);
  series_->tenants.set(seen.state, seen.now, shared);
  series_->pools.set(seen.state.pools);
  return prometheus::TextSerializer().Serialize(series_->registry.Collect());
}

}  // namespace tidepool::live::http
