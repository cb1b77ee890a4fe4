// A workload in the form of Pollux's artifact (Qiao et al., OSDI 2021) and the applications it names: the rows of its
// file, what was measured of each application, and what a row gets that asks for what its profile does not allow.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "sim/cluster_model.hpp"
#include "studies/replay/clamped_jobs.hpp"
#include "studies/replay/measured_application.hpp"
#include "studies/replay/oracle_speed.hpp"
#include "studies/replay/sim_options.hpp"

namespace tidepool::sim {

struct PolluxRow {
  int line = 0;
  std::string name;
  std::string application;
  double submitted_s = 0;
  int size = 1;  // that its user asks for
  int batch = 1;
};

// From name,time,application,num_replicas,batch_size; by submission. Errors name the line.
[[nodiscard]] Result<std::vector<PolluxRow>> read_pollux_rows(const SimOptions& options);

// The applications and oracles of a run, shared by its jobs.
class PolluxMeasurements {
 public:
  // Both outlive this.
  PolluxMeasurements(const std::map<std::string, ApplicationFiles>& profiles, const ClusterShape& cluster)
      : profiles_(profiles), cluster_(cluster) {}

  // Valid as long as this is. An error says that there is no such application, or what is wrong with its files.
  [[nodiscard]] Result<const MeasuredApplication*> application(const std::string& name);
  // Of its jobs at this batch; valid likewise.
  [[nodiscard]] const OracleSpeed& oracle(const MeasuredApplication& application, int batch);

 private:
  const std::map<std::string, ApplicationFiles>& profiles_;
  const ClusterShape& cluster_;
  std::map<std::string, MeasuredApplication> applications_;
  std::map<std::pair<std::string, int>, OracleSpeed> oracles_;
};

// The batch at which jobs of an application train that else choose theirs; 0 = they do.
[[nodiscard]] int fixed_batch_of(const std::string& application);
// The largest size at which each worker still gets its smallest batch out of a global one.
[[nodiscard]] int size_most(const MeasuredApplication& application, int batch);
// Its batch becomes one between the measured ones, its size one that leaves each worker a measured batch.
[[nodiscard]] Status clamp_to_profile(PolluxRow& row, PolluxMeasurements& measurements, ClampedJobs& clamped);

}  // namespace tidepool::sim
