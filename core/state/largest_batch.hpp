// The most samples a step of a job can have: it has no more workers than that, for each needs one.
#pragma once

#include <cstdint>

#include "core/state/job_spec.hpp"

namespace tidepool::core {

// A program that says its batch itself may go up to the largest that its user names.
[[nodiscard]] inline std::int64_t largest_batch(const BatchSpec& batch) {
  return batch.on_resize == OnResize::kCallback ? batch.global_max.value_or(batch.global) : batch.global;
}

}  // namespace tidepool::core
