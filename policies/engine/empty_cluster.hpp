// What the cluster would hold of a job without any other job: how many of its workers have room, and whether slots are
// cheap enough for it. A job for which that is not enough waits for slots of which there are never enough.
//
// Rule: both answers are valid until clear(), and jobs with equal requests are counted once; so the owner calls clear()
// whenever nodes change. The caller decides for which jobs room is computed: tidal sells slots without laying them out
// and checks every gang (TidalPlanner); rows are laid out (lawful_plan.hpp), and check jobs bound to nodes or one type.
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
  // The number of the job's workers that have room. `demand`: EngineRows::demand_of the job.
  [[nodiscard]] int workers_of(const core::ClusterState& state, const core::Job& job, std::size_t demand);
  // The same if it was already computed for this or an equal job.
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
