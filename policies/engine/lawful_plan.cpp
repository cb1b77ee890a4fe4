#include "policies/engine/lawful_plan.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "core/words/adjusted_reason.hpp"

namespace tidepool::policies::cluster {
namespace {

constexpr std::size_t kAlternativesMax = 4;

// Holds something that the policy may not take away.
bool must_keep(const JobRow& job) {
  return !job.preemptible && !job.placement.empty();
}

// With fewer workers than its least it cannot go on as it is, and gives them up.
int least_kept(const JobRow& job) {
  return must_keep(job) && size_of(job.placement) >= job.size_min ? job.size_min : 0;
}

class Plan {
 public:
  Plan(const View& view, const Allocation& allocation, int capacity)
      : view_(view), allocation_(allocation), capacity_(capacity), sizes_(view.jobs.size(), 0), left_(view.slots()) {}

  std::vector<core::Target> make() {
    for (const JobRow& job : view_.jobs) left_ -= least_kept(job);
    for (const std::size_t row : allocation_.order) share_out(row);
    if (std::any_of(view_.jobs.begin(), view_.jobs.end(), is_particular)) lay_out_particular();
    std::vector<core::Target> plan(sizes_.size());
    for (std::size_t i = 0; i < allocation_.order.size(); ++i) {
      const std::size_t row = allocation_.order[i];
      plan[row] = target(row, static_cast<std::int64_t>(i));
    }
    return plan;
  }

 private:
  [[nodiscard]] const JobRow& job(std::size_t row) const { return view_.jobs[row]; }

  void share_out(std::size_t row) {
    const int kept = least_kept(job(row));
    left_ += kept;
    const int granted = std::min(allocation_.grants[row].size, left_);
    sizes_[row] = std::max(kept, largest_size(job(row), granted));
    // A loss may have left it between the allowed sizes; if it is granted that, it goes back up if there is room.
    if (granted > 0 && granted == size_of(job(row).placement) && !may_have(job(row), granted)) {
      const auto& sizes = job(row).sizes;
      const auto above = std::lower_bound(sizes.begin(), sizes.end(), granted);
      if (above != sizes.end() && *above <= left_) sizes_[row] = *above;
    }
    left_ -= sizes_[row];
  }

  [[nodiscard]] static bool is_particular(const JobRow& job) { return job.slots_per_worker > 1 || job.nodes; }

  // Slots of one node.
  struct Room {
    int free = 0;
    int movable = 0;  // held by single workers that may be anywhere, and so can move for those that may not
  };

  // Workers of several slots need them on one node, and some jobs may be on some nodes only: cuts those that would find
  // no room. Workers that stay, stay, but for those that can move for a job that is bound to their nodes. All others
  // find room wherever it is left.
  void lay_out_particular() {
    std::vector<Room> rooms;
    rooms.reserve(view_.nodes.size());
    for (const NodeRow& node : view_.nodes) rooms.push_back({.free = node.slots});
    for (std::size_t row = 0; row < sizes_.size(); ++row) {
      int stays = std::min(sizes_[row], size_of(job(row).placement));
      for (const Share& share : job(row).placement) {
        const int slots = std::min(stays, share.slots);
        Room& room = rooms[static_cast<std::size_t>(share.node)];
        room.free -= slots;
        if (!is_particular(job(row))) room.movable += slots;
        stays -= slots;
      }
    }
    std::vector<std::tuple<int, bool, std::size_t, std::size_t>> order;  // gangs first, then those that are bound
    for (std::size_t i = 0; i < allocation_.order.size(); ++i) {
      const std::size_t row = allocation_.order[i];
      order.emplace_back(-job(row).slots_per_worker, !job(row).nodes, i, row);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [slots, is_free, place, row] : order) {
      if (!is_particular(job(row))) continue;
      int found = std::min(sizes_[row], size_of(job(row).placement));
      while (found < sizes_[row] && take(rooms, job(row))) found += job(row).slots_per_worker;
      if (found < sizes_[row]) sizes_[row] = largest_size(job(row), found);  // 0 for what is left of one that ends
    }
  }

  // One more worker's slots, from the fullest node with room.
  static bool take(std::vector<Room>& rooms, const JobRow& job) {
    std::optional<std::size_t> best;
    const auto slots_in = [&](std::size_t node) { return rooms[node].free + (job.nodes ? rooms[node].movable : 0); };
    const auto consider = [&](std::size_t node) {
      if (slots_in(node) >= job.slots_per_worker && (!best || slots_in(node) < slots_in(*best))) best = node;
    };
    if (job.nodes) {
      for (const int node : *job.nodes) consider(static_cast<std::size_t>(node));
    } else {
      for (std::size_t node = 0; node < rooms.size(); ++node) consider(node);
    }
    if (!best) return false;
    Room& room = rooms[*best];
    const int moved = std::max(0, job.slots_per_worker - std::max(0, room.free));
    room.free -= job.slots_per_worker - moved;
    room.movable -= moved;
    return true;
  }

  [[nodiscard]] core::Target target(std::size_t row, std::int64_t place) const {
    const Grant& grant = allocation_.grants[row];
    const int each = job(row).slots_per_worker;
    core::Target out{.size = sizes_[row] / each,
                     .place = place,
                     .reason = reason(row),
                     .score = std::isfinite(grant.score) ? grant.score : 0,
                     .lost = {},
                     .mark = grant.mark,
                     .unasked = grant.unasked && !lacks_room(row)};
    std::erase_if(out.mark.numbers, [](double number) { return !std::isfinite(number); });
    out.lost = grant.lost;
    if (out.lost.size() > kAlternativesMax) out.lost.resize(kAlternativesMax);
    out.lost = core::in_workers(std::move(out.lost), each);
    return out;
  }

  // It waits, and whatever its policy says of it, it could not start.
  [[nodiscard]] bool lacks_room(std::size_t row) const {
    if (sizes_[row] > 0 || !job(row).placement.empty()) return false;
    return capacity_ == 0 || allocation_.grants[row].size > 0 || job(row).size_min > std::min(capacity_, view_.slots());
  }

  [[nodiscard]] core::Reason reason(std::size_t row) const {
    const Grant& grant = allocation_.grants[row];
    if (lacks_room(row)) {
      const int needed = job(row).size_min;
      if (capacity_ == 0) return core::reason::NoNodes{};
      if (needed > capacity_) return core::reason::NeverFits{.needed = needed, .cluster = capacity_};
      return core::reason::WaitingForSlots{.needed = needed, .free = left_};
    }
    const int each = job(row).slots_per_worker;
    const int held = size_of(job(row).placement) / each;  // whole workers
    core::SizesInWorkers sizes{.slots_per_worker = each, .from = held, .to = sizes_[row] / each};
    if (grant.size < size_of(job(row).placement)) {
      sizes.unchanged = core::reason::AtMin{{.size = held}};
    } else {
      sizes.unchanged = core::reason::NoSlotsToGrow{.wanted = each, .free = left_};
    }
    return core::in_workers(grant.reason, sizes);
  }

  const View& view_;
  const Allocation& allocation_;
  int capacity_;
  std::vector<int> sizes_;  // per row, in slots
  int left_;
};

}  // namespace

std::vector<core::Target> lawful_plan(const View& view, const Allocation& allocation, int capacity) {
  return Plan(view, allocation, capacity).make();
}

}  // namespace tidepool::policies::cluster
