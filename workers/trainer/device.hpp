// Where gradients are computed: a choice of the job, run.args.device.
#pragma once

#include <optional>
#include <string>

namespace tidepool::trainer {

enum class Device {
  kAuto,  // the GPU if the worker was given one and it can be used, else the CPU
  kCpu,
  kGpu,  // nothing else: without one the run does not start
};

// "auto", "cpu" or "gpu".
[[nodiscard]] std::optional<Device> parse_device(const std::string& text);

}  // namespace tidepool::trainer
