// Chooses the device that a run computes on.
#pragma once

#include "base/result.hpp"
#include "workers/trainer/device.hpp"
#include "workers/trainer/gpu/gpu_api.h"

namespace tidepool::trainer {

// Returns the GPU library if the run computes on the GPU, null if on the CPU. Logs the choice and, if the worker has a
// GPU that is not used, the reason.
[[nodiscard]] Result<const tidepool_gpu_api*> choose_device(Device device);

}  // namespace tidepool::trainer
