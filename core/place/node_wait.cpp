#include "core/place/node_wait.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "core/place/domain_wait.hpp"
#include "core/place/least_price.hpp"
#include "core/state/node_constraints.hpp"
#include "core/state/node_labels.hpp"
#include "core/state/worker_groups.hpp"

namespace tidepool::core {
namespace {

// Nodes of one sort that are up and would take workers of the job, but for what closes them.
struct Closed {
  int workers = 0;  // that they would hold
  NodeId first;

  void add(const Node& node, const Job& job) {
    workers += static_cast<int>(node.owners.size()) / job.spec.gpus_per_worker;
    if (!first) first = node.id;
  }
};

// The nodes that take workers hold `open` slots for it, and that is too few.
std::optional<Reason> kept_waiting_by_closed(const ClusterState& state, const Job& job, int open) {
  if (has_gang_rule(job.spec)) return std::nullopt;  // how many it would have more follows from its rules
  Closed draining;
  Closed unsteady;
  for (const auto& [id, node] : state.nodes) {
    if (node.state != NodeState::kUp || node.cordoned || !may_run_on(job, node)) continue;
    if (node.drain) draining.add(node, job);
    if (!node.drain && node.is_unsteady()) unsteady.add(node, job);
  }
  const int slots = job.spec.gpus_per_worker;
  const int needed = job.spec.elastic.sizes.front();
  const int without = open / slots;
  if (draining.first && without + draining.workers >= needed) {
    return reason::NodesDrain{.needed = needed * slots,
                              .cluster = open,
                              .node = draining.first,
                              .reclaimed = state.find_node(draining.first)->drain->reclaim.has_value(),
                              .window = window_shown(*state.find_node(draining.first))};
  }
  if (unsteady.first && without + draining.workers + unsteady.workers >= needed) {
    return reason::NodesUnsteady{.needed = needed * slots, .cluster = open, .node = unsteady.first};
  }
  return std::nullopt;
}

}  // namespace

std::optional<int> window_shown(const Node& node) {
  const auto window = node.drain->only_window();
  return window ? std::optional(static_cast<int>(*window)) : std::nullopt;
}

NodesAskedFor nodes_asked_for(const ClusterState& state, const Job& job) {
  NodesAskedFor asked;
  std::map<JobId, int> held;
  for (const auto& [id, node] : state.nodes) {
    if (!node.takes_workers() || !may_run_on(job, node)) continue;
    ++asked.nodes;
    asked.slots += static_cast<int>(node.owners.size());
    for (const WorkerId owner : node.owners) {
      if (owner) {
        ++held[state.find_worker(owner)->job];
      } else {
        ++asked.free;
      }
    }
  }
  asked.holders = static_cast<int>(held.size());
  int most = 0;
  int after = 0;
  for (const auto& [holder, slots] : held) {
    if (slots > most) {
      asked.holder_after = asked.holder;
      after = most;
      asked.holder = holder;
      most = slots;
    } else if (slots > after) {
      asked.holder_after = holder;
      after = slots;
    }
  }
  return asked;
}

int slots_free_for(const ClusterState& state, const Job& job, const std::map<NodeId, int>& taken) {
  std::map<std::string, int> slots;  // by type, or all of them
  int most = 0;
  for (const auto& [id, node] : state.nodes) {
    if (!node.takes_workers() || !may_run_on(job, node)) continue;
    const auto used = taken.find(id);
    int& of_type = slots[job.spec.mixed_types ? std::string() : node.slot_type];
    of_type += node.slots_free() - (used == taken.end() ? 0 : used->second);
    most = std::max(most, of_type);
  }
  return most;
}

bool asks_by_labels_or_memory(const JobSpec& spec) {
  return !spec.placement.selector.empty() || spec.memory;
}

std::optional<std::int64_t> memory_told(const JobSpec& spec) {
  return spec.memory ? std::optional(memory_asked_per_slot(spec)) : std::nullopt;
}

Reason never_fits(const ClusterState& state, const Job& job, int cluster, bool typed) {
  if (auto too_dear = never_within_cap(state, job)) return *too_dear;
  if (auto closed = kept_waiting_by_closed(state, job, cluster)) return *std::move(closed);
  const int needed = job.spec.smallest_slots();
  if (has_strict_topology(job.spec) || has_groups(job.spec)) {
    return domains_too_small(state, job);
  }
  if (!asks_by_labels_or_memory(job.spec)) {
    return reason::NeverFits{.needed = needed, .cluster = cluster, .typed = typed};
  }
  return reason::NoNodeMatches{.needed = needed,
                               .nodes = nodes_asked_for(state, job).nodes,
                               .cluster = cluster,
                               .typed = !job.spec.slot_types.empty(),
                               .memory = memory_told(job.spec),
                               .word = text_of(job.spec.placement.selector)};
}

void tell_nodes(const NodesAskedFor& asked, reason::WaitingForNodes& why) {
  why.free = asked.free;
  why.nodes = asked.nodes;
  why.slots = asked.slots;
  why.holders = asked.holders;
  why.holder = asked.holder;
  why.holder_after = asked.holder_after;
}

}  // namespace tidepool::core
