// What each tenant's jobs could use and what the plan gives them: sums by tenant, brought up to date job by job, so
// that an event costs the jobs that it changes.
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

// Of one job, in slots.
struct JobNeed {
  std::optional<std::size_t> tenant = {};  // its place in the tree; none = the tree does not name it
  bool counts = false;                     // a plan counts with it
  bool claims = false;                     // it is a fixed claim that runs
  int firm = 0;                            // firm_slots()
  int most = 0;                            // at its largest size; of a fixed claim what it holds or is to hold
  int given = 0;                           // by the newest plan; of a fixed claim that runs what it holds or shall hold
  std::optional<std::size_t> asks = {};    // for some types of slots only: their set (asked_types.hpp)
  int unmet = 0;                           // slots of `given` that its user has pinned and that it does not hold
  int step = 0;                            // slots more that would bring it to its next size; 0 = it has its largest
};

// A fixed claim: its size is its own policy's or its user's (policy.hpp), and no plan takes anything from it.
[[nodiscard]] bool is_fixed_claim(const Job& job, bool has_own_policy);
// Slots that a plan cannot have back once the job has them: of one with a policy of its own the most that it may grow
// to, of one with a size pinned by its user that size, of one that must not be preempted its smallest size; else none.
[[nodiscard]] int firm_slots(const Job& job, bool has_own_policy);
// What it holds, or is about to: slots of workers that are not on their way out are counted.
[[nodiscard]] int slots_kept(const ClusterState& state, const Job& job);
// What a plan that counts with the job has to know of it. Its tenant is the caller's to find.
[[nodiscard]] JobNeed need_of(const ClusterState& state, const Job& job, bool has_own_policy);

// A sum over jobs as a number of slots, which is at most the largest int.
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
    IdSet<JobId> firm;                                // that count and are firm
    IdSet<JobId> claims;                              // that JobNeed::claims
    std::map<int, int> steps;                         // jobs by JobNeed::step, those without one left out
    std::map<std::size_t, int> asking;                // jobs that count, by JobNeed::asks
    std::map<std::size_t, std::int64_t> given_typed;  // slots, by JobNeed::asks; of fixed claims that run: none
  };

  // Another tree of so many tenants: nothing is known of any job.
  void reset(std::size_t tenants);
  // As the job is now; one that has left the state is taken out.
  void put(JobId job, const JobNeed* need);
  [[nodiscard]] const JobNeed* find(JobId job) const;
  // By place in the tree. They stay where they are until reset().
  [[nodiscard]] const std::vector<Sums>& by_tenant() const { return sums_; }
  // Rises whenever a tenant gets its first job or loses its last one.
  [[nodiscard]] std::uint64_t revision() const { return revision_; }

 private:
  void add(JobId job, const JobNeed& need, int sign);

  IdTable<JobId, JobNeed> needs_;
  std::vector<Sums> sums_;
  std::uint64_t revision_ = 0;
};

}  // namespace tidepool::core
