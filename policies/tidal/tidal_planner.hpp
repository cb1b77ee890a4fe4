// tidal inside an engine: a market that is kept between decisions (market_state.hpp), so that a plan costs what has
// changed. Its answer follows from the state and the time alone; a planner that was made a moment ago leads to the same
// plan.
//
// Where workers lie is the engine's business and its records know sizes, not nodes, so nothing is laid out here: a job
// is given what it bought, if its workers have several slots as far as nodes have room for them (gang_room.hpp). While
// any job has a deadline or a wish for a type of slot, all jobs are planned anew each time and laid out
// (whole_cluster_policy.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "core/decide/policy.hpp"
#include "policies/cluster/engine_rows.hpp"
#include "policies/cluster/whole_cluster_policy.hpp"
#include "policies/tidal/gang_room.hpp"
#include "policies/tidal/market_state.hpp"
#include "policies/tidal/reasons.hpp"

namespace tidepool::policies::tidal {

class TidalPlanner final : public core::Planner {
 public:
  explicit TidalPlanner(const Settings& settings = {});

  void follow(const core::ClusterState& state, JobId job) override;
  void booked() override { unsent_updates_ = {}; }
  [[nodiscard]] Result<core::PlanAnswer> plan(const core::PlanRequest& request, core::StepBudget& budget) override;

 private:
  // What a job takes part with, beside its row in the market state.
  struct Part {
    bool sized = false;  // it bids; else it is a claim that runs
    bool has_own_policy = false;
    bool fits = true;         // an empty cluster would hold it; else it neither bids nor claims
    cluster::Placement held;  // what it holds on nodes that are up
    int on_cordoned = 0;      // slots of these on nodes that are cordoned
  };

  void look_at_nodes(const core::PlanRequest& request);
  using Jobs = IdSet<JobId>;
  [[nodiscard]] Jobs stale(const core::PlanRequest& request);
  void read(const core::PlanRequest& request, const Jobs& jobs);
  void forget(JobId job);
  void note_change(JobId job);
  [[nodiscard]] Market::Settlement settle(Instant now, Jobs& jobs);
  void fit_gangs();
  [[nodiscard]] std::vector<GangRoom::Stayer> may_leave() const;
  [[nodiscard]] bool fits(const core::ClusterState& state, const core::Job& job);
  void bid(const core::PlanRequest& request, const Jobs& jobs);
  [[nodiscard]] int capacity() const { return node_slots_ + on_cordoned_; }
  [[nodiscard]] int room() const { return capacity() - claimed_; }
  // What a job that bids is given, and why; weigh_others() adds its score and the sizes that lost, which are needed
  // only for a job with news.
  // Why the job is given so many slots.
  [[nodiscard]] cluster::Told why(JobId job, int given, const Terms& terms) const;
  [[nodiscard]] core::Target sized(const core::ClusterView& view, const core::Job& job, const Terms& terms) const;
  void weigh_others(JobId job, const Terms& terms, core::Target& target) const;
  [[nodiscard]] core::Target misfit(const core::Job& job) const;
  // Slots: what it bought, as far as there is room.
  [[nodiscard]] int given_to(JobId job, int bought) const;

  Settings settings_;
  std::unique_ptr<core::Planner> whole_;
  // Jobs that have not ended and that a market of equal slots cannot serve: they have a deadline, or ask for a type.
  IdSet<JobId> particular_;

  std::unique_ptr<MarketState> market_state_;  // none until the first plan, and while there are such jobs
  cluster::EngineRows rows_;
  std::uint64_t nodes_ = 0;  // digest of those that the rest counts with
  int node_slots_ = 0;       // of nodes that take jobs
  int slots_per_node_ = 1;
  std::map<std::pair<int, bool>, int> gangs_held_;  // workers that an empty cluster holds, by their slots and whether
                                                    // they may be on several types, as far as asked
  int bid_room_ = -1;                               // slots that the rows in the market state were made for
  IdTable<JobId, Part> parts_;
  int told_capacity_ = -1;  // slots that the newest reasons were given for
  // Sums over parts_.
  int claimed_ = 0;
  int on_cordoned_ = 0;
  GangRoom gang_room_;
  // Of the jobs that bid, as of the newest settlement: those that are to have less than they hold, and those whose
  // workers have several slots and that are to have more. What the latter get there is room for, where that is less;
  // and nothing for those that leave so that there is.
  IdSet<JobId> giving_;
  IdSet<JobId> wanting_gangs_;
  IdTable<JobId, int> cut_;
  IdSet<JobId> without_;  // of these, those that hold nothing and get nothing: what they bought is sold to others
  DueTimes thaws_;        // when sizes can change again, of those that bid
  JobId next_in_line_;    // whose bid found no room first, as of the newest plan; none = all bids got all
  Jobs followed_;         // since they were read last
  Jobs unsent_updates_;   // jobs with possible news that the state does not tell yet
};

// tidal as an engine runs it: its market lives between decisions.
[[nodiscard]] std::unique_ptr<const core::Policy> make_tidal(std::string_view name);

}  // namespace tidepool::policies::tidal
