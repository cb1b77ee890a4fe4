#include "schedulerd/sim/trace/trace_workload.hpp"

#include <algorithm>
#include <cmath>

namespace tidepool::sim {
namespace {

constexpr double kReports = 8;  // of a job that runs without interruption

// A worker of a rigid job, so that few processes stand for many GPUs.
int gpus_per_worker(int gpus, int slots_per_node) {
  int divisor = std::min(gpus, slots_per_node);
  while (gpus % divisor != 0) --divisor;
  return divisor;
}

// Steps of about a second, however many divide the duration evenly, each with a sample for every worker there may be;
// few reports of jobs that run for days.
JobTruth truth_of(const TraceJob& job, int asked, int size_max, const TraceRules& rules) {
  JobTruth truth;
  const double steps = std::max(1.0, std::ceil(job.duration_s));
  truth.global_batch = size_max;
  truth.work_samples = static_cast<std::int64_t>(steps) * size_max;
  truth.curve = {.lambda = 1};
  if (rules.elastic_max > 0) truth.curve = {.lambda = 1, .sigma = rules.sigma, .kappa = rules.kappa};
  truth.curve.lambda = steps * size_max / job.duration_s / truth.curve.at(asked);
  truth.noise = 0;
  truth.boot = Duration();
  truth.switch_stall = Duration();
  truth.park = Duration();
  truth.report_every = std::max(Duration::from_seconds(job.duration_s / kReports), Duration::seconds(30));
  return truth;
}

}  // namespace

Workload workload_of(const Trace& trace, const std::string& name, const TraceRules& rules) {
  Workload workload{.name = name};
  const bool elastic = rules.elastic_max > 0;
  for (const TraceJob& job : trace.jobs) {
    SimJob& made = workload.jobs.emplace_back();
    const int each = elastic ? 1 : gpus_per_worker(job.gpus, rules.slots_per_node);
    const int asked = job.gpus / each;
    const int size_max = elastic ? std::max(asked, rules.elastic_max) : asked;
    made.arrives = Duration::from_seconds(job.submit_s);
    made.truth = truth_of(job, asked, size_max, rules);
    made.application = job.application.empty() ? job.tenant : job.application;
    core::JobSpec& spec = made.spec;
    spec.name = job.name;
    spec.tenant = job.tenant;
    spec.gpus_per_worker = each;
    spec.elastic.min = elastic ? 1 : asked;
    spec.elastic.max = size_max;
    spec.elastic.preferred = asked;
    spec.elastic.sizes = sizes_between(spec.elastic.min, spec.elastic.max);
    spec.batch = {.global = size_max, .per_worker_max = size_max};
    spec.work_samples = made.truth.work_samples;
    spec.document = "{}";
    spec.max_restarts = 1'000;
  }
  return workload;
}

}  // namespace tidepool::sim
