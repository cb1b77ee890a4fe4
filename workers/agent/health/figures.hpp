// The real performance of a node's device, measured by tidepool-probe, and its encoding: one JSON object on one line.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"

namespace tidepool::agent {

struct DeviceFigures {
  std::string device = "cpu";           // or the GPU's name in CUDA_VISIBLE_DEVICES
  double matmul_gflops = 0;             // the project's own fp32 product
  std::optional<double> vendor_gflops;  // the same product by cuBLAS; GPUs only
  double copy_gbps = 0;                 // bytes read and written per second, within the device's memory
  std::optional<double> pair_gbps;      // allreduce with a second device, bytes summed per second
};

[[nodiscard]] std::string encode_figures(const DeviceFigures& figures);

// Strict: a missing, negative or unknown field is an error that names it.
[[nodiscard]] Result<DeviceFigures> decode_figures(const std::string& line);

// "cpu: 41 GFLOP/s, copies 12 GB/s", for a log.
[[nodiscard]] std::string describe(const DeviceFigures& figures);

}  // namespace tidepool::agent
