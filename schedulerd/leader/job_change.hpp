// A change of a job while it lives: an RFC 7396 merge patch of its document, as far as that can change. Pure. The
// request is looked over with it where it comes in, and carried out with it on the job as it is then.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/json.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/job_spec.hpp"

namespace tidepool::leader {

struct ChangedSpec {
  core::JobSpec spec;  // of no use with errors
  std::vector<FieldError> errors;
};
// An error that the job has been stored with is none of the change.
[[nodiscard]] ChangedSpec changed_spec(const core::JobSpec& before, const nlohmann::json& patch);

// The job's document with every default written out, canonical.
[[nodiscard]] std::string file_text(const core::Job& job);
// Of the job and its file_text(). Changes with everything that a command can change or that changes the membership; not
// with progress.
[[nodiscard]] std::string job_etag(const core::Job& job, const std::string& file);

}  // namespace tidepool::leader
