// Every job's row and bid, kept up to date: what an engine keeps between events so that the cost of an event depends on
// what it changes. The answer follows only from the rows, the pool and the time of the last settlement, so it equals
// that of a new market state with the same rows. A row is read again when it is put again, when the number of jobs
// behind it or its levelling changes by a step, and, while it waits, when its weight changes: it has waited for another
// step, or its cost of delay changes (delay_cost.hpp).
//
// A job that must not change its size now keeps it at any price. While it ends, another job may replace it and be bound
// in turn, so a job that needs the slots of several of these together would never find all of them free. So what is
// left is kept for a waiting job that would have room if jobs of lower priorities could change, until they can: jobs
// behind it that hold slots keep them, and none of them gets more.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "policies/tidal/due_times.hpp"
#include "policies/tidal/market.hpp"
#include "policies/tidal/remaining_work.hpp"
#include "policies/tidal/utility_curve.hpp"

namespace tidepool::policies::tidal {

class MarketState {
 public:
  explicit MarketState(const SlotPool& pool);
  MarketState(const MarketState&) = delete;  // worths point into it
  MarketState& operator=(const MarketState&) = delete;

  // Slots were added or removed: every job is weighed again. Only a row whose sizes the pool bounds, now or before, is
  // read again for that.
  void set_pool(const SlotPool& pool);
  // The row of a job, as of `at`; replaces the previous one. Its speed model is read until the job leaves. `promised`:
  // the size that it has at any price (promises.hpp).
  void put(cluster::JobRow job, Instant at, int promised = 0);
  void leave(JobId job);

  // Sells the slots as of `now`, which never decreases. `changed` names every job whose size may differ.
  [[nodiscard]] Market::Settlement settle(Instant now, core::StepBudget& budget);

  // Settles again at the same time, as if these jobs bid nothing; they bid again in the next settlement.
  [[nodiscard]] Market::Settlement settle_without(const IdSet<JobId>& jobs, core::StepBudget& budget);

  // A settlement at `now` would change nothing.
  [[nodiscard]] bool rests(Instant now) { return put_.empty() && !classes_moved_ && !due_.any_due(now); }

  // As of the last settlement.
  [[nodiscard]] const Market& market() const { return market_; }
  [[nodiscard]] const UtilityCurve& worth(JobId job) const { return *entries_.at(job).worth; }
  [[nodiscard]] const cluster::JobRow& row(JobId job) const { return entries_.at(job).row; }
  // The job must not change now, and would release what it holds at some price.
  [[nodiscard]] bool is_bound(JobId job) const { return is_bound(entries_.at(job)); }

 private:
  struct Entry {
    cluster::JobRow row;
    Instant at;  // when the row was read
    int promised = 0;
    RemainingWork::Class remaining_work = 0;
    bool in_turn = false;
    std::size_t place = 0;              // in the list of its class
    std::optional<UtilityCurve> worth;  // of this row and the pool, when it was last weighed; none = never
  };

  [[nodiscard]] static bool is_bound(const Entry& entry);
  void forget_bound(const Entry& entry);
  [[nodiscard]] bool waits_for_bound(const Market::Short& job) const;
  [[nodiscard]] Market::MostBehind keeps(const Market::Short& job) const;
  void enter_class(JobId job, Entry& entry);
  void leave_class(const Entry& entry);
  [[nodiscard]] Curve weigh(Entry& entry, Instant now) const;
  [[nodiscard]] IdSet<JobId> to_be_weighed(Instant now);

  SlotPool pool_;
  IdTable<JobId, Entry> entries_;
  RemainingWork remaining_work_;
  std::vector<Others> others_;                // by class, as of the last settlement
  bool classes_moved_ = false;                // jobs have joined or left classes since then
  std::vector<std::vector<JobId>> in_class_;  // by class, in any order
  DueTimes due_;                              // when a waiting job's weight changes next
  IdSet<JobId> put_;                          // since the last settlement; some may have left
  std::map<int, IdSet<JobId>> bound_;         // by priority
  Market market_;
};

}  // namespace tidepool::policies::tidal
