#include "workers/agent/health/figures.hpp"

#include <array>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "base/json.hpp"

namespace tidepool::agent {
namespace {

using nlohmann::json;
constexpr double kFigureMax = 1e9;

std::string rounded(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), value < 100 ? "%.1f" : "%.0f", value);
  return text.data();
}

std::optional<double> optional_number(ObjectReader& in, const char* name) {
  if (!in.has(name)) return std::nullopt;
  return in.number(name, 0, 0, kFigureMax);
}

}  // namespace

std::string encode_figures(const DeviceFigures& figures) {
  json object = {
      {"device", figures.device}, {"matmul_gflops", figures.matmul_gflops}, {"copy_gbps", figures.copy_gbps}};
  if (figures.vendor_gflops) object["vendor_gflops"] = *figures.vendor_gflops;
  if (figures.pair_gbps) object["pair_gbps"] = *figures.pair_gbps;
  return object.dump();
}

Result<DeviceFigures> decode_figures(const std::string& line) {
  const auto object = parse_json(line);
  if (!object.ok()) return invalid_argument("the probe's answer is no JSON: " + object.error().message);
  std::vector<FieldError> errors;
  ObjectReader in(*object, "", errors);
  DeviceFigures figures;
  figures.device = in.text("device", "");
  if (figures.device.empty()) in.fail("device", "Missing", "is needed: cpu or the name of a GPU");
  // Zero also stands for a missing figure: a device that computes or copies nothing has none.
  const auto positive = [&](const char* name) {
    const double value = in.number(name, 0, 0, kFigureMax);
    if (value <= 0) in.fail(name, "Missing", "is needed and must be above zero");
    return value;
  };
  figures.matmul_gflops = positive("matmul_gflops");
  figures.copy_gbps = positive("copy_gbps");
  figures.vendor_gflops = optional_number(in, "vendor_gflops");
  figures.pair_gbps = optional_number(in, "pair_gbps");
  in.finish();
  if (errors.empty()) return figures;
  return invalid_argument("the probe's answer is wrong: " + errors.front().message);
}

std::string describe(const DeviceFigures& figures) {
  std::string text = figures.device + ": " + rounded(figures.matmul_gflops) + " GFLOP/s";
  if (figures.vendor_gflops && *figures.vendor_gflops > 0) {
    const double share = 100 * figures.matmul_gflops / *figures.vendor_gflops;
    text += " (" + rounded(share) + " % of cuBLAS)";
  }
  text += ", copies " + rounded(figures.copy_gbps) + " GB/s";
  if (figures.pair_gbps) text += ", sums with its neighbour " + rounded(*figures.pair_gbps) + " GB/s";
  return text;
}

}  // namespace tidepool::agent
