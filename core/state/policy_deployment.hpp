// The active policy file, as facts have set it: its version, the versions before it, and its answers.
//
// Rules. A file is evaluated outside of the engine; its answer is a fact, so that a replay evaluates no file. Each
// question has a number, and only the answer to the newest question counts: a late answer changes nothing. An answer
// refers to jobs by id, is used for one plan, and is checked against the state at that time: it does not apply to a job
// whose user has changed a request since, or that was submitted since. Its request for pools stays in force until the
// next answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "core/state/reason.hpp"

namespace tidepool::core {

// After this many consecutive failures the version before it takes over.
inline constexpr int kPolicyFailuresMost = 3;
// The number of versions to which a rollback is possible.
inline constexpr std::size_t kEarlierPoliciesMost = 16;

// One version of a policy file with its parameters.
struct PolicyFileRef {
  std::string name;
  std::string version;        // 64 hexadecimal digits
  std::string params = "{}";  // canonical JSON: the parameters that differ from the file's defaults
  // It has the hook share: where tenants share the pool, its claims divide the pool while the file is active.
  bool shares = false;
  // It has the hook provision: it computes how many nodes pools should have, even while there is no job to plan for.
  bool provisions = false;
  bool operator==(const PolicyFileRef&) const = default;
};
// "capped@0123456789ab"
[[nodiscard]] std::string short_name(const PolicyFileRef& file);

// The answer of a policy file for one job.
struct PolicyJobAnswer {
  JobId job;
  std::uint64_t asked = 0;  // digest of the user's requests at the time of the question
  bool admitted = true;
  std::optional<double> rank;  // lowest first; none = the policy has no ranking
  std::optional<int> size;     // in slots; none = the policy sets no sizes
  std::optional<int> mark;     // none = keep the present mark
  std::string word;            // a reason code, or a word of the policy; empty = none
  std::vector<ReasonNumber> numbers;
  bool operator==(const PolicyJobAnswer&) const = default;
};

// Slots that a tenant should have beyond its guarantee, according to a policy file (core/tenants/surplus.hpp).
struct TenantClaim {
  std::string tenant;
  int slots = 0;  // >= 0
  bool operator==(const TenantClaim&) const = default;
};

// Nodes that a pool should have, according to a policy file (core/provision/provision_stage.hpp).
struct PoolTarget {
  std::string pool;
  int nodes = 0;                           // >= 0; limited by the pool's bounds at the time of use
  std::string word = {};                   // the reason, as for a job
  std::vector<ReasonNumber> numbers = {};  // by name
  bool operator==(const PoolTarget&) const = default;
};

// One question and its result.
struct PolicyRound {
  std::int64_t number = 0;
  Instant asked_at;                          // time of the state that the question was about
  std::vector<PolicyJobAnswer> job_answers;  // by job
  // By tenant; the built-in rule decides for tenants that are missing, and for those added to the tree since.
  std::vector<TenantClaim> claims;
  std::vector<PoolTarget> pools;  // by name; the built-in rule decides for pools that are missing
  std::string fault;              // "policy.deadline", ...; empty = the file has answered
  std::string message;            // the fault's message, for the author of the file
  bool operator==(const PolicyRound&) const = default;

  // Null if the answer does not include the job.
  [[nodiscard]] const PolicyJobAnswer* answer_for(JobId job) const;
};

struct PolicyDeployment {
  std::optional<PolicyFileRef> active;  // none = the daemon's own policy decides
  std::vector<PolicyFileRef> earlier;   // for rollbacks, the newest last; empty = back to the daemon's own policy
  std::optional<PolicyFileRef> shadow;  // evaluated in addition to the active file; changes nothing
  Instant since;                        // time of the last change of `active`
  std::int64_t next_round = 1;          // the number of the question whose answer will count
  std::int64_t rounds = 0;              // answered by `active`, without faults
  int failures = 0;                     // consecutive failures of `active`
  std::optional<PolicyRound> answer;    // not yet planned with
  bool job_ended = false;               // since the newest plan, so that a new plan is due
  std::vector<PoolTarget> pools;        // of the newest round, by name; they stay in force until the next round
  std::optional<Instant> told_at;       // when the result of that round arrived; none = none has since `active` changed
  bool operator==(const PolicyDeployment&) const = default;

  // Null: the built-in rule decides how many nodes the pool has.
  [[nodiscard]] const PoolTarget* answer_for(const std::string& pool) const;
};

}  // namespace tidepool::core
