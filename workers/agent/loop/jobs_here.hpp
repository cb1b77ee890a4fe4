// Which jobs have workers on this node, and which of those have ended for good: so it is known with which worker's end
// the states of a job are no one's here any more, and whether they are to be kept.
//
// While a worker of a job is here, its states are left alone (memory_tier.hpp): leave() and end() name a job only when
// none is.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "base/ids.hpp"

namespace tidepool::agent {

class JobsHere {
 public:
  // A worker of the job is started, or adopted.
  void enter(WorkerId worker, JobId job) { jobs_[worker] = job; }

  struct Left {
    JobId job;
    bool ended = false;  // for good: its states are deleted; else they are moved to disk
  };
  // The worker has ended, or could not be started. None: it is not here, or another one of its job is.
  [[nodiscard]] std::optional<Left> leave(WorkerId worker);

  // The job has ended for good. True: no worker of it is here; else leave() tells it with the last one.
  [[nodiscard]] bool end(JobId job);

 private:
  [[nodiscard]] bool has(JobId job) const;

  std::map<WorkerId, JobId> jobs_;  // of the living
  std::set<JobId> ended_;           // jobs that have ended and whose workers have not
};

}  // namespace tidepool::agent
