// The engine's records as the rows that policies for the whole cluster read. Rows are kept between plans and made again
// for jobs that have changed, so a plan costs little where little has changed; their contents follow from the state and
// the time alone, whatever was followed before.
//
// Rules. Sizes are in slots. A row's placement is what the job will hold if no further decision follows: leaving
// workers are excluded, joining workers included. While jobs that are fixed claims run (they follow a pinned policy, or
// their user has pinned their size), their slots are subtracted from their nodes and the jobs are left out; while they
// wait, they are rows with one size. Attained service is as of the job's newest fact, so that it follows from the
// state. Where its user declares no work, a measured job is expected to take what jobs as fast on its type of slot took
// (similar_jobs.hpp). At a size at which it was not measured it is expected to be as fast as its kin were there
// (similar_job_sizes.hpp). A job that cannot be measured (its program reports no steps) also has one size. Priority p
// counts as weight 2^p. All slots count as equally fast (the types and prices of nodes can be read), but no job has a
// size beyond what there is of one type that it may use, unless it mixes types.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/id_table.hpp"
#include "core/decide/policy.hpp"
#include "policies/cluster/cluster_view.hpp"
#include "policies/engine/demanded_nodes.hpp"
#include "policies/engine/ended_service.hpp"
#include "policies/engine/job_speed.hpp"
#include "policies/engine/similar_job_sizes.hpp"
#include "policies/engine/similar_jobs.hpp"
#include "policies/engine/type_ratios.hpp"
#include "policies/size/size_limits.hpp"

namespace tidepool::policies::cluster {

// How the policy treats sizes that a job has never had.
enum class RowStyle {
  kAllSizes,     // it may choose from all that the job allows
  kExperiments,  // in small steps (size_explorer.hpp)
};

class EngineRows {
 public:
  explicit EngineRows(RowStyle style = RowStyle::kAllSizes) : style_(style) {}

  // The job is new, has changed or has ended. Returns the other jobs whose expected values change because of that, so
  // that their rows will change.
  std::vector<JobId> follow(const core::ClusterState& state, JobId job);
  // Valid until the next call. Running claims are in `claims`, not in the view.
  struct Rows {
    View view;
    std::vector<JobId> claims;
    // Jobs that wait for slots of a type of which there are never enough, with how many there are; they are neither in
    // the view nor in `claims`.
    std::vector<std::pair<JobId, int>> misfits;
    int capacity = 0;  // slots of nodes that take jobs, claims or not
  };
  // With PlanRequest::slots_most the nodes of the view have at most that many slots together, including claims; it may
  // be fewer than the rows hold.
  [[nodiscard]] Rows rows(const core::PlanRequest& request);

  // One row at a time, for a planner that keeps the rest itself. Valid until the job is followed again or the nodes
  // change.
  struct Terms {
    bool has_own_policy = false;
    int room = 0;             // slots that all rows may have together: no row wants more than there is
    bool lists_nodes = true;  // the row names the nodes that it requests
    bool spared = false;      // of PlanRequest::spared
  };
  [[nodiscard]] JobRow row(const core::ClusterView& view, const core::Job& job, Terms terms);
  [[nodiscard]] const Placement& placement(const core::ClusterState& state, const core::Job& job);
  // It requests particular nodes: by their properties, or because its price cap excludes others (price_cap.hpp).
  [[nodiscard]] bool asks(const core::ClusterState& state, const core::Job& job) const {
    return nodes_.asks_for_nodes(state, job);
  }
  // The nodes on which further workers of the job may be, by index, ascending: the nodes that it requests, limited to
  // the type that it is on; null = all. Valid until nodes change.
  [[nodiscard]] const std::vector<int>* nodes_open_to(const core::ClusterState& state, const core::Job& job);
  // A number for its node request: equal requests have equal numbers until nodes join or leave.
  [[nodiscard]] std::size_t demand_of(const core::ClusterState& state, const core::Job& job) {
    return kept(state, job).demand;
  }
  // The nodes that are up; a Share's `node` is an index into them.
  void follow_nodes(const core::ClusterState& state);
  [[nodiscard]] const std::vector<NodeId>& nodes() const { return nodes_.up(); }
  // The nodes that take jobs have slots of more than one type.
  [[nodiscard]] bool has_several_types() const { return nodes_.has_several_types(); }

 private:
  struct Kept {
    std::optional<JobSpeed> speed;  // which the row points to
    core::ScalingSpec scaling;      // likewise
    std::optional<JobRow> row;      // none: it must be made
    std::size_t demand = 0;         // of nodes, as demand_of() says; known once the row is made
  };
  const Kept& kept(const core::ClusterState& state, const core::Job& job);
  [[nodiscard]] JobSpeed speed_of(const core::Job& job);
  [[nodiscard]] JobRow made(const core::ClusterState& state, const core::Job& job, const JobSpeed& speed);
  [[nodiscard]] DemandedNodes::SizePrices prices_of(const core::ClusterState& state, const core::Job& job);
  // No size beyond what its price cap allows, except what it holds: the engine would place none.
  void cut_to_cap(const core::ClusterState& state, const core::Job& job, AllowedSizes& ladder);
  // Sets why a job may not have the next of its own sizes, if its cap is the reason.
  void bound_by_cap(const core::ClusterState& state, const core::Job& job, JobRow& row);
  // Limits the job to the nodes that it requests.
  void bind_to_nodes(const core::ClusterState& state, const core::Job& job, JobRow& row);
  [[nodiscard]] Placement placement_of(const core::ClusterState& state, const core::Job& job) const;
  [[nodiscard]] std::vector<NodeRow> node_rows(const core::ClusterState& state) const;
  void add_held_on_closed(const core::ClusterState& state, const Placement& held, View& view) const;
  // Removes slots from the view until the jobs other than claims have at most this many.
  void limit_others(const core::ClusterState& state, const std::vector<JobId>& others, int slots_most, View& view);
  // By node: some of the jobs requests it.
  [[nodiscard]] std::vector<bool> asked_for(const core::ClusterState& state, const std::vector<JobId>& jobs);
  [[nodiscard]] std::vector<int> slots_by_node(const core::ClusterState& state, const std::vector<JobId>& jobs);
  [[nodiscard]] std::vector<int> sizes_of(const core::ClusterState& state, const core::Job& job, const Terms& terms);

  RowStyle style_;
  IdTable<JobId, Kept> kept_;
  SimilarJobs kin_;            // the jobs that ask there have rows in kept_
  TypeRatios ratios_;          // likewise
  SimilarJobSizes kin_sizes_;  // likewise
  DemandedNodes nodes_;
  EndedService ended_;  // of jobs that have succeeded
  void follow_ended(const core::ClusterState& state, JobId id);
  void forget(JobId id);
};

// A job that runs as a fixed claim: the view leaves it out, and its slots.
[[nodiscard]] bool is_claim(const core::Job& job, bool has_own_policy);

}  // namespace tidepool::policies::cluster
