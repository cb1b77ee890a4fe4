// What each tenant's jobs could use and what the plan gives them: sums by tenant, updated job by job, so that the cost
// of an event depends on the jobs that it changes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// The need of one job, in slots.
struct JobNeed {
  std::optional<std::size_t> tenant = {};  // index in the tree; none = the tenant is not in the tree
  bool counts = false;                     // a plan includes the job
  bool claims = false;                     // it is a running fixed allocation
  int firm = 0;                            // firm_slots()
  int most = 0;   // at its largest size; for a fixed allocation the slots that it holds or will hold
  int given = 0;  // by the newest plan; for a running fixed allocation the slots that it holds or will hold
  std::optional<std::size_t> asks = {};  // requests certain slot types only: index of their set (asked_types.hpp)
  int unmet = 0;                         // the part of `given` that its user has pinned and that it does not hold
  int step = 0;                          // additional slots up to its next size; 0 = it has its largest size
};

// A fixed allocation: its own policy or its user sets its size (policy.hpp), and no plan takes slots from it.
[[nodiscard]] bool is_fixed_claim(const Job& job, bool has_own_policy);
// Slots that a plan cannot reclaim once the job has them. For a job with its own policy, the most that it may grow to;
// with a size pinned by its user, that size; for a job that must not be preempted, its smallest size; else none.
[[nodiscard]] int firm_slots(const Job& job, bool has_own_policy);
// Slots that it holds, or is about to hold: counts the slots of workers that are not leaving.
[[nodiscard]] int slots_kept(const ClusterState& state, const Job& job);
// What a plan that includes the job must know of it. The caller sets its tenant.
[[nodiscard]] JobNeed need_of(const ClusterState& state, const Job& job, bool has_own_policy);

// A sum over jobs as a number of slots, limited to the largest int.
[[nodiscard]] constexpr int as_slots(std::int64_t slots) {
  return static_cast<int>(std::min<std::int64_t>(slots, std::numeric_limits<int>::max()));
}

class TenantNeeds {
 public:
  struct Sums {
    IdSet<JobId> jobs;  // that have not left the state
    std::int64_t most = 0;
    std::int64_t given = 0;
    std::int64_t unmet = 0;                           // JobNeed::unmet
    IdSet<JobId> firm;                                // jobs that count and are firm
    IdSet<JobId> claims;                              // jobs with JobNeed::claims
    std::map<int, int> steps;                         // number of jobs by JobNeed::step, without jobs that have none
    std::map<std::size_t, int> asking;                // number of jobs that count, by JobNeed::asks
    std::map<std::size_t, std::int64_t> given_typed;  // slots, by JobNeed::asks; none for running fixed allocations
  };

  // Starts with another tree of `tenants` tenants: no job is known.
  void reset(std::size_t tenants);
  // Sets the job's present need; null removes a job that has left the state.
  void put(JobId job, const JobNeed* need);
  [[nodiscard]] const JobNeed* find(JobId job) const;
  // By index in the tree. They stay where they are until reset().
  [[nodiscard]] const std::vector<Sums>& by_tenant() const { return sums_; }
  // Increases whenever a tenant gets its first job or loses its last one.
  [[nodiscard]] std::uint64_t revision() const { return revision_; }

 private:
  void add(JobId job, const JobNeed& need, int sign);

  IdTable<JobId, JobNeed> needs_;
  std::vector<Sums> sums_;
  std::uint64_t revision_ = 0;
};

}  // namespace tidepool::core
