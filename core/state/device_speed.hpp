// The actual speed of one device of a node, as its agent's probe has measured it (workers/agent/health).
#pragma once

#include <string>

namespace tidepool::core {

struct DeviceSpeed {
  std::string device;        // "cpu", or the GPU's id
  double matmul_gflops = 0;  // of our own fp32 matrix product, > 0
  double copy_gbps = 0;      // bytes read and written within its memory, > 0
  bool operator==(const DeviceSpeed&) const = default;
};

}  // namespace tidepool::core
