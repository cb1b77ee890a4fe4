#include "workers/agent/health/cpu_probe.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

namespace tidepool::agent {
namespace {

constexpr int kBlock = 64;
constexpr double kGiga = 1e9;

template <class Act>
double best_seconds(int runs, Act act) {
  double best = 0;
  for (int run = 0; run < runs; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    act();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (run == 0 || seconds < best) best = seconds;
  }
  return std::max(best, 1e-9);
}

}  // namespace

void multiply_blocked(const float* a, const float* b, float* c, int size) {
  const auto at = [size](int row, int column) {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(size) + static_cast<std::size_t>(column);
  };
  std::fill_n(c, at(size, 0), 0.0F);
  for (int depth = 0; depth < size; depth += kBlock) {
    const int end = std::min(size, depth + kBlock);
    for (int row = 0; row < size; ++row) {
      for (int k = depth; k < end; ++k) {
        const float left = a[at(row, k)];
        for (int column = 0; column < size; ++column) c[at(row, column)] += left * b[at(k, column)];
      }
    }
  }
}

DeviceFigures measure_cpu(const CpuProbeOptions& options) {
  const auto side = static_cast<std::size_t>(options.matrix);
  std::vector<float> a(side * side, 0.5F);
  std::vector<float> b(side * side, 0.25F);
  std::vector<float> c(side * side);
  const double product = best_seconds(options.runs, [&] {
    multiply_blocked(a.data(), b.data(), c.data(), options.matrix);
    a[0] = c[0];  // the next run depends on this result, so no run can be optimised away
  });
  std::vector<char> from(options.copy_bytes, 1);
  std::vector<char> to(options.copy_bytes);
  const double copy = best_seconds(options.runs, [&] {
    std::memcpy(to.data(), from.data(), from.size());
    from[0] = to[from.size() - 1];
  });
  const double operations = 2.0 * static_cast<double>(side * side * side);
  return {.matmul_gflops = operations / product / kGiga,
          .copy_gbps = 2.0 * static_cast<double>(options.copy_bytes) / copy / kGiga};
}

}  // namespace tidepool::agent
