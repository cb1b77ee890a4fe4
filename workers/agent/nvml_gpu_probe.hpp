// Queries the NVIDIA driver through NVML. The library is loaded at run time, so that the same binary also runs on a
// node without a driver and reports that.
#pragma once

#include <string>

#include "workers/agent/gpu_probe.hpp"

namespace tidepool::agent {

class NvmlGpuProbe : public GpuProbe {
 public:
  explicit NvmlGpuProbe(std::string library = "libnvidia-ml.so.1");
  [[nodiscard]] Result<std::vector<Gpu>> list() override;
  [[nodiscard]] std::optional<int> processes_on(const std::string& uuid) override;

 private:
  std::string library_;
};

}  // namespace tidepool::agent
