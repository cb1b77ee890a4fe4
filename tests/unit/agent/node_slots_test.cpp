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

// Two whole GPUs, and one that is cut into instances of two profiles.
std::vector<Gpu> several_types() {
  return {{"GPU-aa1", "NVIDIA H200", 0},
          {"MIG-1", "NVIDIA A100-SXM4-40GB MIG 1g.5gb"},
          {"GPU-ab2", "NVIDIA H200", 2},
          {"MIG-12", "NVIDIA A100-SXM4-40GB MIG 1g.5gb"},
          {"MIG-3", "NVIDIA A100-SXM4-40GB MIG 3g.20gb"}};
}

}  // namespace

TEST_CASE("a node offers its GPUs, under the name a job file can ask for") {
  FixedProbe probe({{"GPU-a", "NVIDIA H200"}, {"GPU-b", "NVIDIA H200"}});
  const NodeSlots slots = find_slots({}, probe).value();
  CHECK(slots.count == 2);
  CHECK(slots.type == "nvidia-h200");
  CHECK(slots.gpus.size() == 2);
  CHECK(find_slots({.type = "fast"}, probe)->type == "fast");
  CHECK(cpus_of(slots, {0, 1, 2}) == std::vector<int>{0, 1, 2});
  CHECK(slots.slots_of_host() == 2);
}

TEST_CASE("without GPUs a node offers four CPU slots and says why") {
  FixedProbe probe(std::vector<Gpu>{});
  const NodeSlots slots = find_slots({}, probe).value();
  CHECK(slots.count == 4);
  CHECK(slots.type == "cpu");
  CHECK(slots.gpus.empty());
  CHECK_THAT(slots.note, Catch::Contains("no GPUs here"));
}

TEST_CASE("CPU slots get the name of GPUs only where an operator says so") {
  FixedProbe probe(std::vector<Gpu>{});
  CHECK_THAT(find_slots({.type = "h100"}, probe).error().message,
             Catch::Contains("--slot-type h100: ") && Catch::Contains("no GPUs here") && Catch::Contains("--slots N"));
  CHECK(find_slots({.cpu_slots = 2, .type = "slow"}, probe)->type == "slow");
}

TEST_CASE("told how many CPU slots to offer, a node offers those and hides its GPUs") {
  FixedProbe probe(std::vector<Gpu>{{"GPU-a", "NVIDIA H200"}});
  const NodeSlots slots = find_slots({.cpu_slots = 7}, probe).value();
  CHECK(slots.count == 7);
  CHECK(slots.note == "7 CPU slots, as told");
  CHECK(find_slots({.cpu_slots = 1}, probe)->note == "1 CPU slot, as told");
  CHECK(slots.gpus.empty());
}

TEST_CASE(
    "on a host with several types of GPU an agent offers those that it is told of, and refuses to take them all") {
  FixedProbe probe(several_types());
  const auto all = find_slots({}, probe);
  REQUIRE_FALSE(all.ok());
  CHECK(all.error().message ==
        "this host has GPUs of several types: nvidia-a100-sxm4-40gb-mig-1g.5gb (2 GPUs), "
        "nvidia-a100-sxm4-40gb-mig-3g.20gb (1 GPU), nvidia-h200 (2 GPUs); a node has slots of one type, so start an "
        "agent "
        "for each type, with --gpus TYPE, a name and a --state-dir of its own");
  CHECK_FALSE(find_slots({.type = "fast"}, probe).ok());
  const NodeSlots whole = find_slots({.gpus = "nvidia-h200"}, probe).value();
  CHECK(whole.type == "nvidia-h200");
  CHECK(gpus_of(whole, {0, 1}) == std::vector<std::string>{"GPU-aa1", "GPU-ab2"});
  const NodeSlots small = find_slots({.gpus = "nvidia-a100-sxm4-40gb-mig-1g.5gb"}, probe).value();
  CHECK(small.type == "nvidia-a100-sxm4-40gb-mig-1g.5gb");
  CHECK(gpus_of(small, {0, 1}) == std::vector<std::string>{"MIG-1", "MIG-12"});
  CHECK(find_slots({.gpus = "nvidia-h200", .type = "fast"}, probe)->type == "fast");
}

TEST_CASE("GPUs are named by UUIDs or their beginnings, each of which means one") {
  FixedProbe probe(several_types());
  const auto uuids = [&](const char* asked) {
    const NodeSlots slots = find_slots({.gpus = asked}, probe).value();
    return gpus_of(slots, {0, 1, 2});
  };
  CHECK(uuids("GPU-ab") == std::vector<std::string>{"GPU-ab2"});
  CHECK(uuids("GPU-ab2,GPU-aa") == std::vector<std::string>{"GPU-aa1", "GPU-ab2"});  // in the order of the host
  CHECK(uuids("MIG-1") == std::vector<std::string>{"MIG-1"});                        // one that another begins with
  const auto why = [&](const char* asked) {
    const auto slots = find_slots({.gpus = asked}, probe);
    REQUIRE_FALSE(slots.ok());
    return slots.error().message;
  };
  CHECK_THAT(why("GPU-a"), Catch::StartsWith("--gpus GPU-a: several UUIDs begin with \"GPU-a\"; this host has "));
  CHECK_THAT(why("h200"), Catch::Contains("no type and no UUID here begins with \"h200\"") &&
                              Catch::Contains("nvidia-h200 (2 GPUs)") && Catch::Contains("GPU-ab2"));
  CHECK_THAT(why("GPU-aa,"), Catch::Contains("begins with \"\""));
  CHECK_THAT(why("GPU-aa,GPU-aa1"), Catch::Contains("named twice"));
  CHECK_THAT(why("GPU-aa,MIG-3"), Catch::StartsWith("--gpus GPU-aa,MIG-3 names GPUs of several types"));
  FixedProbe none(std::vector<Gpu>{});
  const auto absent = find_slots({.gpus = "nvidia-h200"}, none);
  REQUIRE_FALSE(absent.ok());
  CHECK(absent.error().message == "--gpus nvidia-h200: no GPUs here");
}

TEST_CASE("agents of one host divide its CPUs and its memory by its GPUs, and give none of them twice") {
  FixedProbe probe(several_types());
  const char* const types[] = {"nvidia-h200", "nvidia-a100-sxm4-40gb-mig-1g.5gb", "nvidia-a100-sxm4-40gb-mig-3g.20gb"};
  for (const int cpus : {1, 3, 5, 7, 64}) {
    std::vector<int> usable;
    for (int i = 0; i < cpus; ++i) usable.push_back(2 * i);
    std::vector<int> given;
    int shares = 0;
    for (const char* type : types) {
      const NodeSlots slots = find_slots({.gpus = type}, probe).value();
      CHECK(slots.slots_of_host() == 5);
      shares += slots.count;
      for (const int cpu : cpus_of(slots, usable)) given.push_back(cpu);
    }
    std::sort(given.begin(), given.end());
    CHECK(given == usable);
    CHECK(shares == 5);
  }
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
