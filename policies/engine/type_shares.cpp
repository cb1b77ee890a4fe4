#include "policies/engine/type_shares.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/id_set.hpp"
#include "policies/cluster/allocation_check.hpp"
#include "policies/engine/lawful_plan.hpp"

namespace tidepool::policies::cluster {
namespace {

using Nodes = std::vector<int>;  // indices of View::nodes, ascending

// The sets of nodes that jobs are bound to, the smaller ones first.
std::vector<Nodes> sets_of(const View& view) {
  std::set<std::pair<std::size_t, Nodes>> sets;
  for (const JobRow& job : view.jobs) {
    if (job.nodes) sets.emplace(job.nodes->size(), *job.nodes);
  }
  std::vector<Nodes> sorted;
  sorted.reserve(sets.size());
  for (const auto& [size, nodes] : sets) sorted.push_back(nodes);
  return sorted;
}

bool lies_in(const JobRow& job, const Nodes& nodes) {
  return job.nodes && std::includes(nodes.begin(), nodes.end(), job.nodes->begin(), job.nodes->end());
}

// Of the jobs bound to these nodes, and of nothing else.
struct Part {
  View view;
  std::vector<std::size_t> rows;  // in the whole view
};

Part part_of(const View& whole, const Nodes& nodes) {
  Part part{.view = {.now = whole.now}, .rows = {}};
  part.view.mark = whole.mark;
  part.view.ended_slot_seconds = whole.ended_slot_seconds;
  const auto index_of = [&](int node) {
    return static_cast<int>(std::lower_bound(nodes.begin(), nodes.end(), node) - nodes.begin());
  };
  for (const int node : nodes) part.view.nodes.push_back(whole.nodes[static_cast<std::size_t>(node)]);
  for (std::size_t row = 0; row < whole.jobs.size(); ++row) {
    if (!lies_in(whole.jobs[row], nodes)) continue;
    JobRow job = whole.jobs[row];
    job.deadline.reset();
    Placement placement;
    for (const Share& share : job.placement) {
      if (std::binary_search(nodes.begin(), nodes.end(), share.node)) {
        placement.push_back({.node = index_of(share.node), .slots = share.slots});
      }
    }
    job.placement = std::move(placement);
    for (int& node : *job.nodes) node = index_of(node);
    part.view.jobs.push_back(std::move(job));
    part.rows.push_back(row);
  }
  return part;
}

// Nodes of bounded types have no more slots together, the last ones the fewest.
void limit_types(View& view, const core::TypeBounds* most) {
  if (most == nullptr) return;
  std::map<std::string, int> left;
  for (NodeRow& row : view.nodes) {
    const auto bound = most->find(row.slot_type);
    if (bound == most->end()) continue;
    int& rest = left.try_emplace(row.slot_type, bound->second).first->second;
    row.slots = std::min(row.slots, rest);
    rest -= row.slots;
  }
}

bool may_lack_room(const View& view) {
  int wanted = 0;
  for (const JobRow& job : view.jobs) wanted += job.size_max;
  return wanted > view.slots();
}

}  // namespace

void cut(JobRow& job, int most) {
  if (job.resize_blocked) most = std::max(most, size_of(job.placement));
  if (job.size_max <= most) return;
  while (job.sizes.size() > 1 && job.sizes.back() > most) job.sizes.pop_back();
  job.size_max = job.sizes.empty() ? std::max(job.size_min, most) : job.sizes.back();
  job.size_wanted = std::min(job.size_wanted, job.size_max);
  if (job.pinned > 0) job.pinned = std::min(job.pinned, job.size_max);
}

std::map<JobId, core::Target> share_types(View& view, const std::function<Allocation(const View&)>& ask,
                                          const core::TypeBounds* bounds) {
  std::map<JobId, core::Target> without;
  for (const Nodes& nodes : sets_of(view)) {
    Part part = part_of(view, nodes);
    limit_types(part.view, bounds);
    if (!may_lack_room(part.view)) continue;
    const Allocation allocation = ask(part.view);
    if (!check_allocation(part.view, allocation)) continue;
    const std::vector<core::Target> plan = lawful_plan(part.view, allocation, part.view.slots());
    IdSet<JobId> nothing;
    for (std::size_t i = 0; i < plan.size(); ++i) {
      JobRow& job = view.jobs[part.rows[i]];
      const int most = plan[i].size * job.slots_per_worker;
      cut(job, most);
      if (most > 0 || job.resize_blocked) continue;
      core::Target told = plan[i];
      told.place += static_cast<std::int64_t>(view.jobs.size());  // behind every job that is to have something
      told.mark = job.mark;
      without.emplace(job.id, std::move(told));
      nothing.insert(job.id);
    }
    std::erase_if(view.jobs, [&](const JobRow& job) { return nothing.contains(job.id); });
  }
  return without;
}

}  // namespace tidepool::policies::cluster
