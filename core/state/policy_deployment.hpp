// The policy file in charge, as facts have left it: which version, which go before it, and what it has answered.
//
// Rules. A file is asked outside of the engine; what it answers is a fact, so that a replay asks no file. Each question
// has a number, and only the answer to the newest one counts: a late one changes nothing. An answer speaks of jobs by
// id, is used for one plan, and is judged by what is true then: of a job whose user has asked for something else since,
// or that has come since, it says nothing. What it wants of pools stands until the next answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "core/state/reason.hpp"

namespace tidepool::core {

// So many failures one after another, and the version before it takes over.
inline constexpr int kPolicyFailuresMost = 3;
// So many versions can be gone back to.
inline constexpr std::size_t kEarlierPoliciesMost = 16;

// One version of a policy file with its parameters.
struct PolicyFileRef {
  std::string name;
  std::string version;        // 64 hexadecimal digits
  std::string params = "{}";  // canonical JSON: the parameters that are not as the file declares them
  // It has the hook share: where tenants share the pool they do so while it decides, too, with its claims.
  bool shares = false;
  // It has the hook provision: it is asked how many nodes pools should have, also while there is no job to plan for.
  bool provisions = false;
  bool operator==(const PolicyFileRef&) const = default;
};
// "capped@0123456789ab"
[[nodiscard]] std::string short_name(const PolicyFileRef& file);

// What a policy file says about one job.
struct PolicyWish {
  JobId job;
  std::uint64_t asked = 0;  // digest of what the job's user asked for at the time of the question
  bool admitted = true;
  std::optional<double> rank;  // lowest first; none = the policy does not rank
  std::optional<int> size;     // in slots; none = the policy does not size
  std::optional<int> mark;     // none = keep the one it has
  std::string word;            // a reason code, or a word of its own; empty = nothing said
  std::vector<ReasonNumber> numbers;
  bool operator==(const PolicyWish&) const = default;
};

// Slots that a tenant should have beyond its guarantee, by a policy file (core/tenants/surplus.hpp).
struct TenantClaim {
  std::string tenant;
  int slots = 0;  // >= 0
  bool operator==(const TenantClaim&) const = default;
};

// Nodes that a pool should have, by a policy file (core/provision/provision_stage.hpp).
struct PoolWish {
  std::string pool;
  int nodes = 0;                           // >= 0; the pool's bounds as of when they are used hold
  std::string word = {};                   // why, as of a job
  std::vector<ReasonNumber> numbers = {};  // by name
  bool operator==(const PoolWish&) const = default;
};

// One question and what came of it.
struct PolicyRound {
  std::int64_t number = 0;
  Instant asked_at;                // time of the state that it was asked about
  std::vector<PolicyWish> wishes;  // by job
  // By tenant; for one that is missing, and for those that the tree has got since, the built-in rule decides.
  std::vector<TenantClaim> claims;
  std::vector<PoolWish> pools;  // by name; of one that is missing the built-in rule decides
  std::string fault;            // "policy.deadline", ...; empty = it has answered
  std::string message;          // of the fault, for its author
  bool operator==(const PolicyRound&) const = default;

  // Null if it says nothing about the job.
  [[nodiscard]] const PolicyWish* wish_for(JobId job) const;
};

struct PolicyDeployment {
  std::optional<PolicyFileRef> active;  // none = the daemon's own policy decides
  std::vector<PolicyFileRef> earlier;   // that a rollback goes back to, the newest last; empty = to the daemon's own
  std::optional<PolicyFileRef> shadow;  // asked beside the active one; changes nothing
  Instant since;                        // the last change of `active`
  std::int64_t next_round = 1;          // the number of the question whose answer will count
  std::int64_t rounds = 0;              // answered by `active`, faults not counted
  int failures = 0;                     // of `active`, one after another
  std::optional<PolicyRound> answer;    // not yet planned with
  bool job_ended = false;               // since the newest plan, so that it is due
  std::vector<PoolWish> pools;          // of the newest round, by name; they stand until the next
  std::optional<Instant> told_at;       // when that round was learnt; none = none was since `active` changed
  bool operator==(const PolicyDeployment&) const = default;

  // Null: the built-in rule decides how many nodes the pool has.
  [[nodiscard]] const PoolWish* wish_for(const std::string& pool) const;
};

}  // namespace tidepool::core
