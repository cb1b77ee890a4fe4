#include "workers/agent/health/cpu_probe.hpp"

#include <catch2/catch.hpp>

#include <vector>

namespace tidepool::agent {

TEST_CASE("the probe's product is a matrix product, also where blocks do not fit") {
  for (const int size : {1, 3, 65, 130}) {
    CAPTURE(size);
    const auto side = static_cast<std::size_t>(size);
    std::vector<float> a(side * side);
    std::vector<float> b(side * side);
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = static_cast<float>(i % 7) - 3;
      b[i] = static_cast<float>(i % 5) - 2;
    }
    std::vector<float> c(side * side, 99);
    multiply_blocked(a.data(), b.data(), c.data(), size);
    for (std::size_t row = 0; row < side; ++row) {
      for (std::size_t column = 0; column < side; ++column) {
        float wanted = 0;
        for (std::size_t k = 0; k < side; ++k) wanted += a[row * side + k] * b[k * side + column];
        REQUIRE(c[row * side + column] == wanted);  // small whole numbers: exact in any order
      }
    }
  }
}

TEST_CASE("a CPU has a figure for computing and for copying") {
  const DeviceFigures figures = measure_cpu({.matrix = 64, .copy_bytes = 1U << 20U, .runs = 2});
  CHECK(figures.device == "cpu");
  CHECK(figures.matmul_gflops > 0);
  CHECK(figures.copy_gbps > 0);
  CHECK(!figures.vendor_gflops);
}

}  // namespace tidepool::agent
