// When jobs are due, each at one time at most. A heap of times in which what no longer holds stays until it comes up,
// so that a job that is put off, as most are at every look, costs no search; what has piled up is cleared away in
// between.
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
  // In place of the time that was set for it before.
  void set(JobId job, Instant at);
  // Nothing happens if none is set.
  void erase(JobId job) { at_.erase(job); }
  // Any time is not after `now`.
  [[nodiscard]] bool any_due(Instant now);
  // Whose time is not after `now`; none is set for them any more.
  [[nodiscard]] IdSet<JobId> take(Instant now);

 private:
  using Entry = std::pair<Instant, JobId>;
  void clear_away();

  IdTable<JobId, Instant> at_;
  std::vector<Entry> heap_;  // the earliest in front; only those count that at_ has, too
};

}  // namespace tidepool::policies::tidal
