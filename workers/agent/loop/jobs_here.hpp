// Which jobs have workers on this node, and which of those jobs have ended permanently. It determines with which
// worker's end the states of a job are no longer used here, and whether they are kept.
//
// While a worker of a job is here, its states are not touched (memory_tier.hpp): leave() and end() name a job only if
// no worker of it is here.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "base/ids.hpp"

namespace tidepool::agent {

class JobsHere {
 public:
  // Call when a worker of the job is started or adopted.
  void enter(WorkerId worker, JobId job) { jobs_[worker] = job; }

  struct Left {
    JobId job;
    bool ended = false;  // permanently: its states are deleted; else they are moved to disk
  };
  // Call when the worker has ended or could not be started. None: it is not here, or another worker of its job is.
  [[nodiscard]] std::optional<Left> leave(WorkerId worker);

  // Call when the job has ended permanently. True: no worker of it is here; else leave() reports it with the last
  // worker.
  [[nodiscard]] bool end(JobId job);

 private:
  [[nodiscard]] bool has(JobId job) const;

  std::map<WorkerId, JobId> jobs_;  // jobs of the living workers
  std::set<JobId> ended_;           // jobs that have ended while workers of them are still here
};

}  // namespace tidepool::agent
