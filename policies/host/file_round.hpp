// Questions to a policy file about states of the cluster: the host gets the rows with which the engine would plan, its
// answer becomes a round, and a round can be compared with what the state gives the jobs now. The states are copies;
// nothing here changes them. It waits for the host, so it needs a thread of its own.
//
// The rows of jobs are kept from one question to the next, so that a cluster with a long history is not read completely
// each time. Every answer is as if nothing had been kept.
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
// A pool for which the candidate says how many nodes it should have; pools that it leaves to the built-in rule are not
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

// The jobs that a follower of states must look at: those in the state, those that have left it since, and those of
// which something else is remembered, as in a state with another history.
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

  // A fault also gives a round.
  [[nodiscard]] core::PolicyRound ask(PolicyHost& host, std::span<const Param> params, const RoundRequest& asked);
  // Compares what the round, as the active file's, would give the jobs with what `asked.state` gives them: by its plan
  // or, without a plan, by what they hold and are about to hold.
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
