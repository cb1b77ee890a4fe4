// The most samples a step of a job can have. It is also the most workers, because each worker needs a sample.
#pragma once

#include <cstdint>

#include "core/state/job_spec.hpp"

namespace tidepool::core {

// A program that determines its batch itself may go up to the largest batch that its user names.
[[nodiscard]] inline std::int64_t largest_batch(const BatchSpec& batch) {
  return batch.on_resize == OnResize::kCallback ? batch.global_max.value_or(batch.global) : batch.global;
}

}  // namespace tidepool::core
