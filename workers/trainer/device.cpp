#include "workers/trainer/device.hpp"

namespace tidepool::trainer {

std::optional<Device> parse_device(const std::string& text) {
  if (text == "auto") return Device::kAuto;
  if (text == "cpu") return Device::kCpu;
  if (text == "gpu") return Device::kGpu;
  return std::nullopt;
}

}  // namespace tidepool::trainer
