// Conversion between the job file and the engine's specification: nothing of the file is lost.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "api/v1/job_spec.hpp"
#include "core/state/job_spec.hpp"

namespace tidepool::leader {

// Requires: a spec in which read_job_spec() found no error.
[[nodiscard]] core::JobSpec to_core(const api::v1::JobSpecV1& file);
[[nodiscard]] api::v1::JobSpecV1 to_file(const core::JobSpec& spec);

// The file with every default written out, as users and workers see it.
[[nodiscard]] nlohmann::json job_document(const core::JobSpec& spec);

}  // namespace tidepool::leader
