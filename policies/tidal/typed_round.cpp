#include "policies/tidal/typed_round.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "policies/tidal/layout.hpp"
#include "policies/tidal/reasons.hpp"
#include "policies/tidal/remaining_work.hpp"
#include "policies/tidal/slot_types.hpp"
#include "policies/tidal/type_market.hpp"

namespace tidepool::policies::tidal {
namespace {

using cluster::Allocation;
using cluster::JobRow;
using cluster::View;

class TypedRound {
 public:
  explicit TypedRound(const View& view) : view_(view), pools_(pools_of(view)) {}

  Allocation decide(core::StepBudget& budget) && {
    weigh();
    std::vector<TypedBid> bids;
    bids.reserve(worths_.size());
    for (std::size_t row = 0; row < worths_.size(); ++row) bids.push_back(bid_of(row));
    std::vector<int> slots;
    slots.reserve(pools_.size());
    for (const SlotPool& pool : pools_) slots.push_back(pool.slots);
    const TypeSale sale = sell(bids, slots, budget);
    Allocation allocation{.grants = std::vector<cluster::Grant>(view_.jobs.size()), .order = {}};
    allocation.placements.resize(view_.jobs.size());
    for (std::size_t type = 0; type < pools_.size(); ++type) lay_out_type(type, bids, sale, allocation);
    for (std::size_t row = 0; row < view_.jobs.size(); ++row) explain(row, bids[row], sale, allocation);
    allocation.bound = std::max(allocation.worth, sale.bound);
    return allocation;
  }

 private:
  [[nodiscard]] TypedBid bid_of(std::size_t row) const {
    TypedBid bid;
    for (const UtilityCurve& worth : worths_[row]) bid.push_back(worth.curve());
    const int held = type_held(view_, view_.jobs[row]);
    if (held < 0) return bid;
    // The cost of releasing everything belongs to the type that the job is on.
    const Choice& nothing = bid[static_cast<std::size_t>(held)].front();
    for (Curve& curve : bid) {
      if (curve.front().size == 0 && nothing.size == 0) curve.front() = nothing;
    }
    return bid;
  }

  void weigh() {
    RemainingWork remaining_work;
    std::vector<RemainingWork::Class> classes;
    for (const JobRow& job : view_.jobs) {
      const Length length = length_of(job, pools_);
      classes.push_back(RemainingWork::class_of(length.seconds));
      remaining_work.add(classes.back(), length.in_turn);
    }
    std::vector<Others> others(RemainingWork::kClasses);
    for (const auto& [length, found] : remaining_work.counted()) others[length] = found;
    for (std::size_t row = 0; row < view_.jobs.size(); ++row) {
      std::vector<UtilityCurve>& worths = worths_.emplace_back();
      const int held = type_held(view_, view_.jobs[row]);
      for (std::size_t type = 0; type < pools_.size(); ++type) {
        worths.emplace_back(view_.jobs[row], UtilityCurve::Types{.pools = pools_, .of = type, .held_type = held},
                            others[classes[row]]);
      }
    }
  }

  void lay_out_type(std::size_t type, const std::vector<TypedBid>& bids, const TypeSale& sale,
                    Allocation& allocation) const {
    std::vector<cluster::NodeRow> nodes = view_.nodes;
    for (cluster::NodeRow& node : nodes) {
      if (node.type != static_cast<int>(type)) node.slots = 0;
    }
    std::vector<Bought> bought(view_.jobs.size());
    for (std::size_t row = 0; row < bought.size(); ++row) {
      if (sale.choices[row].type != static_cast<int>(type)) continue;
      bought[row] = {.size = sale.choices[row].choice.size, .curve = &bids[row][type], .worth = &worths_[row][type]};
    }
    Laid laid = lay_out(view_, nodes, bought, sale.prices[type]);
    allocation.worth += laid.worth;
    for (std::size_t row = 0; row < bought.size(); ++row) {
      if (bought[row].size == 0) continue;
      allocation.grants[row].size = size_of(laid.placements[row]);
      allocation.placements[row] = std::move(laid.placements[row]);
    }
  }

  // The reason of a waiting job names the type whose price it comes nearest to.
  [[nodiscard]] std::size_t type_told(std::size_t row, const TypedBid& bid, const TypeSale& sale) const {
    if (sale.choices[row].choice.size > 0) return static_cast<std::size_t>(sale.choices[row].type);
    std::size_t told = 0;
    double least = 0;
    for (std::size_t type = 0; type < bid.size(); ++type) {
      for (const Choice& choice : bid[type]) {
        const double lacks = sale.prices[type] * choice.size - choice.worth;
        if (choice.size > 0 && (least == 0 || lacks < least)) std::tie(least, told) = std::pair(lacks, type);
      }
    }
    return told;
  }

  void explain(std::size_t row, const TypedBid& bid, const TypeSale& sale, Allocation& allocation) const {
    const JobRow& job = view_.jobs[row];
    cluster::Grant& grant = allocation.grants[row];
    const std::size_t type = type_told(row, bid, sale);
    const Terms terms{.price = sale.prices[type], .free = double(sale.free[type]), .rival = {}};
    grant.type = static_cast<int>(type);
    explain_grant(job, bid[type], terms, grant);
    grant.mark = job.mark;
  }

  const View& view_;
  std::vector<SlotPool> pools_;
  std::vector<std::vector<UtilityCurve>> worths_;  // by row and type
};

}  // namespace

Allocation decide_by_type(const View& view, core::StepBudget& budget) {
  return TypedRound(view).decide(budget);
}

}  // namespace tidepool::policies::tidal
