#include "policies/engine/empty_cluster.hpp"

#include "core/place/placement.hpp"

namespace tidepool::policies::cluster {

int EmptyCluster::workers_of(const core::ClusterState& state, const core::Job& job, std::size_t demand) {
  const auto [workers, is_new] = workers_.try_emplace(asked_by(job, demand), 0);
  if (is_new) workers->second = core::empty_cluster_capacity(state, job);
  return workers->second;
}

std::optional<int> EmptyCluster::known_workers_of(const core::Job& job, std::size_t demand) const {
  const auto workers = workers_.find(asked_by(job, demand));
  return workers == workers_.end() ? std::nullopt : std::optional(workers->second);
}

void EmptyCluster::clear() {
  workers_.clear();
  least_prices_.clear();
}

}  // namespace tidepool::policies::cluster
