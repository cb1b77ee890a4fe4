// From the job file's words to the core's: api::v1::JobSpecV1 -> core::JobSpec.
#pragma once

#include "api/v1/job_spec.hpp"
#include "core/state/job_spec.hpp"

namespace tidepool::live::http {

// Requires: a spec that read_job_spec() found no error in.
[[nodiscard]] core::JobSpec to_core(const api::v1::JobSpecV1& spec);

}  // namespace tidepool::live::http
