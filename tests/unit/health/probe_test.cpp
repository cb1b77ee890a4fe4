// The probe as the agent runs it: a process, real on the CPU, over the stand-ins for CUDA and NCCL as a GPU's.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/setting.hpp"
#include "tests/support/temporary_folder.hpp"
#include "workers/agent/health/join_probe.hpp"

namespace tidepool::agent {
namespace {

using test::Setting;
using test::TemporaryFolder;

std::string program() {
  return std::string(std::getenv("TIDEPOOL_BIN_DIR")) + "/tidepool-probe";
}

// A program that does what `script` says.
std::string script_at(const TemporaryFolder& folder, const std::string& script) {
  const auto path = folder / "probe";
  std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path.string();
}

std::string failure_of(const ProbeCommand& command) {
  const auto figures = run_probe(command);
  return figures.ok() ? std::string("an answer") : figures.error().message;
}

constexpr const char* kAnswer = R"(echo '{"device": "cpu", "matmul_gflops": %, "copy_gbps": 9}')";

std::string answer(int gflops) {
  std::string text = kAnswer;
  return text.replace(text.find('%'), 1, std::to_string(gflops));
}

}  // namespace

TEST_CASE("the CPU is measured by a process of its own, and sums with a second one") {
  const auto figures = run_probe({.program = program(), .arguments = {"--pair"}, .visible_devices = ""});
  REQUIRE(figures.ok());
  CHECK(figures->device == "cpu");
  CHECK(figures->matmul_gflops > 0);
  REQUIRE(figures->pair_gbps);
  CHECK(*figures->pair_gbps > 0);
}

TEST_CASE("a machine without a GPU says what is missing") {
  const Setting library("TIDEPOOL_GPU_LIBRARY", "/nowhere/libtidepool-gpu.so");
  const std::string failure =
      failure_of({.program = program(), .arguments = {"--gpu", "GPU-0"}, .visible_devices = "GPU-0"});
  CHECK_THAT(failure, Catch::Contains("the GPU library cannot be loaded"));
}

TEST_CASE("a probe that hangs is killed at its deadline; one that crashes or talks nonsense is quoted") {
  const TemporaryFolder folder;
  const auto begin = std::chrono::steady_clock::now();
  CHECK_THAT(failure_of({.program = script_at(folder, "sleep 60"),
                         .arguments = {},
                         .visible_devices = {},
                         .deadline = std::chrono::milliseconds(200)}),
             Catch::Contains("was killed"));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
  const auto says = [&](const std::string& script) {
    return failure_of({.program = script_at(folder, script), .arguments = {}, .visible_devices = {}});
  };
  CHECK_THAT(says("echo 'the GPU fell off the bus' >&2; exit 1"), Catch::Contains("the GPU fell off the bus"));
  CHECK_THAT(says("kill -SEGV $$"), Catch::Contains("it said nothing"));
  CHECK_THAT(says("echo '{\"device\"'"), Catch::Contains("no JSON"));
  CHECK(failure_of({.program = "/nowhere/probe", .arguments = {}, .visible_devices = {}}) != "an answer");
  CHECK(says("echo first; " + answer(5) + "; echo a library says goodbye >&2") == "an answer");
}

TEST_CASE("a probe that is given up ends at once, and leaves neither figures nor findings nor a record") {
  const TemporaryFolder folder;
  const auto begin = std::chrono::steady_clock::now();
  const NodeHealth health = probe_node({.program = script_at(folder, "sleep 60"),
                                        .gpus = {"GPU-a", "GPU-b"},
                                        .record = folder / "health.jsonl",
                                        .gives_up = [] { return true; }});
  CHECK(health.figures.empty());
  CHECK(health.findings.empty());
  CHECK_FALSE(std::filesystem::exists(folder / "health.jsonl"));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}

TEST_CASE("a node compares itself with its last good figures and keeps those when it finds itself slow") {
  const TemporaryFolder folder;
  JoinProbe probe{.program = script_at(folder, answer(100)), .gpus = {}, .record = folder / "health.jsonl"};
  CHECK(probe_node(probe).findings.empty());
  for (int round = 0; round < 2; ++round) {
    probe.program = script_at(folder, answer(50));
    CHECK(probe_node(probe).findings == std::vector<std::string>{"cpu computes at 50 % of what it did before"});
  }
  probe.program = script_at(folder, "exit 1");
  const NodeHealth silent = probe_node(probe);
  CHECK(silent.figures.empty());
  REQUIRE(silent.findings.size() == 1);
  CHECK_THAT(silent.findings[0], Catch::Contains("cpu: the probe failed"));
}

TEST_CASE("two GPUs are measured with cuBLAS beside them and summed over NCCL") {
  const TemporaryFolder folder;
  const std::string fakes = FAKE_LIBRARIES;
  const Setting cuda("TIDEPOOL_CUDART_LIBRARY", fakes + "/libfake_cudart.so");
  const Setting nccl("TIDEPOOL_NCCL_LIBRARY", fakes + "/libfake_nccl_2_28.so");
  const Setting log("FAKE_NCCL_LOG", (folder / "log").string());
  const Setting library("TIDEPOOL_GPU_LIBRARY", fakes + "/libfake_tidepool_gpu.so");
  const Setting small("TIDEPOOL_PROBE_MATRIX", "48");  // the stand-in for a GPU is slow
  const NodeHealth health =
      probe_node({.program = program(), .gpus = {"GPU-a", "GPU-b"}, .record = folder / "health.jsonl"});
  CAPTURE(health.findings);
  REQUIRE(health.figures.size() == 2);
  for (const DeviceFigures& figures : health.figures) {
    CHECK(figures.matmul_gflops > 0);
    CHECK(figures.vendor_gflops.value_or(0) > 0);
    CHECK(figures.pair_gbps.value_or(0) > 0);
  }
  CHECK(health.figures[1].device == "GPU-b");
  std::ifstream in(folder / "log");
  std::stringstream calls;
  calls << in.rdbuf();
  CHECK_THAT(calls.str(), Catch::Contains("init") && Catch::Contains("destroy"));
}

}  // namespace tidepool::agent
