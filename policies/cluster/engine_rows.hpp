// The engine's records as the rows that policies for the whole cluster read. Rows are kept between plans and made anew
// for jobs that have changed, so a plan costs little where little has changed; what they say follows from the state
// and the time alone, whatever was followed before.
//
// Rules. Sizes are in slots. A row's placement is what the job will hold if no further decision follows: leaving
// workers are left out, joining workers counted in. Slots of jobs that are fixed claims (they follow a pinned policy,
// or their user has pinned their size) are taken off their nodes and the jobs left out while they run; while they wait
// they are rows with one size. Attained service is as of the job's newest fact, so that it follows from the state.
// Where its user declares no work, a job that was measured is expected to take what jobs as fast on its type
// of slot took (similar_jobs.hpp). A size at which it was not measured is expected to be as fast as its kin were there
// (kin_sizes.hpp). A job of which nothing can be measured (its program reports no steps) has one size, too. Priority p
// counts as weight 2^p. All slots count as equally fast (the types and prices of nodes are there to be read), but no
// job has a size beyond what there is of one type that it may be on, unless it mixes types.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/id_table.hpp"
#include "base/money.hpp"
#include "core/decide/policy.hpp"
#include "core/place/least_price.hpp"
#include "core/state/node_constraints.hpp"
#include "policies/cluster/cluster_view.hpp"
#include "policies/cluster/job_speed.hpp"
#include "policies/cluster/kin_sizes.hpp"
#include "policies/cluster/similar_jobs.hpp"
#include "policies/cluster/type_ratios.hpp"
#include "policies/size/size_limits.hpp"

namespace tidepool::policies::cluster {

// How the policy meets sizes that a job has never had.
enum class RowStyle {
  kAllSizes,     // it may choose from all that the job allows
  kExperiments,  // in small steps (size_explorer.hpp)
};

class EngineRows {
 public:
  explicit EngineRows(RowStyle style = RowStyle::kAllSizes) : style_(style) {}

  // The job is new, has changed or has ended. Returns of which others something else is expected by that, so that their
  // rows will be others, too.
  std::vector<JobId> follow(const core::ClusterState& state, JobId job);
  // Valid until the next call. Claims that run are in `claims`, not in the view.
  struct Rows {
    View view;
    std::vector<JobId> claims;
    // Jobs that wait for slots of a type of which there are never enough, with how many there are: in neither.
    std::vector<std::pair<JobId, int>> misfits;
    int capacity = 0;  // slots of nodes that take jobs, claims or not
  };
  // With PlanRequest::slots_most the nodes of the view have no more slots together, claims counted in; it may be fewer
  // than the rows hold.
  [[nodiscard]] Rows rows(const core::PlanRequest& request);

  // One by one, for a planner that keeps the rest itself. Valid until the job is followed again or the nodes change.
  struct Terms {
    bool has_own_policy = false;
    int room = 0;             // slots that all rows may have together: no row wants more than there is
    bool lists_nodes = true;  // those that it asks for are named in the row
    bool spared = false;      // of PlanRequest::spared
  };
  [[nodiscard]] JobRow row(const core::ClusterView& view, const core::Job& job, Terms terms);
  [[nodiscard]] const Placement& placement(const core::ClusterState& state, const core::Job& job);
  // It asks for particular nodes: by what they are, or because its price cap keeps it from others (price_cap.hpp).
  [[nodiscard]] bool asks(const core::ClusterState& state, const core::Job& job) const;
  // The nodes on which further workers of the job may be, by index, ascending: those that it asks for, and of these
  // those of the type that it is on; null = all. Valid until nodes change.
  [[nodiscard]] const std::vector<int>* nodes_open_to(const core::ClusterState& state, const core::Job& job);
  // A number for what it asks of nodes: jobs that ask for the same have the same one until nodes come or go.
  [[nodiscard]] std::size_t demand_of(const core::ClusterState& state, const core::Job& job) {
    return kept(state, job).demand;
  }
  // The nodes that are up; what a Share's `node` counts.
  void follow_nodes(const core::ClusterState& state);
  [[nodiscard]] const std::vector<NodeId>& nodes() const { return nodes_; }
  // The nodes that take jobs have slots of more than one type.
  [[nodiscard]] bool has_several_types() const { return open_.size() > 1; }

 private:
  struct Kept {
    std::optional<JobSpeed> speed;  // which the row points to
    core::ScalingSpec scaling;      // likewise
    std::optional<JobRow> row;      // none: it is to be made
    std::size_t demand = 0;         // of nodes, as demand_of() says; known once the row is made
  };
  const Kept& kept(const core::ClusterState& state, const core::Job& job);
  [[nodiscard]] JobSpeed speed_of(const core::Job& job);
  [[nodiscard]] JobRow made(const core::ClusterState& state, const core::Job& job, const JobSpeed& speed);
  void count_types(const core::ClusterState& state);
  void look_at_prices(const core::ClusterState& state);
  // Of jobs that ask for the same the same; a price cap counts as the highest price that is within it.
  [[nodiscard]] core::NodeDemand demand_made(const core::ClusterState& state, const core::Job& job) const;
  // What jobs may be on that ask for the same.
  struct Asked {
    std::vector<int> nodes;                           // by index, ascending
    std::map<std::string, std::vector<int>> of_type;  // likewise
    std::map<std::string, int> slots;                 // of those that take jobs, by type
    core::RoomsByPrice::OfTypes at_prices;            // likewise
  };
  struct SizePrices {
    Money held;  // of what it holds, an hour
    int held_slots = 0;
    core::RoomsByPrice rooms;  // for slots beside these
    // What an hour of so many slots costs it at least, all further ones as dear as the dearest of them; none: it asks
    // for nodes that have fewer. Requires: slots > held_slots.
    [[nodiscard]] std::optional<Money> of(int slots) const;
  };
  [[nodiscard]] SizePrices prices_of(const core::ClusterState& state, const core::Job& job);
  // No size beyond what its price cap leaves, but for what it holds: the engine would place none.
  void cut_to_cap(const core::ClusterState& state, const core::Job& job, AllowedSizes& ladder);
  // Why a job may not have the next of its own sizes, if that is its cap.
  void bound_by_cap(const core::ClusterState& state, const core::Job& job, JobRow& row);
  [[nodiscard]] const Asked& asked(const core::ClusterState& state, const core::Job& job);
  // Slots that it could have if there were no other job: of the nodes that it asks for, and of one type at a time
  // unless it mixes them.
  [[nodiscard]] int reach_of(const core::ClusterState& state, const core::Job& job);
  // The nodes that it asks for are the only ones it may be on.
  void bind_to_nodes(const core::ClusterState& state, const core::Job& job, JobRow& row);
  [[nodiscard]] Placement placement_of(const core::ClusterState& state, const core::Job& job) const;
  // By node: some of the jobs asks for it.
  [[nodiscard]] std::vector<bool> asked_for(const core::ClusterState& state, const std::vector<JobId>& jobs);
  [[nodiscard]] std::vector<int> slots_by_node(const core::ClusterState& state, const std::vector<JobId>& jobs);
  [[nodiscard]] std::vector<int> sizes_of(const core::ClusterState& state, const core::Job& job, const Terms& terms);

  RowStyle style_;
  IdTable<JobId, Kept> kept_;
  SimilarJobs kin_;                  // the jobs that ask there have rows in kept_
  TypeRatios ratios_;                // likewise
  KinSizes kin_sizes_;               // likewise
  std::vector<NodeId> nodes_;        // that are up, by id
  IdTable<NodeId, int> index_;       // into nodes_
  std::map<std::string, int> open_;  // slots of nodes that take jobs, by type
  double slot_price_ = 0;            // of these in the mean, an hour
  Money dearest_;                    // of these
  std::vector<Money> prices_;        // of slots of nodes_, ascending
  std::map<core::NodeDemand, std::size_t> demands_;
  std::deque<std::optional<Asked>> asked_;  // by demand, as far as asked; pointers into it last while it grows
  void follow_ended(const core::ClusterState& state, JobId id);
  void forget(JobId id);
  void note_end(JobId id, Duration slot_time);
  void close_gaps();
  std::vector<double> ended_;             // slot-seconds of jobs that have succeeded
  bool has_gaps_ = false;                 // it holds some of jobs that are no longer remembered
  IdTable<JobId, std::size_t> place_of_;  // of each of them in ended_
};

// A job that runs as a fixed claim: the view leaves it out, and its slots.
[[nodiscard]] bool is_claim(const core::Job& job, bool has_own_policy);

}  // namespace tidepool::policies::cluster
