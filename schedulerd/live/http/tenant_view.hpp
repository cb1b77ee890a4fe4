// What a token of one tenant learns of other tenants' jobs: that they are there and what they hold, never which they
// are. Everything that an answer or a stream says of more than the caller's own jobs passes through here.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/explain/explain.hpp"
#include "schedulerd/live/http/authenticator.hpp"
#include "schedulerd/live/service/service.hpp"

namespace tidepool::live::http {

// A picture, the jobs that have left the state, and the caller that is shown both.
struct SeenBy {
  const Published& seen;
  const Caller& caller;
  History& past;
  std::shared_ptr<const ForecastPicture> forecasts = nullptr;  // null: none is shown
};

// Of the picture, or if it has left the state of the past; null: there is none.
[[nodiscard]] std::shared_ptr<const core::Job> job_of(const Published& seen, JobId id, History& past);

// The job if it exists, waiting, running or ended, and the caller may see it; else null.
[[nodiscard]] std::shared_ptr<const core::Job> visible_job(const SeenBy& seen_by, JobId id);

// Its id, or "a job of another tenant" where the caller may not see it.
[[nodiscard]] std::string name_of(const SeenBy& seen_by, JobId id);

// `said` without the identity of jobs that the caller may not see: an id inside a text becomes "a job of another
// tenant", a number that is one is left out, and with a rival what it is measured by (its sentence still says what a
// slot brings elsewhere). What users have written themselves stays as it is: names, labels, job files, the last words
// of a worker. A caller of no tenant gets `said` unchanged.
[[nodiscard]] nlohmann::json without_foreign_jobs(nlohmann::json said, const SeenBy& seen_by);

// What would change a verdict, told to the caller: what only an admin of all tenants may do says so, and a job that the
// caller may not cancel is not named as one to cancel. The text passes through without_foreign_jobs(), too.
[[nodiscard]] std::vector<std::string> advice_for(const SeenBy& seen_by, const std::vector<core::Advice>& advice);

// Names the tenants that keep slots from the job's, of those that the caller may see, in the evidence and in the
// advice; of others core::explain() tells as much as the caller may know.
void add_keepers(const SeenBy& seen_by, const core::ClusterState& state, const core::Job& job,
                 core::Explanation& explanation);

// False: `said`, canonical JSON, is the same for all callers. True: it may name a job.
[[nodiscard]] bool may_name_jobs(std::string_view said);

}  // namespace tidepool::live::http
