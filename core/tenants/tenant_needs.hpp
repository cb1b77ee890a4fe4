// What each tenant's jobs could use and what the plan gives them: sums by tenant, brought up to date job by job, so
// that an event costs the jobs that it changes.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

// Of one job, in slots.
struct JobNeed {
  std::string tenant;
  bool counts = false;  // a plan counts with it
  bool claims = false;  // it is a fixed claim that runs
  int firm = 0;         // firm_slots()
  int most = 0;         // at its largest size; of a fixed claim what it holds or is to hold
  int given = 0;        // by the newest plan; of a fixed claim that runs what it holds
  int step = 0;         // slots more that would bring it to its next size; 0 = it has its largest
};

// A fixed claim: its size is its own policy's or its user's (policy.hpp), and no plan takes anything from it.
[[nodiscard]] bool is_fixed_claim(const Job& job, bool has_own_policy);
// Slots that a plan cannot have back once the job has them: of one with a policy of its own the most that it may grow
// to, of one with a size pinned by its user that size, of one that must not be preempted its smallest size; else none.
[[nodiscard]] int firm_slots(const Job& job, bool has_own_policy);
// What it holds, or is about to: slots of workers that are not on their way out are counted.
[[nodiscard]] int slots_kept(const ClusterState& state, const Job& job);

class TenantNeeds {
 public:
  struct Sums {
    IdSet<JobId> jobs;  // that have not left the state
    std::int64_t most = 0;
    std::int64_t given = 0;
    IdSet<JobId> firm;         // that count and are firm
    std::map<int, int> steps;  // jobs by JobNeed::step, those without one left out
  };

  // As the job is now; one that has left the state is taken out.
  void put(JobId job, const JobNeed* need);
  [[nodiscard]] const JobNeed* find(JobId job) const;
  [[nodiscard]] const std::map<std::string, Sums>& by_tenant() const { return sums_; }

 private:
  void add(JobId job, const JobNeed& need, int sign);

  IdTable<JobId, JobNeed> needs_;
  std::map<std::string, Sums> sums_;  // of tenants with jobs
};

}  // namespace tidepool::core
