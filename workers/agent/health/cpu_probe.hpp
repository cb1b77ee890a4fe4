// Measures a CPU slot by one thread's matrix product and copy, so that nodes without GPUs can be compared too.
#pragma once

#include <cstddef>

#include "workers/agent/health/figures.hpp"

namespace tidepool::agent {

struct CpuProbeOptions {
  int matrix = 256;                     // rows and columns
  std::size_t copy_bytes = 32U << 20U;  // larger than most caches
  int runs = 5;                         // the best one counts, because others use the machine too
};

// Takes about a tenth of a second with the defaults.
[[nodiscard]] DeviceFigures measure_cpu(const CpuProbeOptions& options);

// c = a x b, row-major, size x size.
void multiply_blocked(const float* a, const float* b, float* c, int size);

}  // namespace tidepool::agent
