// Questions to a policy file about states of the cluster: the rows that the engine would plan with go to the host, its
// answer becomes a round, and a round can be compared with what the state gives the jobs now. The states are copies;
// nothing here changes them. Waits for the host, so it belongs on a thread of its own.
//
// What is known of the jobs is kept from one question to the next, so that a cluster with a long past is not gone
// through each time. Every answer is as if nothing had been kept.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "core/engine/engine.hpp"
#include "policies/engine/engine_rows.hpp"
#include "policies/host/policy_host.hpp"

namespace tidepool::policies::host {

struct RoundRequest {
  core::ClusterState state;  // which policy is active in it does not matter
  Instant now;               // not before the state's own time
  core::PolicyFileRef file;
  std::int64_t number = 0;
};

// A round that failed before it was asked.
[[nodiscard]] core::PolicyRound failed_round(const RoundRequest& asked, const PolicyFault& fault);

// A job that would get another size. Sizes are in workers.
struct RoundDifference {
  JobId job;
  int live = 0;
  int candidate = 0;
  core::Reason reason;  // of the candidate
};
// A pool of which the candidate says how many nodes it should have; what it leaves to the built-in rule is not
// compared.
struct PoolComparison {
  std::string pool;
  std::string slot_type;  // of its nodes; empty = not told before they join
  int live = 0;           // nodes that are there or on their way, without those on their way out
  int candidate = 0;      // within the pool's bounds
};
struct RoundComparison {
  Instant at;
  int jobs = 0;        // that were compared
  int slots_live = 0;  // given to them
  int slots_candidate = 0;
  std::vector<RoundDifference> differences;  // by job
  std::vector<PoolComparison> pools;         // by name, alike or not
  std::string fault;                         // then nothing was compared
  std::string message;
};

// Which jobs a follower of states has to look at: those that the state holds, and those that have left it since, or of
// which something else is remembered, as in a state of another past.
class FollowedJobs {
 public:
  struct News {
    IdSet<JobId> going_on;
    std::vector<JobId> ended;  // by id
  };
  [[nodiscard]] News catch_up(const core::ClusterState& state);

 private:
  IdSet<JobId> going_on_;  // of the state before
  SharedIdTable<JobId, std::shared_ptr<const core::EndedJob>> ended_;
};

class FileRounds {
 public:
  // `parts` are the engine's, and outlive it.
  explicit FileRounds(const core::Engine::Parts& parts) : parts_(parts) {}

  // A fault is a round, too.
  [[nodiscard]] core::PolicyRound ask(PolicyHost& host, std::span<const Param> params, const RoundRequest& asked);
  // What the round, were it the active file's, would give the jobs, against what they are given in `asked.state`: by
  // its plan, or where there is none by what they hold and are on the way to.
  [[nodiscard]] RoundComparison compare(const core::PolicyRound& round, const RoundRequest& asked);

 private:
  // The planner that compares the file.
  void choose_planner(const RoundRequest& asked);

  const core::Engine::Parts& parts_;
  // Questions and comparisons may be of different states.
  FollowedJobs asked_of_, compared_;
  cluster::EngineRows rows_;
  std::unique_ptr<core::Planner> planner_;  // the file's; made with the first comparison
  bool by_tenants_ = false;                 // what planner_ does
};

}  // namespace tidepool::policies::host
