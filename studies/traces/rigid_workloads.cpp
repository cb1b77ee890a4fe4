#include "studies/traces/rigid_workloads.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "base/word_list.hpp"

namespace tidepool::sim {
namespace {

constexpr double kMinute = 60;
constexpr double kHour = 3'600;
constexpr double kDay = 86'400;

using TraceJobs = std::vector<TraceJob>;

// Whole seconds, as recorded traces have them.
void add(TraceJobs& jobs, double submit_s, int gpus, double duration_s) {
  TraceJob job;
  job.submit_s = std::floor(submit_s);
  job.gpus = gpus;
  job.duration_s = std::max(1.0, std::floor(duration_s));
  jobs.push_back(std::move(job));
}

struct Part {
  double share = 0;  // of all jobs
  int gpus = 1;
};

int drawn(const std::vector<Part>& parts, Rng& rng) {
  double rest = rng.uniform();
  for (const Part& part : parts) {
    if (rest < part.share) return part.gpus;
    rest -= part.share;
  }
  return parts.back().gpus;
}

double log_normal(double median_s, double sigma, Rng& rng) {
  return median_s * std::exp(sigma * rng.normal());
}

// A power law from `low` to `high`, cut off at both ends.
double bounded_pareto(double low, double high, Rng& rng) {
  constexpr double kTail = 0.35;
  const double near = std::pow(low, -kTail);
  return std::pow(near - rng.uniform() * (near - std::pow(high, -kTail)), -1 / kTail);
}

TraceJobs heavy(Rng& rng) {
  TraceJobs jobs;
  double at = 0;
  for (int i = 0; i < 1'200; ++i) {
    const int gpus = drawn(
        {{.share = 0.7, .gpus = 1}, {.share = 0.15, .gpus = 2}, {.share = 0.1, .gpus = 4}, {.share = 0.05, .gpus = 8}},
        rng);
    add(jobs, at += rng.exponential(110), gpus, bounded_pareto(30, 4 * kDay, rng));
  }
  return jobs;
}

TraceJobs gangs(Rng& rng) {
  TraceJobs jobs;
  double at = 0;
  for (int i = 0; i < 500; ++i) {
    add(jobs, at += rng.exponential(950), 1 << rng.below(6), log_normal(kHour / 2, 1.5, rng));
  }
  return jobs;
}

TraceJobs floods(Rng& rng) {
  TraceJobs jobs;
  double at = 0;
  for (int i = 0; i < 120; ++i) {
    add(jobs, at += rng.exponential(1'300), 2 << rng.below(4), log_normal(1.5 * kHour, 1, rng));
  }
  for (int flood = 0; flood < 6; ++flood) {
    const double from = 0.8 * at * rng.uniform();
    for (int i = 0; i < 200; ++i) {
      add(jobs, from + kMinute * rng.uniform(), 1, kMinute + 19 * kMinute * rng.uniform());
    }
  }
  return jobs;
}

TraceJobs backlog(Rng& rng) {
  TraceJobs jobs;
  double at = 0;
  for (int i = 0; i < 700; ++i) {
    const int gpus = drawn({{.share = 0.5, .gpus = 1},
                            {.share = 0.2, .gpus = 2},
                            {.share = 0.1, .gpus = 4},
                            {.share = 0.15, .gpus = 8},
                            {.share = 0.03, .gpus = 16},
                            {.share = 0.02, .gpus = 32}},
                           rng);
    const bool is_short = rng.chance(0.4);
    const double duration_s = is_short ? 20 + 280 * rng.uniform() : log_normal(40 * kMinute, 1.5, rng);
    add(jobs, at += rng.exponential(kMinute), gpus, duration_s);
  }
  return jobs;
}

constexpr std::array kDraws{backlog, floods, gangs, heavy};  // in the order of kRigidKinds
static_assert(kDraws.size() == kRigidKinds.size());

}  // namespace

Result<Trace> rigid_workload(std::string_view kind, std::uint64_t seed) {
  const auto* const found =
      std::find_if(kRigidKinds.begin(), kRigidKinds.end(), [&](const RigidKind& known) { return known.name == kind; });
  if (found == kRigidKinds.end()) {
    return invalid_argument("there is no rigid workload called \"" + std::string(kind) +
                            "\"; there are: " + word_list(kRigidKinds, &RigidKind::name));
  }
  Rng rng(seed);
  Trace trace;
  trace.jobs = kDraws[static_cast<std::size_t>(found - kRigidKinds.begin())](rng);
  const auto order = [](const TraceJob& job) { return std::tuple(job.submit_s, job.gpus, job.duration_s); };
  std::sort(trace.jobs.begin(), trace.jobs.end(),
            [&](const TraceJob& a, const TraceJob& b) { return order(a) < order(b); });
  const double first = trace.jobs.front().submit_s;
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    trace.jobs[i].name = "job-" + std::to_string(i + 1);
    trace.jobs[i].submit_s -= first;
  }
  return trace;
}

}  // namespace tidepool::sim
