// Which jobs get less than they bought, because gangs find no room for it or need the slots that others bought; and
// which gangs wait until others may leave.
//
// Rule: room for a gang depends on the sizes of all jobs, so all gangs that are to have more are looked at together, in
// each plan; other jobs are made to leave only where one finds no room. What is told here is as of the newest fit().
#pragma once

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "base/time.hpp"
#include "policies/tidal/gang_room.hpp"
#include "policies/tidal/purchases.hpp"

namespace tidepool::policies::tidal {

class GangCuts {
 public:
  // What the job has bought, holds or takes part with may be something else. Of one that does not bid: as forget().
  void note(const Purchases& bought, JobId job);
  void forget(JobId job);
  // Of all that was noted. Returns the jobs of which something else may be to be told.
  [[nodiscard]] IdSet<JobId> fit(const Purchases& bought, Instant now);

  // Slots: what it bought, as far as there is room.
  [[nodiscard]] int given(JobId job, int bought) const;
  // It has its smallest size, and waits until those leave whose slots are room for it.
  [[nodiscard]] bool waits(JobId job) const { return waiting_.contains(job); }
  // Slots of those that leave for gangs that wait.
  [[nodiscard]] int held() const { return held_; }
  // They go on at another size.
  [[nodiscard]] const IdSet<JobId>& resized() const { return resized_; }

  // Of the newest fit, those that bought slots, hold nothing and find no room: what they bought is sold to others. They
  // stay so until they are found anew, whatever is fitted in between.
  const IdSet<JobId>& find_without(const Purchases& bought);
  [[nodiscard]] bool is_without(JobId job) const { return without_.contains(job); }

  // The next plan says the same if nothing else changes.
  [[nodiscard]] bool rests() const { return without_.empty() && waiting_.empty(); }

 private:
  IdSet<JobId> giving_;   // are to have less than they hold
  IdSet<JobId> resized_;  // are to go on at another size
  IdSet<JobId> wanting_;  // gangs that are to have more
  // Less than what was bought: what there is room for; nothing for those that leave so that there is.
  IdTable<JobId, int> cut_;
  IdSet<JobId> waiting_;  // gangs for which some of these leave once all of them may
  int held_ = 0;
  IdSet<JobId> without_;
};

}  // namespace tidepool::policies::tidal
