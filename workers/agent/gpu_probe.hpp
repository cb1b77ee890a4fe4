// Which GPUs this node has to offer. One slot each, in the order of the list.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace tidepool::agent {

struct Gpu {
  std::string uuid;  // what CUDA_VISIBLE_DEVICES takes: "GPU-..." or "MIG-..."
  std::string name;  // "NVIDIA H200"
};

class GpuProbe {
 public:
  GpuProbe() = default;
  GpuProbe(const GpuProbe&) = delete;
  GpuProbe& operator=(const GpuProbe&) = delete;
  virtual ~GpuProbe() = default;

  // An error means "no GPUs can be offered" and says why; an empty list does not occur.
  [[nodiscard]] virtual Result<std::vector<Gpu>> list() = 0;
};

}  // namespace tidepool::agent
