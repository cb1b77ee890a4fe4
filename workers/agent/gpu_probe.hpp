// The GPUs that this node can offer: one slot each, in the order of the list.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace tidepool::agent {

struct Gpu {
  std::string uuid;            // value for CUDA_VISIBLE_DEVICES: "GPU-..." or "MIG-..."
  std::string name;            // "NVIDIA H200"
  std::optional<int> minor{};  // of its file /dev/nvidiaN; none: a MIG instance, or the driver does not report it
};

class GpuProbe {
 public:
  GpuProbe() = default;
  GpuProbe(const GpuProbe&) = delete;
  GpuProbe& operator=(const GpuProbe&) = delete;
  virtual ~GpuProbe() = default;

  // An error means that no GPUs can be offered, and says why; the list is never empty.
  [[nodiscard]] virtual Result<std::vector<Gpu>> list() = 0;

  // The number of processes that hold memory of the GPU for computing; none: the driver does not report it. Can take
  // seconds.
  [[nodiscard]] virtual std::optional<int> processes_on(const std::string& uuid) = 0;
};

}  // namespace tidepool::agent
