// tidal inside an engine: a market that is kept between decisions (tide.hpp), so that a plan costs what has changed.
// Its answer follows from the state and the time alone; a planner that was made a moment ago leads to the same plan.
//
// Where workers lie is the engine's business and its records know sizes, not nodes, so nothing is laid out here: a job
// is given what it bought. While any job has workers of several slots, a deadline or a wish for a type of slot,
// everybody is planned anew each time and laid out (whole_cluster_policy.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "policies/cluster/engine_rows.hpp"
#include "policies/cluster/whole_cluster_policy.hpp"
#include "policies/tidal/reasons.hpp"
#include "policies/tidal/tide.hpp"
#include "schedulerd/core/policy.hpp"

namespace tidepool::policies::tidal {

class TidePlanner final : public core::ClusterPlanner {
 public:
  explicit TidePlanner(const Settings& settings = {});

  void follow(const core::ClusterState& state, JobId job) override;
  void booked() override { unbooked_.clear(); }
  [[nodiscard]] Result<core::PlanAnswer> plan(const core::PlanRequest& request, core::StepBudget& budget) override;

 private:
  // What a job takes part with, beside its row in the tide.
  struct Part {
    bool sized = false;            // it bids; else it is a claim that runs
    int slots = 0;                 // of a claim: those that it holds on nodes that are up
    int on_cordoned = 0;           // those of them, or of a row, on nodes that are cordoned
    std::optional<Instant> thaws;  // of a row: when its size can change again
  };

  void look_at_nodes(const core::PlanRequest& request);
  [[nodiscard]] std::set<JobId> stale(const core::PlanRequest& request);
  void read(const core::PlanRequest& request, const std::set<JobId>& jobs);
  void forget(JobId job);
  void bid(const core::PlanRequest& request, const std::set<JobId>& jobs);
  [[nodiscard]] int capacity() const { return node_slots_ + on_cordoned_; }
  [[nodiscard]] int room() const { return capacity() - claimed_; }
  [[nodiscard]] core::Allotment allotment(const core::Job& job, const Terms& terms) const;

  Settings settings_;
  std::unique_ptr<core::ClusterPlanner> whole_;
  // Jobs that have not ended and that a market of single, equal slots cannot serve: their workers need several slots
  // of one node, they have a deadline, or they ask for a type of slot.
  std::set<JobId> particular_;

  std::unique_ptr<Tide> tide_;  // none until the first plan, and while there are such jobs
  cluster::EngineRows rows_;
  std::uint64_t nodes_ = 0;  // digest of those that the rest counts with
  int node_slots_ = 0;       // of nodes that take jobs
  int slots_per_node_ = 1;
  int bid_room_ = -1;  // slots that the rows in the tide were made for
  std::map<JobId, Part> parts_;
  int claimed_ = 0;  // sums over parts_
  int on_cordoned_ = 0;
  std::set<std::pair<Instant, JobId>> thaws_;
  JobId next_in_line_;        // whose bid found no room first, as of the newest plan; none = everybody got all
  std::set<JobId> followed_;  // since they were read last
  std::set<JobId> unbooked_;  // whose allotment may not be what the state says
};

// tidal as an engine runs it.
class LiveTidal final : public cluster::WholeClusterPolicy {
 public:
  LiveTidal();
  [[nodiscard]] std::unique_ptr<core::ClusterPlanner> planner() const override;
};

}  // namespace tidepool::policies::tidal
