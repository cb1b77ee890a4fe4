#include "core/state/worker_groups.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "base/id_set.hpp"
#include "core/state/node_labels.hpp"

namespace tidepool::core {
namespace {

using Workers = std::vector<WorkerId>;

std::vector<Workers> groups_of(const Job& job) {
  std::vector<Workers> groups;
  const auto each = static_cast<std::size_t>(job.spec.elastic.group);
  for (std::size_t rank = 0; rank < job.membership.members.size(); ++rank) {
    if (rank % each == 0) groups.emplace_back();
    groups.back().push_back(job.membership.members[rank]);
  }
  return groups;
}

}  // namespace

Workers with_groups(const Job& job, const Workers& members) {
  if (!has_groups(job.spec)) return members;
  Workers all;
  const IdSet<WorkerId> named(members.begin(), members.end());
  for (const Workers& group : groups_of(job)) {
    const bool is_named = std::any_of(group.begin(), group.end(), [&](WorkerId id) { return named.contains(id); });
    if (is_named) all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

bool are_whole_groups(const Job& job, const Workers& members) {
  return with_groups(job, members).size() == members.size();
}

Workers in_whole_groups(const ClusterState& state, const Job& job, const Workers& workers) {
  if (!has_groups(job.spec)) return workers;
  const auto each = static_cast<std::size_t>(job.spec.elastic.group);
  Workers whole;
  const IdSet<WorkerId> there(workers.begin(), workers.end());
  for (const Workers& group : groups_of(job)) {
    const bool is_there = std::all_of(group.begin(), group.end(), [&](WorkerId id) { return there.contains(id); });
    if (is_there && group.size() == each) whole.insert(whole.end(), group.begin(), group.end());
  }
  const IdSet<WorkerId> in_groups(whole.begin(), whole.end());
  std::map<std::string, Workers> left_in;
  for (const WorkerId id : workers) {
    const Node& node = *state.find_node(state.find_worker(id)->node);
    if (!in_groups.contains(id)) left_in[domain_of(node, job.spec.placement.key)].push_back(id);
  }
  for (auto& [domain, left] : left_in) {
    left.resize(left.size() / each * each);
    whole.insert(whole.end(), left.begin(), left.end());
  }
  return whole;
}

}  // namespace tidepool::core
