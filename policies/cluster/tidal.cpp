#include "policies/cluster/tidal.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tidepool::policies::cluster {
namespace {

struct Choice {
  int size = 0;
  double worth = 0;
};

// What each size is worth to one job; the first choice is to hold nothing.
using Curve = std::vector<Choice>;

// A piece of a curve's concave hull: from one choice to a larger one.
struct Piece {
  double slope = 0;  // worth per slot
  std::size_t row = 0;
  std::size_t to = 0;  // index into the curve
};

// All sizes within a node, whole nodes beyond, and what the job holds.
std::vector<int> sizes_for(const JobRow& job, int slots_per_node, int most) {
  std::vector<int> sizes;
  for (int size = 1; size <= std::min(most, slots_per_node); ++size) sizes.push_back(size);
  for (int size = 2 * slots_per_node; size <= most; size += slots_per_node) sizes.push_back(size);
  const int held = size_of(job.placement);
  if (held > 0 && held <= job.size_max) {
    const auto at = std::lower_bound(sizes.begin(), sizes.end(), held);
    if (at == sizes.end() || *at != held) sizes.insert(at, held);
  }
  return sizes;
}

Shape shape_of(const JobRow& job, int size, int slots_per_node) {
  if (size != size_of(job.placement)) return packed(size, slots_per_node);
  return {.nodes = static_cast<int>(job.placement.size()), .size = size};
}

double weight_of(const JobRow& job, const Tidal::Settings& settings, double alone) {
  if (job.useful_left && alone > 0) return job.weight / std::sqrt(*job.useful_left / alone + settings.left_scale);
  return job.weight / std::sqrt(job.slot_seconds + settings.served_scale);
}

Curve curve_of(const JobRow& job, const View& view, const Tidal::Settings& settings) {
  const int slots_per_node = view.slots_per_node();
  const int grown = std::max(slots_per_node, settings.growth * job.largest_seen);
  const double alone = job.speed->goodput({.nodes = 1, .size = 1});
  const double weight = weight_of(job, settings, alone);
  const double power = job.useful_left ? settings.power_declared : settings.power;
  const double change = std::max(0.0, 1 - job.transition.to_seconds() / settings.horizon_s);
  Curve curve{{}};
  for (const int size : sizes_for(job, slots_per_node, std::min({job.size_max, grown, view.slots()}))) {
    const double speed_up = alone > 0 ? job.speed->goodput(shape_of(job, size, slots_per_node)) / alone : 0;
    if (!(speed_up > 0)) continue;
    const double stays = size == size_of(job.placement) ? 1 : change;
    curve.push_back({.size = size, .worth = weight * std::pow(speed_up, power) * stays});
  }
  return curve;
}

// The corners of the curve's upper concave hull, as pieces of falling slope; only rising ones.
void add_hull(const Curve& curve, std::size_t row, std::vector<Piece>& pieces) {
  for (std::size_t from = 0; from + 1 < curve.size();) {
    Piece best{.slope = 0, .row = row, .to = from};
    for (std::size_t to = from + 1; to < curve.size(); ++to) {
      const double slope = (curve[to].worth - curve[from].worth) / (curve[to].size - curve[from].size);
      if (slope > best.slope) best = {.slope = slope, .row = row, .to = to};
    }
    if (best.to == from) return;
    pieces.push_back(best);
    from = best.to;
  }
}

struct Purchase {
  std::vector<std::size_t> chosen;  // per row: index into its curve
  int free = 0;
  double price = 0;  // slope of the last piece bought
};

Purchase buy_steepest(const std::vector<Curve>& curves, std::vector<Piece> pieces, int slots) {
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return std::pair(-a.slope, a.row) < std::pair(-b.slope, b.row); });
  Purchase bought{.chosen = std::vector<std::size_t>(curves.size(), 0), .free = slots};
  std::vector<bool> stopped(curves.size(), false);
  for (const Piece& piece : pieces) {
    if (stopped[piece.row]) continue;
    const Curve& curve = curves[piece.row];
    const int more = curve[piece.to].size - curve[bought.chosen[piece.row]].size;
    if (more > bought.free) {
      stopped[piece.row] = true;  // later pieces of this job begin where this one ends
      continue;
    }
    bought.chosen[piece.row] = piece.to;
    bought.free -= more;
    bought.price = piece.slope;
  }
  return bought;
}

// Slots left over go, again and again, to the step that is worth most per slot among those that fit.
void spend_rest(const std::vector<Curve>& curves, Purchase& bought, core::StepBudget& budget) {
  while (bought.free > 0) {
    Piece best;
    for (std::size_t row = 0; row < curves.size(); ++row) {
      const Curve& curve = curves[row];
      const Choice& now = curve[bought.chosen[row]];
      for (std::size_t to = bought.chosen[row] + 1; to < curve.size(); ++to) {
        const int more = curve[to].size - now.size;
        if (more > bought.free) break;
        const double slope = (curve[to].worth - now.worth) / more;
        if (slope > best.slope) best = {.slope = slope, .row = row, .to = to};
      }
    }
    if (best.slope <= 0 || !budget.spend(static_cast<std::int64_t>(curves.size()))) return;
    bought.free -= curves[best.row][best.to].size - curves[best.row][bought.chosen[best.row]].size;
    bought.chosen[best.row] = best.to;
  }
}

core::Reason reason_for(const JobRow& job, int size, const Purchase& bought) {
  const int held = size_of(job.placement);
  if (size == 0) return {core::ReasonCode::kWaitingForSlots, {{"needed", 1}, {"free", double(bought.free)}}};
  if (held == 0) return {core::ReasonCode::kStarted, {{"size", double(size)}}};
  if (size == job.size_max) return {core::ReasonCode::kAtMax, {{"size", double(size)}}};
  const double next = size + 1;
  if (size == held) {
    return {core::ReasonCode::kUtilitySettled,
            {{"size", double(size)}, {"next", next}, {"utility_gain", 0}, {"cost_gain", bought.price}}};
  }
  const auto code = size > held ? core::ReasonCode::kUtilityUp : core::ReasonCode::kUtilityDown;
  return {code,
          {{"from", double(held)}, {"to", double(size)}, {"utility_gain", bought.price}, {"cost_gain", bought.price}}};
}

// Large jobs are laid out first: only they need whole nodes.
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
  std::vector<Curve> curves;
  std::vector<Piece> pieces;
  for (const JobRow& job : view.jobs) {
    curves.push_back(curve_of(job, view, settings_));
    budget.spend(static_cast<std::int64_t>(curves.back().size()));
    add_hull(curves.back(), curves.size() - 1, pieces);
  }
  Purchase bought = buy_steepest(curves, std::move(pieces), view.slots());
  spend_rest(curves, bought, budget);
  Allocation allocation{.grants = std::vector<Grant>(view.jobs.size()), .order = {}};
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    Grant& grant = allocation.grants[row];
    grant.size = curves[row][bought.chosen[row]].size;
    grant.mark = view.jobs[row].mark;
    grant.reason = reason_for(view.jobs[row], grant.size, bought);
  }
  allocation.order = largest_first(allocation.grants);
  return allocation;
}

}  // namespace tidepool::policies::cluster
