// The promises that stand inside an engine (promises.hpp). A round of promises asks about all deadlines together, which
// costs what there is; so where there are many, a round is made once a minute, when its plans change a size, and when
// nodes have changed. In between each job has what the newest round gave it, and one that has come since waits for the
// next round as best effort.
//
// What a round gave is in the marks of jobs and of the plan, which are part of the state: so an engine that lived
// through it and one that was restarted go by the same promises. Mark of a job: level 1 = accepted, with the size that
// it is promised now, in slots; level 0 with two numbers = declined, with its lateness; with one = it runs, and is late
// whatever it gets; else it was not asked. Mark of the plan: level 1, since the newest round, with the time (in
// microseconds) at which its plans change a size next.
#pragma once

#include <optional>

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "core/state/plan.hpp"
#include "policies/tidal/promises.hpp"

namespace tidepool::policies::tidal {

class PromiseBook {
 public:
  // A job that bids, as of `at` and as the state has it: its mark is that of the newest plan. Replaces what was.
  void put(const cluster::JobRow& row, Instant at);
  void leave(JobId job);
  void clear();

  // Of the newest plan that is part of the state.
  struct NewestPlan {
    core::Mark mark;
    bool nodes_changed = false;  // since
  };
  // Makes a round if one is due, else goes by the marks. `pool`: with all slots that bids may have. Returns the jobs
  // whose promises are others than those that were in force before.
  [[nodiscard]] IdSet<JobId> renew(const NewestPlan& newest, const SlotPool& pool);

  // In force now. Of a job without a deadline, or whose work is not known: nothing.
  [[nodiscard]] core::Mark mark(JobId job) const;
  // How it bids: a job that is promised nothing because it was declined, or was not asked, as one without a deadline.
  struct Bidder {
    cluster::JobRow row;
    Instant at;
    int promised = 0;
  };
  // Requires: it has a deadline, and its work is known.
  [[nodiscard]] Bidder bidder(JobId job) const;
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] bool knows(JobId job) const { return entries_.contains(job); }
  // Of one that was declined.
  [[nodiscard]] static std::optional<Lateness> lateness(const core::Mark& mark);
  [[nodiscard]] const core::Mark& of_plan() const { return of_plan_; }
  [[nodiscard]] std::optional<Instant> wake() const;

 private:
  struct Entry {
    cluster::JobRow row;
    Instant at;
    core::Mark mark;  // in force now
  };
  [[nodiscard]] bool is_due(const NewestPlan& newest, Instant now) const;
  [[nodiscard]] IdSet<JobId> make_round(const SlotPool& pool);
  [[nodiscard]] IdSet<JobId> go_by_marks();

  IdTable<JobId, Entry> entries_;  // of jobs with a deadline and known work
  IdTable<JobId, int> kept_;       // slots that the others have whatever is promised
  int kept_slots_ = 0;             // sum
  core::Mark of_plan_;
  bool is_ahead_ = false;  // what is in force is of a round that need not be part of the state
};

}  // namespace tidepool::policies::tidal
