// Where nothing fails, all work is declared and all speeds are known, a forecast says what then happens: under policies
// that decide by what happens alone, since a forecast asks those that look at the time less often than a daemon does.
#include <catch2/catch.hpp>

#include <cmath>

#include "core/codec/codec.hpp"
#include "forecast/forecast.hpp"
#include "studies/forecasts/watched_daemon.hpp"
#include "tests/sim/small_world.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::test {
namespace {

// What the messages between daemon and nodes take, and rounding to whole steps, over a queue of jobs.
constexpr double kTickS = 0.25;

// Two kinds of jobs of fixed sizes, whose first switch takes as long as is guessed of those that were never measured.
sim::SimJob exact_job(int number, const sim::SimSetup& setup, Rng& rng) {
  sim::SimJob job{.arrives = Duration::millis(rng.between(0, 20'000))};
  const bool large = rng.chance(0.5);
  const int size = large ? std::min(2, setup.cluster.slots()) : 1;
  const std::int64_t batch = large ? 200 : 100;
  job.truth.curve = {.lambda = 100, .sigma = 0.1, .kappa = 0};
  job.truth.global_batch = batch;
  job.truth.work_samples = rng.between(40, 600) * 100;
  job.truth.noise = 0;
  job.truth.boot = Duration();  // any other is drawn around its mean
  job.truth.switch_stall = Duration::seconds(1);
  job.truth.report_every = Duration::seconds(30);  // and the first step at once
  job.spec.name = "j" + std::to_string(number);
  job.spec.elastic = {.min = size, .max = size, .preferred = size, .sizes = {size}};
  job.spec.batch = {.global = batch, .per_worker_max = batch};
  job.spec.work_samples = job.truth.work_samples;
  job.spec.priority = static_cast<int>(rng.between(0, 1));
  return job;
}

sim::SimSetup exact_world(std::uint64_t seed, Rng& rng, const std::string& policy) {
  sim::SimSetup setup{.seed = seed};
  setup.parts = [policy] { return engine_parts(policy); };
  setup.cluster = {.nodes = static_cast<int>(rng.between(1, 3)), .slots_per_node = static_cast<int>(rng.between(1, 3))};
  setup.workload.name = "exact";
  const auto jobs = rng.between(3, 14);
  for (int i = 1; i <= jobs; ++i) setup.workload.jobs.push_back(exact_job(i, setup, rng));
  std::sort(setup.workload.jobs.begin(), setup.workload.jobs.end(),
            [](const auto& a, const auto& b) { return a.arrives < b.arrives; });
  setup.report_every = Duration::seconds(30);
  return setup;
}

// Of every kind that is left, one was measured; and how long workers boot.
bool knows_all(const core::ClusterState& state) {
  std::set<std::int64_t> known;
  for (const auto& [id, job] : state.ended) known.insert(job->global_batch);
  for (const auto& [id, job] : state.jobs) {
    if (!job->measurements.sizes.empty()) known.insert(job->spec.batch.global);
  }
  const bool boots = std::any_of(state.jobs.begin(), state.jobs.end(),
                                 [](const auto& entry) { return entry.second->measurements.boot_cost.count > 0; });
  return boots && std::all_of(state.jobs.begin(), state.jobs.end(),
                              [&](const auto& entry) { return known.contains(entry.second->spec.batch.global); });
}

struct Made {
  forecast::Forecast forecast;
  bool knows_all = false;
};

// A job has started when its first step is done.
double first_step_s(const sim::SimJob& job) {
  return static_cast<double>(job.truth.global_batch) / sim::throughput_at(job.truth, job.spec.elastic.preferred);
}

struct Happened {
  const sim::JobResult& row;
  const sim::SimJob& job;
};

// Whether what was forecast of the job came about.
void require_true(const Happened& happened, const forecast::Forecast& made, const forecast::JobForecast& told) {
  const sim::JobResult& row = happened.row;
  INFO(row.name << " at " << (made.at - Instant()).to_seconds());
  REQUIRE(told.end);
  REQUIRE(row.finished_s);
  CHECK(std::abs((*told.end - Instant()).to_seconds() - *row.finished_s) <= kTickS);
  CHECK(told.outcome == core::JobState::kSucceeded);
  if (!told.waits) return;
  REQUIRE(told.start);
  const double step_s = first_step_s(happened.job);
  const double late_s = *row.started_s - (*told.start - Instant()).to_seconds() - step_s;
  CHECK(late_s >= -kTickS);
  // Workers that are brought together just then do that step anew.
  CHECK(late_s <= kTickS + step_s + happened.job.truth.switch_stall.to_seconds());
}

void require_sound(const forecast::Forecast& made) {
  for (const auto& [id, told] : made.jobs) {
    INFO(id.text());
    if (told.start) CHECK(*told.start >= made.at);
    if (told.end) CHECK(*told.end >= told.start.value_or(made.at));
    for (std::size_t i = 1; i < told.sizes.size(); ++i) CHECK(told.sizes[i - 1].at <= told.sizes[i].at);
  }
}

TEST_CASE("without failures, with declared work and known speeds, what is forecast happens") {
  int compared = 0;
  int exact = 0;
  for (const std::string policy : {"fifo", "fixed", "autoscaling_engine"}) {
    for_each_seed(("exact forecast, " + policy).c_str(), 60, [&](std::uint64_t seed, Rng& rng) {
      sim::SimSetup setup = exact_world(seed, rng, policy);
      const Instant last = Instant() + setup.workload.jobs.back().arrives;
      std::vector<Made> all;
      setup.daemon = studies::watched_daemon(
          {.every = Duration::seconds(45), .look = [&](const core::ClusterState& state, Instant now) {
             if (now <= last + Duration::seconds(1)) return;
             const auto before = core::digest_of(state);
             all.push_back({forecast::forecast(setup.parts(), state, now), knows_all(state)});
             REQUIRE(core::digest_of(state) == before);
           }});
      const sim::SimResult result = sim::Simulator(setup).run();
      REQUIRE(result.violations.empty());
      REQUIRE(result.complete);
      for (const Made& made : all) {
        require_sound(made.forecast);
        if (!made.knows_all) continue;
        for (std::size_t i = 0; i < result.rows.size(); ++i) {
          const auto told = made.forecast.jobs.find(result.rows[i].id);
          if (told == made.forecast.jobs.end()) continue;
          require_true({result.rows[i], setup.workload.jobs[i]}, made.forecast, told->second);
          ++compared;
          exact += told->second.basis == forecast::Basis::kDeclared ? 1 : 0;
        }
      }
    });
  }
  CHECK(compared > 1'000);
  CHECK(exact > 300);
}

}  // namespace
}  // namespace tidepool::test
