// The promises in force inside an engine (promises.hpp). A round of promises looks at all deadlines together, and its
// cost grows with their number; so where there are many, a round is made once a minute, when its plans change a size,
// and when nodes have changed. Between rounds each job has what the newest round gave it, and a job that has arrived
// since waits for the next round as best effort.
//
// The result of a round is in the marks of jobs and of the plan, which are part of the state: an engine that has run
// throughout and a restarted one use the same promises. Mark of a job: level 1 = accepted, with the size that it is
// promised now, in slots; level 0 with two numbers = declined, with its lateness; with one number = it runs, and is
// late whatever it gets; otherwise it was not asked. Mark of the plan: level 1, since the newest round, with the time
// (in microseconds) at which its plans change a size next.
#pragma once

#include <optional>

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "core/state/plan.hpp"
#include "policies/tidal/promises.hpp"

namespace tidepool::policies::tidal {

class PromiseBook {
 public:
  // A job that bids, as of `at` and as it is in the state: its mark is that of the newest plan. Replaces the previous
  // one.
  void put(const cluster::JobRow& row, Instant at);
  void leave(JobId job);
  void clear();

  // The newest plan that is part of the state.
  struct NewestPlan {
    core::Mark mark;
    bool nodes_changed = false;  // since
  };
  // Makes a round if one is due, otherwise uses the marks. `pool`: with all slots that bids may have. Returns the jobs
  // whose promises differ from those that were in force before.
  [[nodiscard]] IdSet<JobId> renew(const NewestPlan& newest, const SlotPool& pool);

  // The mark in force now. Empty for a job without a deadline or with unknown work.
  [[nodiscard]] core::Mark mark(JobId job) const;
  // How it bids: a job that is promised nothing, because it was declined or not asked, bids like one without a
  // deadline.
  struct Bidder {
    cluster::JobRow row;
    Instant at;
    int promised = 0;
  };
  // Requires: it has a deadline, and its work is known.
  [[nodiscard]] Bidder bidder(JobId job) const;
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] bool knows(JobId job) const { return entries_.contains(job); }
  // Of a declined job.
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
  IdTable<JobId, int> kept_;       // slots that the other jobs have whatever is promised
  int kept_slots_ = 0;             // sum
  core::Mark of_plan_;
  bool is_ahead_ = false;  // the promises in force come from a round that may not be part of the state yet
};

}  // namespace tidepool::policies::tidal
