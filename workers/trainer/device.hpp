// Where gradients are computed; set by the job in run.args.device.
#pragma once

#include <optional>
#include <string>

namespace tidepool::trainer {

enum class Device {
  kAuto,  // the GPU if the worker has one and it can be used, else the CPU
  kCpu,
  kGpu,  // the GPU only: without a usable GPU the run does not start
};

// "auto", "cpu" or "gpu".
[[nodiscard]] std::optional<Device> parse_device(const std::string& text);

}  // namespace tidepool::trainer
