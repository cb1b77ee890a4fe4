// What other jobs let expect of a job whose user declares no work, told by how fast they are (models/learnt_work.hpp),
// and whose rows rest on it. Everything follows from the engine's records of all jobs, so that a daemon that was
// started anew, a simulation and a plan from scratch know the same.
//
// A job counts as ended when it has succeeded. One that was cancelled or has failed took less than it would have, and
// by how much is not known: it tells only how far it has come, as those do that go on. Samples are those of declared
// work. All slots are taken to be alike: on slots of another type a job has another pace, and so perhaps other kin.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "core/state/cluster_state.hpp"
#include "policies/cluster/job_speed.hpp"
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
  };
  [[nodiscard]] static Progress progress_of(const core::Job& job);
  [[nodiscard]] static Progress progress_of(const core::EndedJob& job);

  // In place of what was told of the job before. `speed`: its own.
  void tell(const Progress& job, const JobSpeed& speed);
  // Nothing is known of the job any more.
  void withdraw(JobId job);

  // How many samples a job is expected to have left; nothing of one that was never measured. It is moved when that may
  // change, until it is forgotten or has been moved.
  [[nodiscard]] std::optional<double> expect(const core::Job& job, const JobSpeed& speed);
  void forget(JobId job);
  void forget_all();

  // Jobs for which expect() was asked and may answer otherwise by now, each once.
  [[nodiscard]] std::vector<JobId> take_moved();

 private:
  struct Ended {
    KinWork::Class pace = 0;
    double samples = 0;
  };
  void note_end(JobId job, Instant at, const Ended& ended);

  KinWork work_;
  std::map<std::pair<Instant, JobId>, Ended> ended_;  // in their order
  std::map<JobId, Instant> ended_at_;                 // of each of them
  bool in_order_ = true;                              // work_ has been told of all ends, in their order
  std::map<KinWork::Class, std::set<JobId>> asking_;
  std::map<JobId, KinWork::Class> pace_of_;  // of those in asking_
};

}  // namespace tidepool::policies::cluster
