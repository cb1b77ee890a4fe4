// The score of a run: the one object that `schedctl sim run` prints, and a row per job. All times in seconds of
// simulated time; the decision times and wall_s are real ones, measured by the caller's stopwatch, and are not in the
// digest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/cluster_model.hpp"
#include "sim/simulator.hpp"

namespace tidepool::sim {

struct Scoreboard {
  std::string policy;
  std::string workload;
  std::string cluster;
  std::int64_t jobs = 0;
  std::int64_t completed = 0;  // succeeded
  std::int64_t started = 0;
  // Over completed jobs: from submission to end. Percentiles are nearest-rank. Without such a job 0, and null in JSON;
  // the same holds for all figures over completed or started jobs.
  double avg_jct_s = 0;
  double p50_jct_s = 0;
  double p90_jct_s = 0;
  double p99_jct_s = 0;
  double makespan_s = 0;   // first submission to last end
  double avg_queue_s = 0;  // over started jobs: submission to first step
  double gpu_hours = 0;    // slots held, by all jobs
  double utilization = 0;  // slot time held / (slots x makespan); for pool nodes, the time that they exist
  std::int64_t resizes = 0;
  std::int64_t preemptions = 0;
  // Finish-time fairness (Mahajan et al., "Themis", NSDI 2020): time in the system over the time that the job would
  // have taken alone on its share, which is slots / (mean number of jobs in the system during its life), all of the
  // fastest type that it may use. Above 1 = worse off than with an equal share.
  double ftf_worst = 0;
  double ftf_unfair_fraction = 0;  // fraction of completed jobs above 1
  std::int64_t deadlines = 0;      // jobs with a deadline
  std::int64_t deadlines_met = 0;  // of these: completed by then; a declined job has missed it
  // Upper bound of deadlines_met under any policy (studies/replay/elasticflow/deadline_bound.hpp); 0 = not computed.
  std::int64_t deadlines_bound = 0;
  // Lower bound of the average completion time under any policy (studies/replay/jct_bound.hpp); none = not computed.
  std::optional<double> jct_bound_s;
  // For a policy that maximizes total worth: by which fraction each decision was below its bound; none = the policy
  // does not report it.
  std::optional<double> gap_p50;
  std::optional<double> gap_p99;
  std::int64_t faults = 0;  // of nodes and workers, that occurred
  // Nodes of pools, from their request until they are gone; none = the cluster is fixed.
  struct PoolBill {
    std::int64_t nodes = 0;
    std::int64_t never_joined = 0;  // of these
    double node_hours = 0;
    double cost = 0;  // in units of money
  };
  std::optional<PoolBill> bill;
  std::int64_t decisions = 0;
  double decision_us_p50 = 0;
  double decision_us_p99 = 0;
  double wall_s = 0;
  std::string digest;
};

struct ScoreInput {
  const SimResult& result;
  const ClusterShape& cluster;  // at its largest
  int fixed_slots = 0;          // of these on nodes outside pools; only with pools
  std::string workload;         // its name
  std::string policy;
  // Seconds that the row's job would take alone on this many slots (a fraction of a slot when below 1).
  std::function<double(std::size_t row, double slots)> alone_seconds;
  double wall_s = 0;
  std::optional<double> jct_bound_s;
  std::int64_t deadlines_bound = 0;
};
[[nodiscard]] Scoreboard score(const ScoreInput& input);

// Unknown values are null.
[[nodiscard]] nlohmann::ordered_json to_json(const Scoreboard& board);

// ScoreInput::alone_seconds for a workload of modelled jobs, which must outlive it: on the fastest of these nodes'
// slots that the job may use; none = all compute at the speed of the jobs' true curves.
[[nodiscard]] std::function<double(std::size_t, double)> alone_in(const Workload& workload,
                                                                  const std::vector<NodeKind>& kinds = {});

// One line per job with a header: name, application, tenant, state, submitted_s, started_s, finished_s, queue_s, jct_s,
// slot_hours, resizes, preemptions, steps, deadline_s. Times of events that did not occur are empty.
[[nodiscard]] std::string per_job_csv(const std::vector<JobResult>& rows);

// Finish-time fairness of each completed job, in the rows' order; 0 for the others.
[[nodiscard]] std::vector<double> finish_time_fairness(const ScoreInput& input);

}  // namespace tidepool::sim
