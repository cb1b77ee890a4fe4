// What readers want beside the state: the newest measurement of each job that goes on, and of each worker. Pictures for
// readers share these tables with it until one of them is written to, as they share the state's.
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
  // `state` has learnt the report. None: its job is not there any more.
  [[nodiscard]] std::optional<MetricRow> add(const core::StepsMeasured& steps, const core::ClusterState& state,
                                             Instant now);
  void forget(JobId job) { jobs_.erase(job); }
  void forget(WorkerId worker) { compute_ms_.erase(worker); }
  // No exit of these may ever be heard of; those that come back report anew. It takes effect with forget_lost().
  void forget_workers_of(NodeId node) { lost_.insert(node); }
  // Once, however many nodes are lost together: it looks at the measurements of all workers.
  void forget_lost(const core::ClusterState& state);

  [[nodiscard]] const SharedIdTable<JobId, LatestMetrics>& jobs() const { return jobs_; }
  [[nodiscard]] const SharedIdTable<WorkerId, double>& compute_ms() const { return compute_ms_; }

 private:
  SharedIdTable<JobId, LatestMetrics> jobs_;
  SharedIdTable<WorkerId, double> compute_ms_;
  IdSet<NodeId> lost_;
};

}  // namespace tidepool::leader
