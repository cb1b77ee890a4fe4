#include "workers/agent/node_slots.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "workers/agent/nvml_gpu_probe.hpp"

namespace tidepool::agent {
namespace {

// A node with the GPUs that the test names.
class FixedProbe : public GpuProbe {
 public:
  explicit FixedProbe(std::vector<Gpu> gpus) : gpus_(std::move(gpus)) {}
  Result<std::vector<Gpu>> list() override {
    if (gpus_.empty()) return not_found("no GPUs here");
    return gpus_;
  }
  std::optional<int> processes_on(const std::string&) override { return std::nullopt; }

 private:
  std::vector<Gpu> gpus_;
};

}  // namespace

TEST_CASE("a node offers its GPUs, under the name a job file can ask for") {
  FixedProbe probe({{"GPU-a", "NVIDIA H200"}, {"GPU-b", "NVIDIA H200"}});
  const NodeSlots slots = find_slots(std::nullopt, "", probe);
  CHECK(slots.count == 2);
  CHECK(slots.type == "nvidia-h200");
  CHECK(slots.gpus.size() == 2);
  CHECK(find_slots(std::nullopt, "fast", probe).type == "fast");
}

TEST_CASE("without GPUs a node offers four CPU slots and says why") {
  FixedProbe probe(std::vector<Gpu>{});
  const NodeSlots slots = find_slots(std::nullopt, "", probe);
  CHECK(slots.count == 4);
  CHECK(slots.type == "cpu");
  CHECK(slots.gpus.empty());
  CHECK_THAT(slots.note, Catch::Contains("no GPUs here"));
}

TEST_CASE("told how many CPU slots to offer, a node offers those and hides its GPUs") {
  FixedProbe probe(std::vector<Gpu>{{"GPU-a", "NVIDIA H200"}});
  const NodeSlots slots = find_slots(7, "", probe);
  CHECK(slots.count == 7);
  CHECK(slots.gpus.empty());
}

TEST_CASE("a node without a driver, or with a library that is none, is told in words") {
  const auto absent = NvmlGpuProbe("libtidepool-absent.so.1").list();
  REQUIRE_FALSE(absent.ok());
  CHECK_THAT(absent.error().message, Catch::Contains("no NVIDIA driver on this node"));
  const auto other = NvmlGpuProbe("libm.so.6").list();
  REQUIRE_FALSE(other.ok());
  CHECK_THAT(other.error().message, Catch::Contains("lacks nvmlInit_v2"));
}

TEST_CASE("a worker reaches the files of its own GPUs, and of all where the driver does not tell whose is which") {
  NodeSlots node{.count = 2, .type = "h", .gpus = {{"GPU-a", "h", 0}, {"GPU-b", "h", 1}}};
  const auto has = [](const std::vector<std::string>& files, const char* file) {
    return std::count(files.begin(), files.end(), file) == 1;
  };
  const auto second = device_files(node, {1});
  CHECK(has(second, "/dev/nvidiactl"));
  CHECK(has(second, "/dev/nvidia1"));
  CHECK_FALSE(has(second, "/dev/nvidia0"));
  CHECK(gpus_of(node, {1}) == std::vector<std::string>{"GPU-b"});
  node.gpus[1].minor.reset();
  const auto any = device_files(node, {1});
  CHECK(has(any, "/dev/nvidia0"));
  CHECK(has(any, "/dev/nvidia-caps"));
}

}  // namespace tidepool::agent
