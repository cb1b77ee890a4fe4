// When jobs are due; each job has at most one time. A heap of times in which an outdated entry stays until it reaches
// the front, so that postponing a job, as happens to most jobs at every look, needs no search. Piled-up outdated
// entries are removed from time to time.
//
// Invariant: every job's time is in the heap.
#pragma once

#include <utility>
#include <vector>

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "base/ids.hpp"
#include "base/time.hpp"

namespace tidepool::policies::tidal {

class DueTimes {
 public:
  // Replaces the time that was set for the job before.
  void set(JobId job, Instant at);
  // Does nothing if no time is set.
  void erase(JobId job) { at_.erase(job); }
  // Some time is at or before `now`.
  [[nodiscard]] bool any_due(Instant now);
  // The jobs whose time is at or before `now`; their times are removed.
  [[nodiscard]] IdSet<JobId> take(Instant now);

 private:
  using Entry = std::pair<Instant, JobId>;
  void clear_away();

  IdTable<JobId, Instant> at_;
  std::vector<Entry> heap_;  // the earliest in front; only entries that are also in at_ count
};

}  // namespace tidepool::policies::tidal
