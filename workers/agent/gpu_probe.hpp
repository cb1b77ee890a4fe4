// Which GPUs this node has to offer. One slot each, in the order of the list.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace tidepool::agent {

struct Gpu {
  std::string uuid;            // what CUDA_VISIBLE_DEVICES takes: "GPU-..." or "MIG-..."
  std::string name;            // "NVIDIA H200"
  std::optional<int> minor{};  // of its file /dev/nvidiaN; none: an instance, or the driver does not tell
};

class GpuProbe {
 public:
  GpuProbe() = default;
  GpuProbe(const GpuProbe&) = delete;
  GpuProbe& operator=(const GpuProbe&) = delete;
  virtual ~GpuProbe() = default;

  // An error means "no GPUs can be offered" and says why; an empty list does not occur.
  [[nodiscard]] virtual Result<std::vector<Gpu>> list() = 0;

  // Of how many processes the GPU holds memory for computing; none: the driver does not tell. Takes up to seconds.
  [[nodiscard]] virtual std::optional<int> processes_on(const std::string& uuid) = 0;
};

}  // namespace tidepool::agent
