#include "core/place/gang_rules.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "core/state/node_constraints.hpp"
#include "core/state/node_labels.hpp"
#include "core/state/worker_groups.hpp"

namespace tidepool::core {
namespace {

using Broken = std::optional<std::string>;

std::string domain_of(const ClusterState& state, const JobSpec& spec, NodeId node) {
  const Node* known = state.find_node(node);
  return known == nullptr ? std::string() : domain_of(*known, spec.placement.key);
}

Broken shares_a_domain(const ClusterState& state, const GangChange& change, const JobsOnNodes& /*placed*/) {
  const JobSpec& spec = change.job.spec;
  if (!is_in_one_domain(spec)) return std::nullopt;
  std::set<std::string> domains;
  for (const NodeId node : change.join) domains.insert(domain_of(state, spec, node));
  for (const NodeId node : change.stay) domains.insert(domain_of(state, spec, node));
  if (domains.size() < 2) return std::nullopt;
  return change.job.id.text() + " would be in " + domain_text(*domains.begin(), spec.placement.key) + " and in " +
         domain_text(*domains.rbegin(), spec.placement.key);
}

Broken has_domains_of_its_own(const ClusterState& state, const GangChange& change, const JobsOnNodes& /*placed*/) {
  const JobSpec& spec = change.job.spec;
  if (!is_one_per_domain(spec)) return std::nullopt;
  std::set<std::string> domains;
  for (const NodeId node : change.stay) domains.insert(domain_of(state, spec, node));
  for (const NodeId node : change.join) {
    const std::string domain = domain_of(state, spec, node);
    if (domains.insert(domain).second) continue;
    return change.job.id.text() + " would have two workers in " + domain_text(domain, spec.placement.key);
  }
  return std::nullopt;
}

// Those that join are whole groups, one after the other, and each is in one domain.
Broken groups_share_a_domain(const ClusterState& state, const GangChange& change, const JobsOnNodes& /*placed*/) {
  const JobSpec& spec = change.job.spec;
  if (!has_groups(spec)) return std::nullopt;
  const auto each = static_cast<std::size_t>(spec.elastic.group);
  if (change.join.size() % each != 0) {
    return std::to_string(change.join.size()) + " workers would join " + change.job.id.text() +
           ", which are no whole groups of " + std::to_string(each);
  }
  for (std::size_t at = 0; at < change.join.size(); ++at) {
    const std::string first = domain_of(state, spec, change.join[at - at % each]);
    const std::string other = domain_of(state, spec, change.join[at]);
    if (first == other) continue;
    return "a group of " + change.job.id.text() + " would be in " + domain_text(first, spec.placement.key) +
           " and in " + domain_text(other, spec.placement.key);
  }
  return std::nullopt;
}

// In either direction: the job shares no node of an exclusive one, and an exclusive one shares none with any.
Broken shares_no_exclusive_node(const ClusterState& state, const GangChange& change, const JobsOnNodes& placed) {
  for (const NodeId id : change.join) {
    const Node* node = state.find_node(id);
    if (node == nullptr) continue;
    IdSet<JobId> others;
    WorkerId last;  // slots of one worker mostly stand side by side
    for (const WorkerId owner : node->owners) {
      if (owner && owner != last) others.insert(state.find_worker(owner)->job);
      last = owner;
    }
    if (const auto more = placed.find(id); more != placed.end()) others.insert(more->second);
    for (const JobId other : others) {
      const bool is_kept = change.job.spec.placement.exclusive || state.find_job(other)->spec.placement.exclusive;
      if (other == change.job.id || !is_kept) continue;
      return change.job.id.text() + " would share " + id.text() + " with " + other.text();
    }
  }
  return std::nullopt;
}

constexpr std::array kRules{
    GangRule{.law = "WorkersShareADomain", .broken = shares_a_domain},
    GangRule{.law = "DomainsHaveOneWorker", .broken = has_domains_of_its_own},
    GangRule{.law = "GroupsShareADomain", .broken = groups_share_a_domain},
    GangRule{.law = "NodesAreExclusive", .broken = shares_no_exclusive_node},
};

}  // namespace

std::span<const GangRule> gang_rules() {
  return kRules;
}

int workers_by_rules(const ClusterState& state, const JobSpec& spec, const std::vector<RoomOnNode>& rooms,
                     const std::vector<NodeId>& stay) {
  if (!has_strict_topology(spec) && !has_groups(spec)) {
    return std::accumulate(rooms.begin(), rooms.end(), 0,
                           [](int sum, const RoomOnNode& room) { return sum + room.workers; });
  }
  std::set<std::string> held;
  for (const NodeId node : stay) held.insert(domain_of(state, spec, node));
  std::map<std::string, int> room_in;
  for (const RoomOnNode& room : rooms) {
    if (room.workers > 0) room_in[domain_of(state, spec, room.node)] += room.workers;
  }
  if (is_one_per_domain(spec)) {
    return static_cast<int>(
        std::count_if(room_in.begin(), room_in.end(), [&](const auto& entry) { return !held.contains(entry.first); }));
  }
  for (auto& [domain, workers] : room_in) workers -= workers % spec.elastic.group;
  if (!has_strict_topology(spec)) {
    return std::accumulate(room_in.begin(), room_in.end(), 0,
                           [](int sum, const auto& entry) { return sum + entry.second; });
  }
  if (held.size() > 1) return 0;
  int most = 0;
  for (const auto& [domain, workers] : room_in) {
    if (held.empty() || held.contains(domain)) most = std::max(most, workers);
  }
  return most;
}

}  // namespace tidepool::core
