// tidal inside an engine: a market that is kept between decisions (market_state.hpp), so that a plan costs what has
// changed. Its answer follows from the state and the time alone; a planner that was made a moment ago leads to the same
// plan.
//
// Where workers lie is the engine's business and its records know sizes, not nodes, so nothing is laid out here: a job
// is given what it bought, if its workers have several slots as far as nodes have room for them (gang_room.hpp). Jobs
// that may be on some nodes only first share these out (node_shares.hpp), and bid for no more than their share;
// deadlines are promised in rounds (promise_book.hpp), and what is promised is had at any price.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "core/decide/policy.hpp"
#include "core/state/node_constraints.hpp"
#include "policies/cluster/empty_cluster.hpp"
#include "policies/cluster/engine_rows.hpp"
#include "policies/tidal/gang_room.hpp"
#include "policies/tidal/market_state.hpp"
#include "policies/tidal/node_shares.hpp"
#include "policies/tidal/participants.hpp"
#include "policies/tidal/promise_book.hpp"
#include "policies/tidal/reasons.hpp"

namespace tidepool::policies::tidal {

class TidalPlanner final : public core::Planner {
 public:
  explicit TidalPlanner(const Settings& settings = {});

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
  void note_change(JobId job);
  [[nodiscard]] Market::Settlement settle(Instant now, Jobs& jobs);
  void fit_gangs(Instant now);
  [[nodiscard]] std::vector<GangRoom::Stayer> may_leave(Instant now) const;
  [[nodiscard]] std::optional<GangRoom::Stayer> stayer_of(JobId job, const Part& part, Instant now) const;
  // It runs, or an empty cluster would hold it.
  [[nodiscard]] bool may_ever_run(const core::ClusterState& state, const core::Job& job);
  void look_at_room(Instant now, Jobs& jobs);
  void find_next_in_line();
  void tell_news(const core::PlanRequest& request, const Terms& terms, core::PlanAnswer& answer);
  void bid(const core::PlanRequest& request, Jobs& jobs);
  void offer(cluster::JobRow row, Instant at);
  void offer_promised(JobId job);
  // Of a job that bids, whether its share is shut or not.
  [[nodiscard]] const cluster::JobRow& row_of(JobId job) const;
  [[nodiscard]] int bought(JobId job) const;
  [[nodiscard]] GangRoom::Change change_of(JobId job) const;
  [[nodiscard]] int capacity() const { return nodes_.slots + parts_.on_closed(); }
  [[nodiscard]] int room() const { return std::min(capacity(), slots_most_) - parts_.claimed(); }
  // Why a job that bids is given so many slots.
  [[nodiscard]] cluster::Told why(JobId job, int given, const Terms& terms) const;
  // What it is given, and why; weigh_others() adds its score and the sizes that lost, which are needed only for a job
  // with news.
  [[nodiscard]] core::Target target_of_bidder(const core::ClusterView& view, const core::Job& job,
                                              const Terms& terms) const;
  struct Weighed {
    const cluster::JobRow* row = nullptr;
    const Curve* curve = nullptr;
    int given = 0;
  };
  static void weigh_others(const Weighed& weighed, const Terms& terms, core::Target& target);
  [[nodiscard]] core::Target target_of(const core::ClusterView& view, const core::Job& job, const Terms& terms);
  void add_words(const core::Job& job, const Terms& terms, core::Target& target) const;
  [[nodiscard]] core::Target shut_out(const core::Job& job) const;
  [[nodiscard]] core::Target misfit(const core::ClusterState& state, const core::Job& job);
  // Slots: what it bought, as far as there is room.
  [[nodiscard]] int given_to(JobId job, int bought) const;

  Settings settings_;
  std::unique_ptr<MarketState> market_state_;  // none until the first plan
  NodeShares shares_;
  PromiseBook promises_;
  cluster::EngineRows rows_;
  // That all else counts with.
  struct KnownNodes {
    std::uint64_t digest = 0;
    int slots = 0;  // of nodes that take jobs
    int slots_per_node = 1;
  };
  KnownNodes nodes_;
  int slots_most_ = std::numeric_limits<int>::max();  // PlanRequest::slots_most
  cluster::EmptyCluster empty_cluster_;
  int bid_room_ = -1;  // slots that the rows in the market state were made for
  Participants parts_;
  int told_capacity_ = -1;  // slots that the newest reasons were given for
  // Of the jobs that bid, as of the newest settlement: those that are to have less than they hold, those that go on at
  // another size, and those whose workers have several slots and that are to have more. What the last get there is room
  // for, where that is less; and nothing for those that leave so that there is.
  IdSet<JobId> giving_;
  IdSet<JobId> resized_;
  IdSet<JobId> wanting_gangs_;
  IdTable<JobId, int> cut_;
  IdSet<JobId> waiting_;    // gangs for which some of these leave once all of them may
  int held_for_gangs_ = 0;  // slots of those
  IdSet<JobId> without_;    // of these, those that hold nothing and get nothing: what they bought is sold to others
  DueTimes resizable_at_;   // when sizes can change again, of those that bid
  JobId next_in_line_;      // whose bid found no room first, as of the newest plan; none = all bids got all
  bool has_price_ = false;  // a slot, likewise
  Jobs spared_;             // PlanRequest::spared
  Jobs followed_;           // since they were read last
  Jobs unsent_updates_;     // jobs with possible news that the state does not tell yet
};

// tidal as an engine runs it: its market lives between decisions.
[[nodiscard]] std::unique_ptr<const core::Policy> make_tidal(std::string_view name);

}  // namespace tidepool::policies::tidal
