// What the scenarios of threads ask of a pool that tenants share: which jobs give way in a decision, what its user
// reads, and that nothing moves afterwards.
#pragma once

#include <string>
#include <vector>

#include "core/explain/current_reason.hpp"
#include "core/words/sentence.hpp"
#include "tests/support/shared_pool.hpp"

namespace tidepool::test {

// Two tenants that are each guaranteed half of eight slots; of more than that vision would have most.
inline std::vector<core::Tenant> two_halves() {
  return {{.name = "vision", .guarantee = 4, .weight = 100}, {.name = "speech", .guarantee = 4}};
}

// So many jobs of this size, each running.
inline std::vector<JobId> run_jobs(SharedPool& pool, const std::string& tenant, int jobs, int size) {
  std::vector<JobId> ids;
  for (int i = 0; i < jobs; ++i) ids.push_back(pool.running(tenant, size));
  return ids;
}

inline std::vector<JobId> submit_jobs(SharedPool& pool, const std::string& tenant, int jobs, int size) {
  std::vector<JobId> ids;
  for (int i = 0; i < jobs; ++i) ids.push_back(pool.submit(SharedPool::spec(tenant, size)));
  return ids;
}

// The jobs that a decision preempts, in its order.
inline std::vector<JobId> victims_of(const core::Decision& decision) {
  std::vector<JobId> victims;
  for (const auto& planned : decision.plan) {
    if (const auto* intent = std::get_if<core::PreemptIntent>(&planned.intent)) victims.push_back(intent->job);
  }
  return victims;
}

// Jobs step and time passes without an outside event, for longer than any pause between changes and, in twenty minutes,
// until loans have been counted several times: no job starts, stops or changes.
inline void require_still(SharedPool& pool, int minutes = 20) {
  for (int i = 0; i < minutes; ++i) {
    pool.story.pass(Duration::seconds(61));
    for (const auto& [id, job] : IdTable(pool.story.state().jobs)) {
      if (job->membership.switched && !job->membership.members.empty()) pool.story.steps(id, 1);
    }
    REQUIRE(names_of(pool.story.decide()).empty());
  }
}

// The sentence that lists and the job's own page show.
inline std::string told(const SharedPool& pool, JobId id) {
  return core::sentence(core::current_reason(pool.story.state(), pool.story.job(id)));
}

}  // namespace tidepool::test
