#include "workers/agent/health/figures.hpp"

#include <catch2/catch.hpp>

namespace tidepool::agent {

TEST_CASE("figures come back as they were written") {
  const DeviceFigures gpu{
      .device = "GPU-7", .matmul_gflops = 30'000, .vendor_gflops = 50'000, .copy_gbps = 4'100, .pair_gbps = 180.5};
  const auto back = decode_figures(encode_figures(gpu));
  REQUIRE(back.ok());
  CHECK(back->device == "GPU-7");
  CHECK(back->matmul_gflops == 30'000);
  CHECK(back->vendor_gflops == 50'000);
  CHECK(back->copy_gbps == 4'100);
  CHECK(back->pair_gbps == 180.5);
  const auto cpu = decode_figures(encode_figures({.matmul_gflops = 3, .copy_gbps = 9}));
  REQUIRE(cpu.ok());
  CHECK(!cpu->vendor_gflops);
  CHECK(!cpu->pair_gbps);
}

TEST_CASE("an answer that is no answer is refused with what is wrong with it") {
  const auto wrong = [](const std::string& line) {
    const auto figures = decode_figures(line);
    return figures.ok() ? std::string("accepted") : figures.error().message;
  };
  CHECK_THAT(wrong("Segmentation fault"), Catch::Contains("no JSON"));
  CHECK_THAT(wrong(R"({"device": "cpu", "copy_gbps": 3})"), Catch::Contains("above zero"));
  CHECK_THAT(wrong(R"({"device": "cpu", "matmul_gflops": -1, "copy_gbps": 3})"), Catch::Contains("wrong"));
  CHECK_THAT(wrong(R"({"matmul_gflops": 1, "copy_gbps": 3})"), Catch::Contains("cpu or the name of a GPU"));
  CHECK_THAT(wrong(R"({"device": "cpu", "matmul_gflops": 1, "copy_gbps": 3, "speed": 1})"), Catch::Contains("speed"));
  CHECK_THAT(wrong("[]"), Catch::Contains("wrong"));
}

TEST_CASE("figures read as a sentence") {
  CHECK(describe({.device = "GPU-1", .matmul_gflops = 30'000, .vendor_gflops = 40'000, .copy_gbps = 4'100}) ==
        "GPU-1: 30000 GFLOP/s (75.0 % of cuBLAS), copies 4100 GB/s");
  CHECK(describe({.matmul_gflops = 3.14159, .copy_gbps = 9, .pair_gbps = 1.5}) ==
        "cpu: 3.1 GFLOP/s, copies 9.0 GB/s, sums with its neighbour 1.5 GB/s");
}

}  // namespace tidepool::agent
