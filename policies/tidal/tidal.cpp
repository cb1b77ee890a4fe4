#include "policies/tidal/tidal.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "policies/tidal/layout.hpp"
#include "policies/tidal/reasons.hpp"

namespace tidepool::policies::tidal {
namespace {

using cluster::Allocation;
using cluster::Grant;
using cluster::JobRow;
using cluster::View;

std::vector<std::size_t> largest_first(const std::vector<Grant>& grants) {
  std::vector<std::size_t> order(grants.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(-grants[a].size, a) < std::pair(-grants[b].size, b);
  });
  return order;
}

}  // namespace

Allocation Tidal::allocate(const View& view, core::StepBudget& budget) const {
  Tide tide(ground_of(view), settings_);
  for (const JobRow& job : view.jobs) tide.put(job, view.now);
  const Market::Settlement settled = tide.settle(view.now, budget);
  Laid laid = lay_out(view, tide);

  Allocation allocation{.grants = std::vector<Grant>(view.jobs.size()), .order = {}};
  Terms terms{.price = settled.price, .free = double(view.slots())};
  for (const cluster::Placement& placement : laid.placements) terms.free -= size_of(placement);
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    const JobRow& job = view.jobs[row];
    const Curve& curve = tide.market().curve(job.id);
    Grant& grant = allocation.grants[row];
    grant.size = size_of(laid.placements[row]);
    grant.reason = reason_for(job, curve, grant.size, terms);
    grant.lost = lost_for(job, curve, grant.size, terms);
    grant.mark = job.mark;
  }
  allocation.order = largest_first(allocation.grants);
  allocation.placements = std::move(laid.placements);
  allocation.worth = laid.worth;
  allocation.bound = std::max(laid.worth, tide.market().bound());
  return allocation;
}

}  // namespace tidepool::policies::tidal
