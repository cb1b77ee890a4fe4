#include "studies/baselines/gandiva.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "policies/cluster/queue_grants.hpp"

namespace tidepool::policies::cluster {
namespace {

using Ids = std::vector<std::uint64_t>;

struct Group {
  int size = 0;  // of its jobs
  int load = 0;
  std::vector<int> nodes;
  Ids jobs;  // in the order in which they run next
};
using Groups = std::vector<Group>;

class Slicing {
 public:
  explicit Slicing(const View& view) : view_(view), per_node_(std::max(1, view.slots_per_node())) {
    for (std::size_t row = 0; row < view.jobs.size(); ++row) rows_[view.jobs[row].id.number()] = row;
    read(view.mark);
    take_turns();
    const bool released = drop_ended();
    admit(released);
    share_out();
  }

  [[nodiscard]] Allocation answer() const {
    Allocation allocation{.grants = std::vector<Grant>(view_.jobs.size()), .order = {}, .placements = {}};
    allocation.placements.resize(view_.jobs.size());
    for (const auto& [size, groups] : by_size_) {
      for (const Group& group : groups) run(group, allocation);
    }
    for (std::size_t row = 0; row < view_.jobs.size(); ++row) {
      Grant& grant = allocation.grants[row];
      grant.mark = {.level = 1, .since = view_.now, .numbers = {}};
      grant.reason = core::reason::TurnWait{.needed = view_.jobs[row].size_wanted};
      allocation.order.push_back(row);
    }
    explain_turns(allocation);
    allocation.mark = written();
    allocation.wake = view_.now + Gandiva::kSlice;
    return allocation;
  }

 private:
  // Jobs of a group come one after another; those that found no group come last.
  void explain_turns(Allocation& allocation) const {
    Line line{.measure = core::measure::kSlices, .waits = std::vector<LineWait>(view_.jobs.size())};
    std::vector<bool> in_group(view_.jobs.size(), false);
    const auto stands = [&](std::size_t row, std::size_t ahead) {
      in_group[row] = true;
      line.order.push_back(row);
      line.waits[row] = {.needed = view_.jobs[row].size_wanted, .ahead = static_cast<int>(ahead)};
      allocation.grants[row].reason =
          core::reason::TurnWait{.needed = line.waits[row].needed, .ahead = line.waits[row].ahead};
    };
    for (const auto& [size, groups] : by_size_) {
      for (const Group& group : groups) {
        for (std::size_t i = 0; i < group.jobs.size(); ++i) {
          stands(rows_.at(group.jobs[i]), i < at_once(group) ? 0 : i + 1 - at_once(group));
        }
      }
    }
    const std::size_t grouped = line.order.size();
    for (std::size_t row = 0; row < in_group.size(); ++row) {
      if (!in_group[row]) stands(row, line.order.size() - grouped + 1);
    }
    explain_line(view_, line, allocation);
  }

  // How many jobs run at a time.
  [[nodiscard]] std::size_t at_once(const Group& group) const {
    return group.nodes.size() * static_cast<std::size_t>(per_node_) / static_cast<std::size_t>(group.size);
  }
  [[nodiscard]] std::size_t nodes_for(int size) const {
    return static_cast<std::size_t>((size + per_node_ - 1) / per_node_);
  }

  // Of a list that is not this policy's own, whatever names nodes and jobs that exist.
  void read(const Mark& mark) {
    for (std::size_t node = 0; node < view_.nodes.size(); ++node) {
      if (view_.nodes[node].slots >= per_node_) free_.push_back(static_cast<int>(node));
    }
    std::size_t at = 0;
    const auto next = [&] {
      const double number = at < mark.numbers.size() ? mark.numbers[at++] : 0;
      return number > 0 && number < 1e9 ? number : 0;
    };
    std::set<std::uint64_t> seen;
    while (at < mark.numbers.size()) {
      Group group{.size = static_cast<int>(next()), .load = static_cast<int>(next()), .nodes = {}, .jobs = {}};
      for (auto left = static_cast<int>(next()); left > 0 && at < mark.numbers.size(); --left) {
        const auto node = std::find(free_.begin(), free_.end(), static_cast<int>(next()));
        if (node == free_.end()) continue;  // it has left the cluster
        group.nodes.push_back(*node);
        free_.erase(node);
      }
      for (auto left = static_cast<int>(next()); left > 0 && at < mark.numbers.size(); --left) {
        const auto id = static_cast<std::uint64_t>(next());
        if (seen.insert(id).second) group.jobs.push_back(id);
      }
      if (group.size > 0 && at_once(group) > 0) {
        by_size_[group.size].push_back(std::move(group));
      } else {
        free_.insert(free_.end(), group.nodes.begin(), group.nodes.end());
      }
    }
  }

  [[nodiscard]] Mark written() const {
    Mark mark{.level = 1, .since = view_.now, .numbers = {}};
    for (const auto& [size, groups] : by_size_) {
      for (const Group& group : groups) {
        mark.numbers.insert(mark.numbers.end(), {double(size), double(group.load), double(group.nodes.size())});
        for (const int node : group.nodes) mark.numbers.push_back(node);
        mark.numbers.push_back(double(group.jobs.size()));
        for (const std::uint64_t id : group.jobs) mark.numbers.push_back(double(id));
      }
    }
    return mark;
  }

  void take_turns() {
    if ((view_.now - Instant()).count_us() % Gandiva::kSlice.count_us() != 0) return;
    for (auto& [size, groups] : by_size_) {
      for (Group& group : groups) {
        const std::size_t ran = at_once(group);
        if (group.jobs.size() <= ran) continue;
        std::rotate(group.jobs.begin(), group.jobs.begin() + static_cast<std::ptrdiff_t>(ran), group.jobs.end());
      }
    }
  }

  // Whether that freed nodes.
  bool drop_ended() {
    const std::size_t free = free_.size();
    for (auto& [size, groups] : by_size_) {
      for (Group& group : groups) {
        std::erase_if(group.jobs, [&](std::uint64_t id) { return !rows_.contains(id); });
        if (group.jobs.empty()) free_.insert(free_.end(), group.nodes.begin(), group.nodes.end());
      }
      std::erase_if(groups, [](const Group& group) { return group.jobs.empty(); });
    }
    return free_.size() > free;
  }

  // Each size's slots follow its part of the demand.
  void share_out() {
    std::map<int, int> demand;
    double all = 0;
    for (const auto& [size, groups] : by_size_) {
      for (const Group& group : groups) demand[size] += static_cast<int>(group.jobs.size()) * size;
      all += demand[size];
    }
    for (auto& [size, groups] : by_size_) {
      if (demand[size] == 0) continue;
      int held = 0;
      for (const Group& group : groups) held += static_cast<int>(group.nodes.size()) * per_node_;
      const int part = static_cast<int>(std::floor(demand[size] / all * view_.slots()));
      const int missing = std::min(part, demand[size]) - held;
      const int count = (std::abs(missing) + size - 1) / size;
      if (missing > 0) expand(size, groups, count);
      if (missing < 0) shrink(groups, std::min(count, static_cast<int>(groups.size()) - 1));
    }
  }

  void expand(int size, Groups& groups, int count) {
    for (; count > 0 && nodes_for(size) <= free_.size(); --count) groups.push_back(formed(size));
    if (count == 0 && nodes_for(size) == 1) return;  // as there: new groups on one node stay empty if all were formed
    Ids jobs;
    for (Group& group : groups) {
      jobs.insert(jobs.end(), group.jobs.begin(), group.jobs.end());
      group.jobs.clear();
      group.load = 0;
    }
    spread(jobs, groups);
  }

  void shrink(Groups& groups, int count) {
    Ids jobs;
    for (; count > 0; --count) {
      jobs.insert(jobs.end(), groups.front().jobs.begin(), groups.front().jobs.end());
      free_.insert(free_.end(), groups.front().nodes.begin(), groups.front().nodes.end());
      groups.erase(groups.begin());
    }
    spread(jobs, groups);
  }

  static void spread(const Ids& jobs, Groups& groups) {
    for (const std::uint64_t id : jobs) {
      join(groups.front(), id);
      least_loaded_first(groups);
    }
  }

  static void join(Group& group, std::uint64_t id) {
    group.jobs.push_back(id);
    ++group.load;
  }

  // Groups of equal load keep their order.
  static void least_loaded_first(Groups& groups) {
    for (std::size_t i = 1; i < groups.size(); ++i) {
      for (std::size_t j = i; j > 0 && groups[j].load < groups[j - 1].load; --j) std::swap(groups[j], groups[j - 1]);
    }
  }

  [[nodiscard]] Group formed(int size) {
    Group group{.size = size, .load = 0, .nodes = {}, .jobs = {}};
    const auto last = free_.begin() + static_cast<std::ptrdiff_t>(nodes_for(size));
    group.nodes.assign(free_.begin(), last);
    free_.erase(free_.begin(), last);
    return group;
  }

  // New jobs first, then, if nodes were freed, those that found no room before.
  void admit(bool released) {
    std::vector<bool> placed(view_.jobs.size(), false);
    for (const auto& [size, groups] : by_size_) {
      for (const Group& group : groups) {
        for (const std::uint64_t id : group.jobs) placed[rows_.at(id)] = true;
      }
    }
    for (const bool waited : {false, true}) {
      if (waited && !released) break;
      for (std::size_t row = 0; row < placed.size(); ++row) {
        if (!placed[row] && (view_.jobs[row].mark.level == 1) == waited) admit(view_.jobs[row]);
      }
    }
  }

  void admit(const JobRow& job) {
    if (job.size_wanted < 1) return;
    Groups& groups = by_size_[job.size_wanted];
    const auto first_to_back = [&groups] {
      if (!groups.empty()) std::rotate(groups.begin(), groups.begin() + 1, groups.end());
    };
    first_to_back();
    const bool room = !groups.empty() && static_cast<std::size_t>(groups.back().load) + 1 < at_once(groups.back());
    if (!room && nodes_for(job.size_wanted) <= free_.size()) {
      groups.push_back(formed(job.size_wanted));
    } else if (groups.empty()) {
      return;  // it waits until nodes are free
    } else if (!room) {
      first_to_back();
    }
    join(groups.back(), job.id.number());
    least_loaded_first(groups);
  }

  // Its first jobs, side by side over its nodes.
  void run(const Group& group, Allocation& allocation) const {
    int next = 0;  // slot of the group
    for (std::size_t i = 0; i < std::min(at_once(group), group.jobs.size()); ++i) {
      const std::size_t row = rows_.at(group.jobs[i]);
      allocation.grants[row].size = group.size;
      for (int left = group.size; left > 0;) {
        const int part = std::min(left, per_node_ - next % per_node_);
        allocation.placements[row].push_back(
            {.node = group.nodes[static_cast<std::size_t>(next / per_node_)], .slots = part});
        next += part;
        left -= part;
      }
    }
  }

  const View& view_;
  int per_node_;
  std::map<std::uint64_t, std::size_t> rows_;  // by id
  std::map<int, Groups> by_size_;
  std::vector<int> free_;  // nodes
};

}  // namespace

Allocation Gandiva::allocate(const View& view, core::StepBudget& budget) const {
  budget.spend(static_cast<std::int64_t>(view.jobs.size()));
  return Slicing(view).answer();
}

}  // namespace tidepool::policies::cluster
