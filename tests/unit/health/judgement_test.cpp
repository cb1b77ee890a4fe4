#include "workers/agent/health/judgement.hpp"

#include <catch2/catch.hpp>

namespace tidepool::agent {
namespace {

DeviceFigures gpu(const std::string& name, double gflops, double copy = 4'000, std::optional<double> pair = 200) {
  return {.device = name, .matmul_gflops = gflops, .vendor_gflops = gflops, .copy_gbps = copy, .pair_gbps = pair};
}

}  // namespace

TEST_CASE("devices within a fifth of each other and of themselves are left alone") {
  const std::vector<DeviceFigures> now = {gpu("a", 100), gpu("b", 95), gpu("c", 82), gpu("d", 103)};
  CHECK(judge(now, {}).empty());
  CHECK(judge(now, {gpu("a", 120), gpu("c", 100)}).empty());
}

TEST_CASE("one slow device among three is named, with how slow it is") {
  const auto findings = judge({gpu("a", 100), gpu("b", 60), gpu("c", 100)}, {});
  CHECK(findings == std::vector<std::string>{"b computes at 60 % of this node's median"});
  CHECK(judge({gpu("a", 100, 4'000), gpu("b", 100, 1'000), gpu("c", 100, 4'000)}, {}) ==
        std::vector<std::string>{"b copies at 25 % of this node's median"});
  CHECK(judge({gpu("a", 100), gpu("b", 100, 4'000, 20), gpu("c", 100)}, {}) ==
        std::vector<std::string>{"b sums with its neighbour at 10 % of this node's median"});
}

TEST_CASE("of two devices none is named: either may be the odd one") {
  CHECK(judge({gpu("a", 100), gpu("b", 50)}, {}).empty());
}

TEST_CASE("a device that is slower than it was is named, alone or not") {
  CHECK(judge({gpu("a", 70)}, {gpu("b", 10), gpu("a", 100)}) ==
        std::vector<std::string>{"a computes at 70 % of what it did before"});
  CHECK(judge({gpu("a", 100, 4'000, std::nullopt)}, {gpu("a", 100, 4'000, 200)}).empty());  // not measured this time
}

}  // namespace tidepool::agent
