// Which jobs get less than they bought, because gangs find no room for what they bought or need the slots that others
// bought; and which gangs wait until others may leave.
//
// Rule: room for a gang depends on the sizes of all jobs, so each plan looks at all gangs that should get more
// together; other jobs are made to leave only where a gang finds no room. The answers below are those of the newest
// fit().
#pragma once

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "base/time.hpp"
#include "policies/tidal/gang_room.hpp"
#include "policies/tidal/purchases.hpp"

namespace tidepool::policies::tidal {

class GangCuts {
 public:
  // What the job has bought, holds or takes part with may have changed. For a job that does not bid: as forget().
  void note(const Purchases& bought, JobId job);
  void forget(JobId job);
  // Fits all that was noted. Returns the jobs whose answers may have changed.
  [[nodiscard]] IdSet<JobId> fit(const Purchases& bought, Instant now);

  // In slots: what it bought, as far as there is room.
  [[nodiscard]] int given(JobId job, int bought) const;
  // The job gets its smallest size, and waits until the jobs leave whose slots are its room.
  [[nodiscard]] bool waits(JobId job) const { return waiting_.contains(job); }
  // Slots of the jobs that leave for waiting gangs.
  [[nodiscard]] int held() const { return held_; }
  // Jobs that go on at another size.
  [[nodiscard]] const IdSet<JobId>& resized() const { return resized_; }

  // Jobs of the newest fit that bought slots, hold nothing and find no room: what they bought is sold to others. They
  // stay in this set until they are found again, whatever is fitted in between.
  const IdSet<JobId>& find_without(const Purchases& bought);
  [[nodiscard]] bool is_without(JobId job) const { return without_.contains(job); }

  // The next plan gives the same answers if nothing else changes.
  [[nodiscard]] bool rests() const { return without_.empty() && waiting_.empty(); }

 private:
  IdSet<JobId> giving_;   // should have less than they hold
  IdSet<JobId> resized_;  // go on at another size
  IdSet<JobId> wanting_;  // gangs that should have more
  // Jobs with less than they bought: what there is room for; 0 for jobs that leave to make room.
  IdTable<JobId, int> cut_;
  IdSet<JobId> waiting_;  // gangs for which some of these leave once all of those may
  int held_ = 0;
  IdSet<JobId> without_;
};

}  // namespace tidepool::policies::tidal
