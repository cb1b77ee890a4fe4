// resources: of a job file: what each of its workers needs of its node.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.hpp"

namespace tidepool::api::v1 {

struct ResourcesSpec {
  int gpus_per_worker = 1;
  std::vector<std::string> gpu_types = {"any"};  // where speeds are told, the fastest first
  std::map<std::string, double> gpu_speeds;  // of a worker on each of the types, beside the others; empty = not told
  bool mixed_types = false;                  // its workers may be on slots of several types at a time
  std::optional<int> cpus;                   // of a worker; none = it asks for none of its own
  std::optional<std::int64_t> memory;        // bytes, of a worker; none = what its slots' shares are
};

[[nodiscard]] ResourcesSpec read_resources(const nlohmann::json& value, std::vector<FieldError>& errors);
// `mixed` and `memory` are told where they are asked for, so that other files are to the letter what they were before.
[[nodiscard]] nlohmann::json resources_document(const ResourcesSpec& resources);

}  // namespace tidepool::api::v1
