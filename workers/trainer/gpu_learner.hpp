// Which device a run computes on.
#pragma once

#include "base/result.hpp"
#include "workers/trainer/device.hpp"
#include "workers/trainer/gpu/gpu_api.h"

namespace tidepool::trainer {

// The GPU library if the run shall compute on the GPU, none if on the CPU. Says in the log which it is, and why not the
// GPU if one was given.
[[nodiscard]] Result<const tidepool_gpu_api*> choose_device(Device device);

}  // namespace tidepool::trainer
