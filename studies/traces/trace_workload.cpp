#include "studies/traces/trace_workload.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/text_lines.hpp"

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
GroundTruth truth_of(const TraceJob& job, int asked, int size_max, const TraceRules& rules) {
  GroundTruth truth;
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

// Of the types that the job would take, those there are; "V100M16|V100M32" names two.
std::vector<std::string> types_of(const TraceJob& job, const std::map<std::string, int>& known) {
  std::vector<std::string> types;
  for (const std::string_view type : cells_of(job.gpu_type, '|')) {
    if (known.contains(std::string(type))) types.emplace_back(type);
  }
  return types;
}

}  // namespace

std::vector<std::string> unmet_asks(const Trace& trace, const std::map<std::string, int>& types) {
  std::size_t parts = 0;
  std::size_t elsewhere = 0;
  for (const TraceJob& job : trace.jobs) {
    parts += job.gpu_share < 1 ? 1 : 0;
    elsewhere += !job.gpu_type.empty() && types_of(job, types).empty() ? 1 : 0;
  }
  const auto of_all = [&](std::size_t jobs) {
    return std::to_string(jobs) + " of " + std::to_string(trace.jobs.size()) + " jobs ask for ";
  };
  std::vector<std::string> notes;
  if (parts > 0) notes.push_back(of_all(parts) + "a part of a GPU; they are given whole ones");
  if (elsewhere > 0) {
    notes.push_back(of_all(elsewhere) + "a type of GPU that no part of --cluster is named by; they run anywhere");
  }
  return notes;
}

Workload workload_of(const Trace& trace, const std::string& name, const TraceRules& rules) {
  Workload workload{.name = name, .jobs = {}, .notes = unmet_asks(trace, rules.types)};
  const bool elastic = rules.elastic_max > 0;
  for (const TraceJob& job : trace.jobs) {
    SimJob& made = workload.jobs.emplace_back();
    std::vector<std::string> types = types_of(job, rules.types);
    int slots_per_node = types.empty() ? rules.slots_per_node : 1;
    for (const std::string& type : types) slots_per_node = std::max(slots_per_node, rules.types.at(type));
    const int each = elastic ? 1 : gpus_per_worker(job.gpus, slots_per_node);
    const int asked = job.gpus / each;
    const int size_max = elastic ? std::max(asked, rules.elastic_max) : asked;
    made.arrives = Duration::from_seconds(job.submit_s);
    made.truth = truth_of(job, asked, size_max, rules);
    made.application = job.application.empty() ? job.tenant : job.application;
    made.user = job.user;
    core::JobSpec& spec = made.spec;
    spec.name = job.name;
    spec.tenant = job.tenant;
    spec.gpus_per_worker = each;
    spec.slot_types = std::move(types);
    if (job.deadline_s) {  // at least 1 us: a deadline that has passed already is missed, not none
      spec.deadline = std::max(Duration::from_seconds(*job.deadline_s - job.submit_s), Duration::micros(1));
    }
    spec.elastic.min = elastic ? 1 : asked;
    spec.elastic.max = size_max;
    spec.elastic.preferred = asked;
    spec.elastic.sizes = sizes_between(spec.elastic.min, spec.elastic.max);
    spec.batch = {.global = size_max, .per_worker_max = size_max};
    spec.work_samples = made.truth.work_samples;
    spec.max_restarts = 1'000;
  }
  return workload;
}

}  // namespace tidepool::sim
