// The daemon's part in transferring a saved state to the node where its job starts: it pairs the requesting agent with
// the agent that has the state, forwards what they must know of each other, and abandons a transfer that takes too
// long. The engine decides which transfers there are (Recovery::moving). Pure.
//
// Rule: only the newest request of a job counts, so two transfers for one job are never paired. Nothing here is stored:
// after a restart agents ask again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/state/cluster_state.hpp"
#include "core/state/fact.hpp"
#include "schedulerd/leader/orders.hpp"
#include "schedulerd/leader/turn_items.hpp"

namespace tidepool::leader {

class StateMoves {
 public:
  // Continues the transfers under way.
  explicit StateMoves(const core::ClusterState& state);

  struct Outcome {
    std::optional<core::Fact> fact;
    std::vector<NodeOrder> orders;
  };
  // Call when a decision that starts these jobs was accepted.
  void follow(const std::vector<JobId>& starting, const core::ClusterState& state);
  [[nodiscard]] Outcome on(const StateReportItem& item, const core::ClusterState& state);
  // Transfers whose time is over, one outcome each.
  [[nodiscard]] std::vector<Outcome> overdue(Instant now, const core::ClusterState& state);
  [[nodiscard]] std::optional<Instant> next_due() const;

 private:
  struct Request {
    JobId job;
    core::StateMove move;
  };
  void watch(const core::Job& job);
  [[nodiscard]] Outcome on(NodeId node, const api::StateWantedReport& report, const core::ClusterState& state);
  [[nodiscard]] Outcome on(NodeId node, const api::StateOfferedReport& report, const core::ClusterState& state);
  [[nodiscard]] Outcome on(NodeId node, const api::StateRefusedReport& report, const core::ClusterState& state);
  [[nodiscard]] static Outcome on(NodeId node, const api::StateBroughtReport& report, const core::ClusterState& state);
  [[nodiscard]] static Outcome on(NodeId node, const api::StateLeftReport& report, const core::ClusterState& state);
  [[nodiscard]] std::optional<Request> take(std::uint64_t request, NodeId from, const core::ClusterState& state);

  std::uint64_t next_request_ = 1;
  std::map<std::uint64_t, Request> requests_;  // unanswered; at most one per job
  std::map<JobId, Instant> until_;             // deadlines of transfers that have begun
};

}  // namespace tidepool::leader
