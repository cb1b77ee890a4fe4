#include "workers/agent/health/judgement.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace tidepool::agent {
namespace {

constexpr std::size_t kNeighboursMin = 3;

struct Figure {
  const char* name;
  std::optional<double> (*of)(const DeviceFigures&);
};

constexpr std::array kFigures = {
    Figure{"computes", [](const DeviceFigures& f) { return std::optional(f.matmul_gflops); }},
    Figure{"copies", [](const DeviceFigures& f) { return std::optional(f.copy_gbps); }},
    Figure{"sums with its neighbour", [](const DeviceFigures& f) { return f.pair_gbps; }},
};

std::optional<double> median_of(const std::vector<DeviceFigures>& devices, const Figure& figure) {
  std::vector<double> values;
  for (const DeviceFigures& device : devices) {
    if (const auto value = figure.of(device)) values.push_back(*value);
  }
  if (values.size() < kNeighboursMin) return std::nullopt;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string sentence(const DeviceFigures& device, const Figure& figure, double share, const char* than) {
  std::array<char, 16> percent{};
  std::snprintf(percent.data(), percent.size(), "%.0f %%", 100 * share);
  return device.device + " " + figure.name + " at " + percent.data() + " of " + than;
}

}  // namespace

std::vector<std::string> judge(const std::vector<DeviceFigures>& now, const std::vector<DeviceFigures>& before) {
  std::vector<std::string> findings;
  for (const Figure& figure : kFigures) {
    const auto usual = median_of(now, figure);
    for (const DeviceFigures& device : now) {
      const auto value = figure.of(device);
      if (!value) continue;
      if (usual && *value < kSuspiciousShare * *usual) {
        findings.push_back(sentence(device, figure, *value / *usual, "this node's median"));
      }
      const auto same = std::find_if(before.begin(), before.end(),
                                     [&](const DeviceFigures& old) { return old.device == device.device; });
      const auto earlier = same == before.end() ? std::nullopt : figure.of(*same);
      if (earlier && *value < kSuspiciousShare * *earlier) {
        findings.push_back(sentence(device, figure, *value / *earlier, "what it did before"));
      }
    }
  }
  return findings;
}

}  // namespace tidepool::agent
