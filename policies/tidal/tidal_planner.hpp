// tidal inside an engine: a market that is kept between decisions (market_state.hpp), so that the cost of a plan
// depends on what has changed. Its answer follows from the state and the time alone; a newly made planner gives the
// same plan.
//
// The engine places workers, and its records contain sizes, not nodes, so nothing is laid out here: a job gets what it
// bought and, if its workers have several slots, only as far as nodes have room for them (gang_room.hpp). Jobs that may
// use only some nodes first divide these (node_shares.hpp), and bid for no more than their share; deadlines are
// promised in rounds (promise_book.hpp), and promised slots are given at any price.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>

#include "base/id_set.hpp"
#include "core/decide/policy.hpp"
#include "policies/engine/empty_cluster.hpp"
#include "policies/engine/engine_rows.hpp"
#include "policies/tidal/due_times.hpp"
#include "policies/tidal/gang_cuts.hpp"
#include "policies/tidal/market_state.hpp"
#include "policies/tidal/node_shares.hpp"
#include "policies/tidal/participants.hpp"
#include "policies/tidal/promise_book.hpp"
#include "policies/tidal/purchases.hpp"
#include "policies/tidal/reasons.hpp"

namespace tidepool::policies::tidal {

class TidalPlanner final : public core::Planner {
 public:
  void follow(const core::ClusterState&, JobId job) override { followed_.insert(job); }
  void booked() override { unsent_updates_ = {}; }
  [[nodiscard]] bool rests(Instant now) override;
  [[nodiscard]] Result<core::PlanAnswer> plan(const core::PlanRequest& request, core::StepBudget& budget) override;

 private:
  void look_at_nodes(const core::PlanRequest& request);
  using Jobs = IdSet<JobId>;
  [[nodiscard]] Jobs stale(const core::PlanRequest& request);
  void read(const core::PlanRequest& request, const Jobs& jobs);
  void read(const core::PlanRequest& request, JobId job);
  void forget(JobId job);
  void withdraw(JobId job);
  [[nodiscard]] Market::Settlement settle(Instant now, Jobs& jobs);
  // It runs, or an empty cluster would hold it.
  [[nodiscard]] bool may_ever_run(const core::ClusterState& state, const core::Job& job);
  void look_at_room(Instant now, Jobs& jobs);
  void find_next_in_line();
  void report_changes(const core::PlanRequest& request, const Terms& terms, core::PlanAnswer& answer);
  void bid(const core::PlanRequest& request, Jobs& jobs);
  void offer(cluster::JobRow row, Instant at);
  void offer_promised(JobId job);
  [[nodiscard]] Purchases purchases() const { return {*market_state_, shares_, parts_}; }
  [[nodiscard]] int capacity() const { return nodes_.slots + parts_.on_closed(); }
  [[nodiscard]] int room() const { return std::min(capacity(), slots_most_) - parts_.claimed(); }
  // The target of a job that an empty cluster would not hold.
  [[nodiscard]] core::Target misfit(const core::ClusterState& state, const core::Job& job);

  std::unique_ptr<MarketState> market_state_;  // none until the first plan
  NodeShares shares_;
  PromiseBook promises_;
  cluster::EngineRows rows_{cluster::RowStyle::kExperiments};
  cluster::EmptyCluster empty_cluster_;
  Participants parts_;
  GangCuts cuts_;
  // The nodes as the parts above know them.
  struct KnownNodes {
    std::uint64_t digest = 0;
    int slots = 0;  // of nodes that take jobs
    int slots_per_node = 1;
  };
  KnownNodes nodes_;
  int slots_most_ = std::numeric_limits<int>::max();  // PlanRequest::slots_most
  Jobs spared_;                                       // PlanRequest::spared
  int bid_room_ = -1;                                 // slots for which the rows in the market state were made

  // Jobs to look at in the next plan.
  Jobs followed_;          // since they were read last
  DueTimes resizable_at_;  // when sizes can change again, of those that bid

  // What was reported, and what remains to be reported.
  Jobs unsent_updates_;     // jobs with possible changes that are not in the state yet
  int told_capacity_ = -1;  // slots for which the newest reasons were given
  JobId next_in_line_;  // whose bid was the first to find no room in the newest plan; none = all bids got everything
  bool has_price_ = false;  // a slot has a price, likewise
};

// tidal for an engine: its market is kept between decisions.
[[nodiscard]] std::unique_ptr<const core::Policy> make_tidal(std::string_view name);

}  // namespace tidepool::policies::tidal
