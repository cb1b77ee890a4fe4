// A change of an unended job: an RFC 7396 merge patch of its document, restricted to changeable fields. Pure. It checks
// the request where it arrives, and is applied to the job as it is when the command is carried out.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/json.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/job_spec.hpp"

namespace tidepool::leader {

struct ChangedSpec {
  core::JobSpec spec;  // invalid if there are errors
  std::vector<FieldError> errors;
};
// Errors that the stored job already has are not reported.
[[nodiscard]] ChangedSpec changed_spec(const core::JobSpec& before, const nlohmann::json& patch);

// The job's document with every default written out, canonical.
[[nodiscard]] std::string file_text(const core::Job& job);
// The entity tag of the job and its file_text(). Changes with everything that a command can change or that changes the
// membership; not with progress.
[[nodiscard]] std::string job_etag(const core::Job& job, const std::string& file);

}  // namespace tidepool::leader
