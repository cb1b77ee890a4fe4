// The expected work of a job whose user declares none, from other jobs that are as fast (models/learnt_work.hpp), and
// whose rows depend on it. Everything follows from the engine's records of all jobs, so that a restarted daemon, a
// simulation and a plan from scratch give the same answer.
//
// A job counts as ended when it has succeeded. A cancelled or failed job took less than it would have, by an unknown
// amount: like a running job it contributes only how far it has come. Samples are those of declared work.
//
// Paces are on one type of slot, so jobs are kin by type and pace. For a job that asks, the jobs that have ended on its
// own type count; where no kin of it has ended there, those on the type on which most of its kin have ended, with its
// pace there taken from jobs that have run on both types (type_ratios.hpp), or else assumed equal. Before any have
// ended, the progress of the jobs on its own type counts, else of those on the first other type by name.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "core/state/cluster_state.hpp"
#include "policies/engine/job_speed.hpp"
#include "policies/engine/type_ratios.hpp"
#include "policies/models/learnt_work.hpp"

namespace tidepool::policies::cluster {

class SimilarJobs {
 public:
  // How far a job has come.
  struct Progress {
    JobId job;
    std::int64_t samples = 0;
    std::int64_t global_batch = 1;
    std::optional<Instant> succeeded_at;
    std::string slot_type = {};  // on which its speed was measured; empty = unknown
  };
  [[nodiscard]] static Progress progress_of(const core::Job& job);
  [[nodiscard]] static Progress progress_of(const core::EndedJob& job);

  // Replaces what was recorded for the job. `speed`: its own.
  void tell(const Progress& job, const JobSpeed& speed);
  // Removes the job's record.
  void withdraw(JobId job);

  // How many samples a job is expected to have left; none for a job that was never measured. The job is moved when that
  // may change, until it is forgotten or has been moved. `ratios`: the same object at each call.
  [[nodiscard]] std::optional<double> expect(const core::Job& job, const JobSpeed& speed, const TypeRatios& ratios);
  void forget(JobId job);
  void forget_all();

  // Jobs for which expect() was called and whose answer may have changed, each once.
  [[nodiscard]] std::vector<JobId> take_moved(const TypeRatios& ratios);

 private:
  using Classes = std::map<std::string, SimilarJobWork::Class>;  // by type of slot
  struct Asker {
    std::string slot_type;
    double pace_s = 0;
    Classes classes;  // what was looked up
  };
  struct Ended {
    std::string slot_type;
    SimilarJobWork::Class pace = 0;
    double samples = 0;
  };
  void note_end(JobId job, Instant at, const Ended& ended);
  void forget_ends();
  void report_ends();
  [[nodiscard]] Classes classes_of(const std::string& slot_type, double pace_s, const TypeRatios& ratios) const;
  [[nodiscard]] const std::string& type_with_kin(const Asker& asker) const;

  std::map<std::string, SimilarJobWork> by_type_;
  std::map<std::pair<Instant, JobId>, Ended> ended_;  // in their order
  std::map<JobId, Instant> ended_at_;                 // of each of them
  bool in_order_ = true;                              // by_type_ contains all ends, in their order
  std::map<std::pair<std::string, SimilarJobWork::Class>, std::set<JobId>> asking_;
  std::map<JobId, Asker> askers_;  // of those in asking_
  std::uint64_t ratios_seen_ = 0;
};

}  // namespace tidepool::policies::cluster
