// Data for readers in addition to the state: the newest measurement of each unended job, and of each worker. Snapshots
// for readers share these tables until one of them is written, as they share the state's.
#pragma once

#include <optional>

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/fact.hpp"
#include "schedulerd/leader/turn_rows.hpp"

namespace tidepool::leader {

// A report as readers see it. `size` is that of the measured generation.
[[nodiscard]] MetricPoint metric_of(const core::StepsMeasured& steps, int size, Instant at);

class NewestMeasurements {
 public:
  // `state` includes the report. None: its job no longer exists.
  [[nodiscard]] std::optional<MetricRow> add(const core::StepsMeasured& steps, const core::ClusterState& state,
                                             Instant now);
  void forget(JobId job) { jobs_.erase(job); }
  void forget(WorkerId worker) { compute_ms_.erase(worker); }
  // Exits of these workers may never be reported; workers that come back report again. Takes effect with forget_lost().
  void forget_workers_of(NodeId node) { lost_.insert(node); }
  // Call once for any number of lost nodes: it scans the measurements of all workers.
  void forget_lost(const core::ClusterState& state);

  [[nodiscard]] const SharedIdTable<JobId, LatestMetrics>& jobs() const { return jobs_; }
  [[nodiscard]] const SharedIdTable<WorkerId, double>& compute_ms() const { return compute_ms_; }

 private:
  SharedIdTable<JobId, LatestMetrics> jobs_;
  SharedIdTable<WorkerId, double> compute_ms_;
  IdSet<NodeId> lost_;
};

}  // namespace tidepool::leader
