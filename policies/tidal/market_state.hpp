// Every job's row and bid, kept up to date: what an engine holds between events so that an event costs what it changes.
// Its answer follows from the rows it was given, the pool and the time of the last settlement alone, so it is the
// same as that of a new market state with the same rows. A row is re-read when it is put again, when the number of jobs
// behind it or its levelling changes by a step, and while it waits also when its weight does: it has waited for
// another step, or its delay costs otherwise (delay_cost.hpp).
//
// A job that must not change its size now keeps it at any price, and while it ends another may take its place and be
// bound in turn: a job that needs the slots of several of these together would never find them all free. So what is
// left is kept for a job that waits and would have room if those of lower priorities could change, until they can: jobs
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

  // Slots have come or gone: every job is weighed anew. Only one whose sizes the pool bounds, now or before, is read
  // anew for it.
  void set_pool(const SlotPool& pool);
  // What is known of a job, as of `at`; replaces what was. Its speed model is read until it leaves. `promised`: the
  // size that it has at any price (promises.hpp).
  void put(cluster::JobRow job, Instant at, int promised = 0);
  void leave(JobId job);

  // Sells the slots as of `now`, which does not fall. `changed` names every job whose size may differ.
  [[nodiscard]] Market::Settlement settle(Instant now, core::StepBudget& budget);

  // The same once more at the same time, as if these bid nothing: they do again when it is settled next.
  [[nodiscard]] Market::Settlement settle_without(const IdSet<JobId>& jobs, core::StepBudget& budget);

  // Settled at `now` it would be as it is.
  [[nodiscard]] bool rests(Instant now) { return put_.empty() && !classes_moved_ && !due_.any_due(now); }

  // As of the last settlement.
  [[nodiscard]] const Market& market() const { return market_; }
  [[nodiscard]] const UtilityCurve& worth(JobId job) const { return *entries_.at(job).worth; }
  [[nodiscard]] const cluster::JobRow& row(JobId job) const { return entries_.at(job).row; }
  // It must not change now, and would give up what it holds at some price.
  [[nodiscard]] bool is_bound(JobId job) const { return is_bound(entries_.at(job)); }

 private:
  struct Entry {
    cluster::JobRow row;
    Instant at;  // when the row was read
    int promised = 0;
    RemainingWork::Class remaining_work = 0;
    bool in_turn = false;
    std::size_t place = 0;              // in the list of its class
    std::optional<UtilityCurve> worth;  // of this row and the pool, as of when it was weighed last; none = never
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
  bool classes_moved_ = false;                // jobs have come into classes or left them since
  std::vector<std::vector<JobId>> in_class_;  // by class, in any order
  DueTimes due_;                              // when a waiting job's weight changes next
  IdSet<JobId> put_;                          // since the last settlement; some may have left
  std::map<int, IdSet<JobId>> bound_;         // by priority
  Market market_;
};

}  // namespace tidepool::policies::tidal
