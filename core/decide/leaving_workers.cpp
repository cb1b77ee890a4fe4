#include "core/decide/leaving_workers.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "core/place/gang_rules.hpp"
#include "core/place/together.hpp"
#include "core/state/measured/straggler_patience.hpp"
#include "core/state/membership.hpp"
#include "core/state/node_labels.hpp"
#include "core/state/worker_groups.hpp"

namespace tidepool::core {
namespace {

// The domains of the members, by rank.
std::vector<std::string> domains_of(const ClusterState& state, const Job& job) {
  std::vector<std::string> domains;
  domains.reserve(job.membership.members.size());
  for (const WorkerId id : job.membership.members) {
    domains.push_back(domain_of(*state.find_node(state.find_worker(id)->node), job.spec.placement.key));
  }
  return domains;
}

// Of a job that is spread: each time one of the domain with most that are left, from the end of the rank order.
std::vector<WorkerId> leaving_workers_evenly(const ClusterState& state, const Job& job, int count) {
  const std::vector<std::string> domains = domains_of(state, job);
  std::map<std::string, int> left;
  for (const std::string& domain : domains) ++left[domain];
  const int first = count < job.size() ? 1 : 0;  // rank 0 stays
  std::set<int> leaving;
  while (static_cast<int>(leaving.size()) < count) {
    int best = -1;
    for (int rank = job.size(); rank-- > first;) {
      if (leaving.contains(rank)) continue;
      if (best < 0 || left[domains[static_cast<std::size_t>(rank)]] > left[domains[static_cast<std::size_t>(best)]]) {
        best = rank;
      }
    }
    --left[domains[static_cast<std::size_t>(best)]];
    leaving.insert(best);
  }
  std::vector<WorkerId> workers;
  workers.reserve(leaving.size());
  for (const int rank : leaving) workers.push_back(job.membership.members[static_cast<std::size_t>(rank)]);
  return workers;
}

}  // namespace

std::vector<WorkerId> leaving_workers_of(DecisionDraft& draft, const Job& job, int count) {
  const ClusterState& state = draft.state();
  if (has_groups(job.spec)) return {job.membership.members.end() - count, job.membership.members.end()};
  if (job.spec.placement.strategy == TopologyStrategy::kSpread) return leaving_workers_evenly(state, job, count);
  const std::vector<WorkerId>& members = job.membership.members;
  const auto node_of = [&](int rank) { return state.find_worker(members[static_cast<std::size_t>(rank)])->node; };
  const std::set<std::string>& asked = draft.types_asked_for();
  const bool gives_types = !asked.empty() && job.spec.slot_types.empty() && job.spec.mixed_types;
  const auto is_slow = [&](int rank) {
    const Worker& worker = *state.find_worker(members[static_cast<std::size_t>(rank)]);
    return worker.track.slow_steps >= kStragglerStreak || job.shares.rebalanced.contains(worker.id);
  };
  // Slow workers leave first, and then each node is left by all others before the next one is: their counts are enough.
  WorkersOn workers_on = nodes_of(state, members);
  for (int rank = 1; rank < job.size(); ++rank) workers_on[node_of(rank)] -= is_slow(rank) ? 1 : 0;
  std::map<NodeId, int> last_rank_on;
  for (int rank = 0; rank < job.size(); ++rank) last_rank_on[node_of(rank)] = rank;
  const auto place_in_order = [&](int rank) {
    const NodeId node = node_of(rank);
    const bool is_asked = gives_types && asked.contains(state.find_node(node)->slot_type);
    return std::tuple(!is_asked, !is_slow(rank), workers_on.at(node), -last_rank_on.at(node), -rank);
  };
  std::vector<int> ranks;
  for (int rank = count < job.size() ? 1 : 0; rank < job.size(); ++rank) ranks.push_back(rank);
  std::sort(ranks.begin(), ranks.end(),
            [&](int one, int other) { return place_in_order(one) < place_in_order(other); });
  ranks.resize(static_cast<std::size_t>(count));
  std::sort(ranks.begin(), ranks.end());
  std::vector<WorkerId> leaving_workers;
  leaving_workers.reserve(ranks.size());
  for (const int rank : ranks) leaving_workers.push_back(members[static_cast<std::size_t>(rank)]);
  return leaving_workers;
}

}  // namespace tidepool::core
