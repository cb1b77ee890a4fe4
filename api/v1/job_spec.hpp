// The job file (YAML or JSON) as a value: strict to read, completed with defaults, echoed in full.
// This is the wire's view; schedulerd/leader/job_file.hpp turns it into core::JobSpec and back.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "api/v1/elastic_fields.hpp"
#include "api/v1/placement_fields.hpp"
#include "api/v1/resource_fields.hpp"
#include "api/v1/run_fields.hpp"
#include "api/v1/scaling_fields.hpp"
#include "base/json.hpp"
#include "base/time.hpp"

namespace tidepool::api::v1 {

struct BatchFields {
  std::int64_t global = 256;
  std::int64_t per_worker_max = 256;
  std::string on_resize = "constant";
  std::optional<std::int64_t> global_max;  // for those rules by which the batch follows the size
};

struct JobSpecV1 {
  std::string name;
  std::string tenant = "default";
  RunSpec run;
  ResourcesSpec resources;
  ElasticFields elastic;
  BatchFields batch;
  ScalingFields scaling;
  std::string straggler_detector = "default";  // straggler: {detector}; "none" = the job is not judged
  std::optional<std::int64_t> work_samples;
  std::optional<Duration> deadline;  // work: {deadline}, from submission; only beside work_samples
  int priority = 0;                  // "low" = -10, "normal" = 0, "high" = 10, or a whole number
  bool preemptible = true;
  std::optional<Duration> checkpoint_every;  // none = only when asked for and at parking
  std::string checkpoint_dir;  // a folder that every node sees; relative to the workdir; empty = the node's own
  int checkpoint_keep = 3;     // newest ones that stay
  TopologyFields topology;
  PlacementFields placement;
  std::optional<Duration> max_duration;
  int max_restarts = 3;
  std::map<std::string, std::string> labels;
};

// Reads a job document; on failure every finding with its JSON pointer, none hidden by another.
struct JobSpecFindings {
  std::vector<FieldError> errors;  // empty = spec is good
  JobSpecV1 spec;
};
[[nodiscard]] JobSpecFindings read_job_spec(const nlohmann::json& document);

// The document with every default written out; reading it back gives the same spec.
[[nodiscard]] nlohmann::json effective_document(const JobSpecV1& spec);

}  // namespace tidepool::api::v1
