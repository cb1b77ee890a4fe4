#include "studies/replay/pollux/measured_workload.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "studies/replay/epoch_training.hpp"
#include "studies/replay/pollux/measured_program.hpp"
#include "studies/replay/pollux/pollux_workload.hpp"

namespace tidepool::sim {
namespace {

constexpr Duration kReportEvery = Duration::seconds(10);

// What all jobs of a run read.
struct World {
  World(const SimOptions& options, const ClusterShape& shape)
      : profiles(options.profiles), cluster(shape), measurements(profiles, cluster) {}
  std::map<std::string, ApplicationFiles> profiles;
  ClusterShape cluster;
  PolluxMeasurements measurements;
  std::vector<FixedBatchTraining> yardsticks;  // by job
};

// The sizes that a job can have: those of which something was measured at the batch that it would begin with.
std::vector<int> sizes_known(const MeasuredApplication& application, const ClusterShape& cluster) {
  const int fixed_batch = fixed_batch_of(application.name());
  const int most = std::min(size_most(application, application.batch_max()), cluster.slots());
  std::vector<int> sizes = sizes_between(1, std::max(1, most));
  std::erase_if(sizes, [&](int size) {
    const auto slots = slots_of(policies::cluster::packed(size, cluster.slots_per_node), cluster.slots_per_node);
    return !measured_step_seconds(application, slots, first_split(application, fixed_batch, size));
  });
  return sizes;
}

core::JobSpec spec_of(const PolluxRow& row, const MeasuredApplication& application, std::vector<int> sizes) {
  core::JobSpec spec;
  spec.name = row.name;
  spec.run = core::RunSpec{.command = {application.name()}};
  spec.elastic.min = sizes.front();
  spec.elastic.max = sizes.back();
  const auto wanted = std::upper_bound(sizes.begin(), sizes.end(), row.size);
  spec.elastic.preferred = wanted == sizes.begin() ? sizes.front() : *std::prev(wanted);
  spec.elastic.sizes = std::move(sizes);
  spec.batch = {.global = application.initial_batch(),
                .per_worker_max = application.local_batch_max(),
                .on_resize = core::OnResize::kCallback,
                .global_max = application.batch_max()};
  spec.max_restarts = 1'000;
  return spec;
}

// A program that is started anew at each change stands still for as long as a start takes; one that goes on while
// others boot stands still for the stall that was asked for.
void set_costs(const SimOptions& options, GroundTruth& truth) {
  const Duration restart = options.restart_penalty.value_or(Duration::seconds(30));
  truth.boot = options.switch_stall ? restart : Duration();
  truth.switch_stall = options.switch_stall.value_or(restart);
}

Result<SimJob> job_of(const PolluxRow& row, const SimOptions& options, const std::shared_ptr<World>& world) {
  const auto found = world->measurements.application(row.application);
  if (!found) return found.error();
  const MeasuredApplication& application = **found;
  std::vector<int> sizes = sizes_known(application, world->cluster);
  if (sizes.empty()) {
    return invalid_argument(
        "the application " + row.application +
        " was measured at no size that fits the cluster; its profile needs one worker at a batch of " +
        std::to_string(application.initial_batch()));
  }
  SimJob job;
  job.arrives = Duration::from_seconds(row.submitted_s);
  job.application = row.application;
  job.spec = spec_of(row, application, std::move(sizes));
  job.truth.global_batch = application.initial_batch();
  job.truth.work_samples = std::llround(application.progress_after(application.epochs()) * application.initial_batch());
  job.truth.tells_length = !options.undeclared_work;
  job.truth.report_every = kReportEvery;
  set_costs(options, job.truth);
  const MeasuredProgram::Setup setup{.application = application,
                                     .fixed_batch = fixed_batch_of(row.application),
                                     .slots_per_node = world->cluster.slots_per_node,
                                     .as_packed = options.as_packed};
  job.truth.program = [world, setup] { return std::make_unique<MeasuredProgram>(setup); };
  const double alone = setup.application.profile()
                           .step_time(slots_of({.nodes = 1, .size = 1}, 1), application.local_batch_min())
                           .value_or(policies::StepTime{.step_s = 1})
                           .step_s;
  job.truth.curve.lambda = application.local_batch_min() / alone;
  return job;
}

}  // namespace

Result<MeasuredJobs> measured_jobs(const SimOptions& options, const ClusterShape& cluster) {
  auto rows = read_pollux_rows(options);
  if (!rows) return rows.error();
  const auto world = std::make_shared<World>(options, cluster);
  MeasuredJobs jobs{.workload = {.name = options.workload, .jobs = {}, .notes = {}}, .alone_seconds = {}};
  ClampedJobs clamped;
  for (PolluxRow& row : *rows) {
    TP_TRY(clamp_to_profile(row, world->measurements, clamped));
    auto job = job_of(row, options, world);
    if (!job) return job.error();
    jobs.workload.jobs.push_back(*std::move(job));
    const MeasuredApplication& application = **world->measurements.application(row.application);
    world->yardsticks.emplace_back(EpochTraining::Setup{.application = application,
                                                        .oracle = world->measurements.oracle(application, row.batch),
                                                        .batch = row.batch,
                                                        .size_wanted = row.size,
                                                        .size_max = size_most(application, application.batch_max())});
  }
  jobs.workload.notes = clamped.notes(rows->size());
  jobs.alone_seconds = [world](std::size_t row, double slots) { return world->yardsticks[row].alone_seconds(slots); };
  return jobs;
}

}  // namespace tidepool::sim
