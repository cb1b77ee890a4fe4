#include "core/place/clearing.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace tidepool::core {
namespace {

class ClearingSearch {
 public:
  ClearingSearch(SlotsOn open, const std::vector<LeavingWorkers>& leaving, GangSize gang)
      : open_(std::move(open)), leaving_(leaving), gang_(gang) {
    for (const auto& [node, slots] : open_) workers_ += slots / gang_.slots_each;
    for (std::size_t i = 0; i < leaving_.size(); ++i) {
      for (const auto& [node, slots] : leaving_[i].held) {
        if (open_.contains(node)) on_[node].push_back(i);
      }
    }
    for (auto& [node, here] : on_) {
      std::sort(here.begin(), here.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(price(a, node), a) < std::pair(price(b, node), b);
      });
    }
  }

  std::optional<std::vector<std::size_t>> find() {
    while (workers_ < gang_.workers) {
      const std::vector<std::size_t> cheapest = cheapest_worker();
      if (cheapest.empty()) return std::nullopt;
      for (const std::size_t i : cheapest) release(i);
    }
    drop_unneeded();
    return std::vector<std::size_t>(left_.begin(), left_.end());
  }

 private:
  // For each slot that it releases here.
  [[nodiscard]] double price(std::size_t which, NodeId node) const {
    return leaving_[which].cost_s / leaving_[which].held.at(node);
  }

  // What leaves a node so that one worker more fits there; empty = that is so nowhere.
  [[nodiscard]] std::vector<std::size_t> cheapest_worker() const {
    std::vector<std::size_t> best;
    double best_cost_s = 0;
    for (const auto& [node, here] : on_) {
      const int open = open_.at(node);
      int lacking = gang_.slots_each - open % gang_.slots_each;
      double cost_s = 0;
      std::vector<std::size_t> leave;
      for (const std::size_t i : here) {
        if (lacking <= 0 || (!best.empty() && cost_s >= best_cost_s)) break;
        if (left_.contains(i)) continue;
        lacking -= leaving_[i].held.at(node);
        cost_s += leaving_[i].cost_s;
        leave.push_back(i);
      }
      if (lacking > 0 || (!best.empty() && cost_s >= best_cost_s)) continue;
      best = std::move(leave);
      best_cost_s = cost_s;
    }
    return best;
  }

  void release(std::size_t which) {
    left_.insert(which);
    shift(which, 1);
  }

  void shift(std::size_t which, int sign) {
    for (const auto& [node, slots] : leaving_[which].held) {
      const auto open = open_.find(node);
      if (open == open_.end()) continue;
      workers_ -= open->second / gang_.slots_each;
      open->second += sign * slots;
      workers_ += open->second / gang_.slots_each;
    }
  }

  // Dearest first.
  void drop_unneeded() {
    std::vector<std::size_t> order(left_.begin(), left_.end());
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(-leaving_[a].cost_s, a) < std::pair(-leaving_[b].cost_s, b);
    });
    for (const std::size_t i : order) {
      shift(i, -1);
      if (workers_ >= gang_.workers) {
        left_.erase(i);
      } else {
        shift(i, 1);
      }
    }
  }

  SlotsOn open_;
  const std::vector<LeavingWorkers>& leaving_;
  GangSize gang_;
  std::map<NodeId, std::vector<std::size_t>> on_;  // indices, cheapest first
  std::set<std::size_t> left_;
  int workers_ = 0;  // that fit
};

}  // namespace

std::optional<std::vector<std::size_t>> who_leaves(SlotsOn open, const std::vector<LeavingWorkers>& leaving,
                                                   GangSize gang) {
  return ClearingSearch(std::move(open), leaving, gang).find();
}

WorkersOn nodes_kept_for(const SlotsOn& open, const SlotsOn& free, GangSize gang) {
  std::vector<std::tuple<int, NodeId>> order;
  for (const auto& [node, slots] : open) {
    if (slots < gang.slots_each) continue;
    const auto now = free.find(node);
    order.emplace_back(slots - slots % gang.slots_each - (now == free.end() ? 0 : now->second), node);
  }
  std::sort(order.begin(), order.end());
  WorkersOn kept;
  int left = gang.workers;
  for (const auto& [coming, node] : order) {
    if (left == 0) break;
    const int workers = std::min(left, open.at(node) / gang.slots_each);
    kept.emplace(node, workers);
    left -= workers;
  }
  return kept;
}

}  // namespace tidepool::core
