#include "policies/tidal/layout.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "policies/tidal/node_room.hpp"

namespace tidepool::policies::tidal {
namespace {

using cluster::JobRow;
using cluster::packed;
using cluster::Placement;
using cluster::Shape;
using cluster::size_of;
using cluster::View;

// How many jobs are asked to make room for one, and how many of those are tried, so that the work follows what changes.
constexpr int kAskedMax = 256;
constexpr int kTriedMax = 8;
constexpr double kRounding = 1e-9;  // of prices

Shape shape_of(const Placement& placement) {
  return {.nodes = static_cast<int>(placement.size()), .size = size_of(placement)};
}

class Layout {
 public:
  Layout(const View& view, const std::vector<cluster::NodeRow>& nodes, const std::vector<Bought>& bought, double price)
      : view_(view), bought_(bought), price_(price), room_(nodes) {
    for (const cluster::NodeRow& node : nodes) per_node_ = std::max(per_node_, node.slots);
    laid_.placements.resize(view.jobs.size());
    for (std::size_t row = 0; row < view.jobs.size(); ++row) {
      const Placement& held = view.jobs[row].placement;
      if (!held.empty() && size_of(held) == granted(row) && room_.is_free(held)) put(row, held);
    }
  }

  Laid lay() && {
    std::vector<std::pair<int, std::size_t>> order;
    for (std::size_t row = 0; row < view_.jobs.size(); ++row) {
      if (granted(row) > 0 && laid_.placements[row].empty()) order.emplace_back(-granted(row), row);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [size, row] : order) serve(row);
    for (std::size_t row = 0; row < view_.jobs.size(); ++row) gather(row);
    for (std::size_t row = 0; row < view_.jobs.size(); ++row) laid_.worth += worth(row, laid_.placements[row]);
    return std::move(laid_);
  }

 private:
  [[nodiscard]] int granted(std::size_t row) const { return bought_[row].size; }
  void put(std::size_t row, Placement placement) {
    room_.put(row, placement);
    laid_.placements[row] = std::move(placement);
  }
  void take(std::size_t row) { room_.take(row, std::exchange(laid_.placements[row], {})); }

  [[nodiscard]] bool is_tight(const Placement& placement) const {
    return shape_of(placement).nodes <= packed(size_of(placement), per_node_).nodes;
  }
  [[nodiscard]] double worth(std::size_t row, const Placement& placement) const {
    const JobRow& job = view_.jobs[row];
    return placement.empty() ? 0 : bought_[row].worth->in(shape_of(placement), placement == job.placement);
  }
  // What is left of the worth when the slots are paid for. A job of one size that bought of the rest, for no more than
  // the price, keeps no other from slots that pays for them: they cost nothing there.
  [[nodiscard]] double net(std::size_t row, const Placement& placement) const {
    const JobRow& job = view_.jobs[row];
    const double bought = bought_[row].worth->in(packed(granted(row), per_node_), false);
    const bool of_rest = job.size_min == job.size_max && bought <= price_ * granted(row) * (1 + kRounding);
    return worth(row, placement) - (of_rest ? 0 : price_) * size_of(placement);
  }
  [[nodiscard]] std::optional<Placement> place(std::size_t row, int size) const {
    return room_.place(size, std::max(1, view_.jobs[row].slots_per_worker));
  }

  struct Way {
    Placement placement;
    double net = 0;
    std::optional<std::pair<std::size_t, Placement>> first;  // this row moves there before
  };
  static void keep_better(Way& best, Way other) {
    if (!other.placement.empty() && other.net > best.net) best = std::move(other);
  }

  void serve(std::size_t row) {
    auto placement = place(row, granted(row));
    if (placement && is_tight(*placement)) {
      put(row, *std::move(placement));
      return;
    }
    const JobRow& job = view_.jobs[row];
    Way best;
    // What it must have it is given wherever there is room.
    if (bought_[row].curve->front().size > 0) best.net = -std::numeric_limits<double>::infinity();
    if (placement) keep_better(best, {.placement = *placement, .net = net(row, *placement)});
    if (!job.placement.empty() && room_.is_free(job.placement) && size_of(job.placement) < granted(row)) {
      keep_better(best, {.placement = job.placement, .net = net(row, job.placement)});
    }
    keep_better(best, smaller(row));
    keep_better(best, with_room_made(row));
    if (best.first) {
      take(best.first->first);
      put(best.first->first, best.first->second);
    }
    if (!best.placement.empty()) put(row, std::move(best.placement));
  }

  // The largest size below what was granted that fits on as few nodes as it needs.
  [[nodiscard]] Way smaller(std::size_t row) const {
    const Curve& curve = *bought_[row].curve;
    for (auto choice = curve.rbegin(); choice != curve.rend(); ++choice) {
      if (choice->size >= granted(row) || choice->size == 0) continue;
      const auto placement = place(row, choice->size);
      if (placement && is_tight(*placement)) return {.placement = *placement, .net = net(row, *placement)};
    }
    return {};
  }

  struct Mover {
    double cost = 0;
    std::size_t row = 0;
    Placement to;
  };
  // Jobs whose leaving would give some node `needed` free slots and that fit elsewhere; the cheapest first.
  [[nodiscard]] std::vector<Mover> movers(int needed) const {
    std::vector<Mover> found;
    int asked = 0;
    for (std::size_t node = 0; node < room_.nodes() && asked < kAskedMax; ++node) {
      for (const std::size_t row : room_.on(node)) {
        const Placement& lies = laid_.placements[row];
        if (lies.size() != 1 || room_.free(node) + lies[0].slots < needed || view_.jobs[row].resize_blocked) continue;
        ++asked;
        const int to = room_.fullest_with(lies[0].slots, static_cast<int>(node));
        if (to < 0) continue;
        const Placement moved{{.node = to, .slots = lies[0].slots}};
        found.push_back({.cost = worth(row, lies) - worth(row, moved), .row = row, .to = moved});
      }
    }
    std::sort(found.begin(), found.end(),
              [](const Mover& a, const Mover& b) { return std::pair(a.cost, a.row) < std::pair(b.cost, b.row); });
    return found;
  }

  // The granted size, if one other job on a single node moves to another node.
  [[nodiscard]] Way with_room_made(std::size_t row) {
    const int size = granted(row);
    Way best;
    int tried = 0;
    for (const Mover& mover : movers(size % per_node_ == 0 ? std::min(size, per_node_) : size % per_node_)) {
      if (++tried > kTriedMax) break;
      const Placement from = laid_.placements[mover.row];
      room_.take(mover.row, from);
      room_.put(mover.row, mover.to);
      const auto placement = place(row, size);
      if (placement && is_tight(*placement)) {
        keep_better(best, {.placement = *placement,
                           .net = net(row, *placement) - mover.cost,
                           .first = std::pair(mover.row, mover.to)});
      }
      room_.take(mover.row, mover.to);
      room_.put(mover.row, from);
    }
    return best;
  }

  // A job on more nodes than it needs moves together if that is worth it.
  void gather(std::size_t row) {
    const Placement lies = laid_.placements[row];
    if (lies.empty() || is_tight(lies) || view_.jobs[row].resize_blocked) return;
    take(row);
    const auto together = place(row, size_of(lies));
    const bool better = together && is_tight(*together) && worth(row, *together) > worth(row, lies);
    put(row, better ? *together : lies);
  }

  const View& view_;
  const std::vector<Bought>& bought_;
  double price_;
  int per_node_ = 1;
  NodeRoom room_;
  Laid laid_;
};

}  // namespace

Laid lay_out(const View& view, const MarketState& market_state) {
  std::vector<Bought> bought;
  bought.reserve(view.jobs.size());
  for (const JobRow& job : view.jobs) {
    bought.push_back({.size = market_state.market().choice(job.id).size,
                      .curve = &market_state.market().curve(job.id),
                      .worth = &market_state.worth(job.id)});
  }
  return lay_out(view, view.nodes, bought, market_state.market().price());
}

Laid lay_out(const View& view, const std::vector<cluster::NodeRow>& nodes, const std::vector<Bought>& bought,
             double price) {
  return Layout(view, nodes, bought, price).lay();
}

}  // namespace tidepool::policies::tidal
