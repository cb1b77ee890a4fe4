// What the cluster would hold of a job if no other were there: for how many of its workers there is room, and whether
// slots are cheap enough for it. A job for which that is not enough waits for slots of which there are never enough.
//
// Rule: both answers stand until clear(), and jobs that ask for the same are counted once; so it is cleared whenever
// nodes change. Of which jobs room is asked at all is the caller's rule: tidal sells slots without laying them out and
// asks of every gang (TidalPlanner), rows are laid out (lawful_plan.hpp) and ask of jobs bound to nodes or one type.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <tuple>

#include "core/place/least_price.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::policies::cluster {

class EmptyCluster {
 public:
  // Workers of the job that there is room for. `demand`: EngineRows::demand_of the job.
  [[nodiscard]] int workers_of(const core::ClusterState& state, const core::Job& job, std::size_t demand);
  // The same as far as it was asked of this or of an equal job.
  [[nodiscard]] std::optional<int> known_workers_of(const core::Job& job, std::size_t demand) const;
  // At its smallest size, by its price cap.
  [[nodiscard]] bool is_cheap_enough_for(const core::ClusterState& state, const core::Job& job) {
    return least_prices_.allow(state, job);
  }
  void clear();

 private:
  using Asked = std::tuple<int, bool, std::size_t>;  // slots of a worker, mixed types, demand
  [[nodiscard]] static Asked asked_by(const core::Job& job, std::size_t demand) {
    return {job.spec.gpus_per_worker, job.spec.mixed_types, demand};
  }

  std::map<Asked, int> workers_;
  core::LeastPrices least_prices_;
};

}  // namespace tidepool::policies::cluster
