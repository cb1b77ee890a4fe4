#include "policies/tidal/tidal.hpp"

#include <algorithm>
#include <utility>

#include "policies/cluster/size_grants.hpp"
#include "policies/tidal/layout.hpp"
#include "policies/tidal/promises.hpp"
#include "policies/tidal/reasons.hpp"
#include "policies/tidal/typed_round.hpp"

namespace tidepool::policies::tidal {
namespace {

using cluster::Allocation;
using cluster::Grant;
using cluster::JobRow;
using cluster::View;

// All but the order of placement, on slots that are alike. `promised`: by row; empty = nothing to any job.
Allocation decide(const View& view, const std::vector<int>& promised, core::StepBudget& budget) {
  MarketState market_state(pool_of(view));
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    market_state.put(view.jobs[row], view.now, promised.empty() ? 0 : promised[row]);
  }
  (void)market_state.settle(view.now, budget);
  Laid laid = lay_out(view, market_state);

  Allocation allocation{.grants = std::vector<Grant>(view.jobs.size()), .order = {}};
  double free = view.slots();
  for (const cluster::Placement& placement : laid.placements) free -= size_of(placement);
  const Terms terms = terms_of(market_state.market(), free);
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    const JobRow& job = view.jobs[row];
    const Curve& curve = market_state.market().curve(job.id);
    Grant& grant = allocation.grants[row];
    grant.size = size_of(laid.placements[row]);
    explain_grant(job, curve, terms, grant);
    grant.mark = job.mark;
  }
  allocation.placements = std::move(laid.placements);
  allocation.worth = laid.worth;
  allocation.bound = std::max(laid.worth, market_state.market().bound());
  return allocation;
}

Grant declined(const JobRow& job, const Lateness& late) {
  return {.size = 0,
          .declined = true,
          .reason =
              core::reason::DeadlineLost{.needed = job.size_max, .late_s = late.beside_s, .alone_late_s = late.alone_s},
          .lost = {},
          .mark = job.mark};
}

// A job that is declined does not bid; the others have what was promised to them and bid for more.
Allocation decide_with_promises(const View& view, const Promises& promises, core::StepBudget& budget) {
  View bidders = view;
  bidders.jobs.clear();
  std::vector<std::size_t> rows;
  std::vector<int> promised;
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    if (promises.declined[row]) continue;
    bidders.jobs.push_back(view.jobs[row]);
    rows.push_back(row);
    promised.push_back(promises.sizes[row]);
  }
  Allocation part = decide(bidders, promised, budget);
  Allocation allocation{.grants = {}, .order = {}, .worth = part.worth, .bound = part.bound, .wake = promises.change};
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    allocation.grants.push_back(declined(view.jobs[row], promises.late[row]));
  }
  allocation.placements.resize(view.jobs.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Grant& grant = allocation.grants[rows[i]] = std::move(part.grants[i]);
    if (promises.accepted[rows[i]]) grant.mark = {.level = kAccepted, .since = view.now, .numbers = {}};
    allocation.placements[rows[i]] = std::move(part.placements[i]);
  }
  return allocation;
}

// On slots that are alike.
Allocation decide_alike(const View& view, core::StepBudget& budget) {
  const Promises promises = promises_of(view, budget);
  return promises.none() ? decide(view, {}, budget) : decide_with_promises(view, promises, budget);
}

}  // namespace

Allocation Tidal::allocate(const View& view, core::StepBudget& budget) const {
  // On several types no job is promised anything: a plan would have to foresee which type a job will be on.
  Allocation allocation = view.types.size() > 1 ? decide_by_type(view, budget) : decide_alike(view, budget);
  allocation.order = cluster::largest_first(allocation.grants);
  return allocation;
}

}  // namespace tidepool::policies::tidal
