// The engine's records as the rows that policies for the whole cluster read. Rows are kept between plans and made anew
// for jobs that have changed, so a plan costs little where little has changed; what they say follows from the state
// and the time alone, whatever was followed before.
//
// Rules. Sizes are in slots. A row's placement is what the job will hold when nobody decides anything more: leavers are
// left out, newcomers counted in. Slots of jobs that are fixed claims (they follow a policy of their own, or their user
// has pinned their size) are taken off their nodes and the jobs left out while they run; while they wait they are rows
// with one size. Attained service is as of the job's newest fact, so that it follows from the state. A job of which
// nothing can be measured (its program reports no steps) has one size, too. Priority p counts as weight
// 2^p. All slots are taken to be alike.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "policies/cluster/cluster_view.hpp"
#include "policies/cluster/job_speed.hpp"
#include "schedulerd/core/policy.hpp"

namespace tidepool::policies::cluster {

class EngineRows {
 public:
  // The job is new, has changed or has ended.
  void follow(const core::ClusterState& state, JobId job);
  // Valid until the next call. Claims that run are in `claims`, not in the view.
  struct Rows {
    View view;
    std::vector<JobId> claims;
    int capacity = 0;  // slots of nodes that take jobs, claims or not
  };
  [[nodiscard]] Rows rows(const core::PlanRequest& request);

 private:
  struct Kept {
    JobRow row;
    std::unique_ptr<JobSpeed> speed;
  };
  const Kept& kept(const core::ClusterState& state, const core::Job& job);
  void follow_nodes(const core::ClusterState& state);
  [[nodiscard]] Placement placement_of(const core::ClusterState& state, const core::Job& job) const;

  std::map<JobId, Kept> kept_;
  std::vector<NodeId> nodes_;      // that are up, by id
  std::map<NodeId, int> index_;    // into nodes_
  std::map<JobId, double> ended_;  // slot-seconds of jobs that have succeeded
};

}  // namespace tidepool::policies::cluster
