// The market for slots: every job bids with the pieces of its hull, the slots go to the steepest pieces, and the slope
// of the first piece that finds no room is the price of a slot. Its state follows only from the bids, the number of
// slots and what is kept of them (Keeps), so the answer after any sequence of changes is the answer from scratch. A
// change of one job costs O(pieces log n) and a look at the few pieces next to the price.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "base/ids.hpp"
#include "core/decide/step_budget.hpp"
#include "policies/tidal/curve.hpp"
#include "policies/tidal/ordered_bids.hpp"

namespace tidepool::policies::tidal {

class Market {
 public:
  explicit Market(std::int64_t slots) : slots_(slots) {}

  // Nodes have joined or left. >= 0.
  void set_slots(std::int64_t slots) { slots_ = slots; }
  // Replaces the job's bid; the same bid again changes nothing. Requires: the curve is not empty.
  void bid(JobId job, Curve curve);
  // The same for several jobs, each once. If they are many, all pieces are sorted again, which costs less.
  void bid(std::vector<std::pair<JobId, Curve>> bids);
  // The job has ended. Does nothing if it does not bid.
  void leave(JobId job);

  struct Settlement {
    double price = 0;       // worth per slot of the first piece that found no room; 0 = all bids got everything
    std::int64_t free = 0;  // slots left unsold
    std::int64_t kept = 0;  // of these, kept for a job that bought nothing
    IdSet<JobId> changed;   // whose size may differ from the last settlement; also those that bid or left since
  };
  // A job that has bought nothing, in the order of slopes, and for whose smallest size too few slots are left.
  struct Short {
    MarginalBid piece;  // its first
    int needed = 0;     // its smallest size
    std::int64_t left = 0;
  };
  // Keeps for the job what is left of the order of slopes: returns, by job, the largest size that a job behind it may
  // still have. No function: nothing is kept for it.
  using MostBehind = std::function<int(JobId)>;
  using Keeps = std::function<MostBehind(const Short& job)>;
  // Sells the slots. `budget` counts what was looked at; when it is spent, slots next to the price stay unsold.
  [[nodiscard]] Settlement settle(core::StepBudget& budget, const Keeps& keeps = {});

  // In the last settlement. Requires: the job bids.
  [[nodiscard]] const Choice& choice(JobId job) const;
  [[nodiscard]] const Curve& curve(JobId job) const { return bids_.at(job).curve; }
  [[nodiscard]] double price() const { return next_ ? next_->slope : 0; }
  // The last of the pieces sold in order of their slopes: no job holds slots that are worth less to it. None if nothing
  // was sold, or every job got all that it bid for.
  [[nodiscard]] std::optional<MarginalBid> last_sold() const { return next_ ? pieces_.before(*next_) : std::nullopt; }
  // The job whose piece was the first to find no room; none = all bids got everything.
  [[nodiscard]] JobId next_bidder() const { return next_ ? next_->job : JobId(); }

  // The sum of worth that was reached, and an upper bound for any choice of sizes: at any price per slot, the best gain
  // of every job plus the value of all slots at that price bounds the sum from above (weak duality; here at price()).
  // Each O(n), summed by id.
  [[nodiscard]] double worth() const;
  [[nodiscard]] double bound() const;

 private:
  struct Bid {
    Curve curve;
    Corners corners;
  };
  struct Step {
    double slope = 0;
    JobId job;
    std::size_t to = 0;  // index into the curve
    int width = 0;
  };

  [[nodiscard]] static MarginalBid piece_of(JobId job, const Bid& bid, std::size_t corner);
  void take_out(JobId job, const Bid& bid);
  [[nodiscard]] bool bids_so(JobId job, const Curve& curve) const;
  void reorder();
  [[nodiscard]] std::size_t bought_in_order(JobId job, const Bid& bid) const;
  [[nodiscard]] std::size_t chosen(JobId job, const Bid& bid) const;
  void note_between(const std::optional<MarginalBid>& before, const std::optional<MarginalBid>& now,
                    core::StepBudget& budget);
  // Jobs next to the price, and the largest size that each may have of what is left.
  struct Beside {
    IdTable<JobId, int> most;
    bool is_kept = false;
  };
  [[nodiscard]] Beside beside(const Keeps& keeps) const;
  [[nodiscard]] std::optional<Short> short_of_room(const MarginalBid& piece) const;
  [[nodiscard]] bool sell_rest(const Keeps& keeps, core::StepBudget& budget);
  [[nodiscard]] Step steepest_step(const IdTable<JobId, int>& beside) const;

  std::int64_t slots_ = 0;
  std::int64_t least_ = 0;  // slots of all first choices: sold at any price
  IdTable<JobId, Bid> bids_;
  OrderedBids pieces_;
  std::optional<MarginalBid> next_;  // in the last settlement; everything before it is bought
  bool settled_ = false;
  std::int64_t free_ = 0;               // likewise
  IdTable<JobId, std::size_t> beside_;  // jobs that bought from the rest, by index into their curves
  IdSet<JobId> touched_;                // since the last settlement
};

}  // namespace tidepool::policies::tidal
