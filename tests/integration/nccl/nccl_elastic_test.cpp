// Elastic sessions end to end over the fake NCCL, as real processes: grow, death within a sum and within a build,
// faults of the library, and workers that have no NCCL.
#include <catch2/catch.hpp>

#include <csignal>
#include <fstream>
#include <map>

#include "tests/support/elastic_scene.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tidepool::test {
namespace {

const std::string kFolder = FAKE_LIBRARIES;

// What one worker's environment has beside the libraries; by worker number, 0 = all.
using Faults = std::map<std::uint64_t, std::map<std::string, std::string>>;

void set(const std::string& name, const std::string& value) {
  ::setenv(name.c_str(), value.c_str(), 1);
}

struct GpuScene : Scene {
  explicit GpuScene(TinyJobOptions options, Faults faults = {})
      : Scene(std::move(options), [this, faults = std::move(faults)](const WorkerPlace& place) {
          set("TIDEPOOL_NCCL_LIBRARY", kFolder + "/libfake_nccl_2_28.so");
          set("TIDEPOOL_CUDART_LIBRARY", kFolder + "/libfake_cudart.so");
          set("CUDA_VISIBLE_DEVICES", "GPU-" + place.worker.text());
          set("FAKE_NCCL_LOG", (folder / "log").string());
          for (const std::uint64_t number : {std::uint64_t{0}, place.worker.number()}) {
            const auto found = faults.find(number);
            if (found == faults.end()) continue;
            for (const auto& [name, value] : found->second) set(name, value);
          }
        }) {}

  [[nodiscard]] std::map<std::string, int> calls() const {
    std::map<std::string, int> found;
    std::ifstream in(folder / "log");
    std::string pid;
    for (std::string call; in >> pid >> call;) ++found[call];
    return found;
  }

  TemporaryFolder folder;
};

}  // namespace

TEST_CASE("a job over NCCL grows and shrinks without a step done twice") {
  GpuScene scene({.steps = 200, .step_us = 1'000});
  scene.start(2);
  scene.workers.push_back(scene.boot());
  scene.leader.commit(scene.workers);
  REQUIRE(scene.enters(scene.workers[2], 2));
  const WorkerId leaving_worker = scene.workers.front();
  scene.workers.erase(scene.workers.begin());
  scene.leader.commit(scene.workers);
  REQUIRE(scene.leader.run_until([&] { return !scene.leader.alive(leaving_worker); }));
  CHECK(scene.leader.exits().at(leaving_worker) == 0);
  scene.finish();
  for (const auto& switched : scene.leader.received<api::SwitchedMessage>()) CHECK(switched.steps_redone == 0);
  auto calls = scene.calls();
  CHECK(calls["init"] == 2 + 3 + 2);
  CHECK(calls["destroy"] + calls["abort"] == calls["init"]);
}

TEST_CASE("after kill -9 of any rank the survivors abort, build anew and lose no sample") {
  const std::size_t victim = GENERATE(0U, 1U, 2U);
  const bool old_library = GENERATE(false, true);
  CAPTURE(victim, old_library);
  Faults faults;
  if (old_library) faults[0]["TIDEPOOL_NCCL_LIBRARY"] = kFolder + "/libfake_nccl_2_18.so";
  GpuScene scene({.steps = 100, .step_us = 1'000}, faults);
  scene.start(3);
  scene.loses(victim);
  REQUIRE(scene.enters(scene.workers[0], 2));
  scene.finish();
  auto calls = scene.calls();
  CHECK(calls["init"] == 3 + 2);
  CHECK(calls["abort"] >= 2);
  CHECK(calls["destroy"] <= 2);  // of the second generation, which saw no fault
}

TEST_CASE("a worker that dies while the others wait for it in NCCL's initialisation costs one more generation") {
  // Worker 3 never comes out of its initialisation, so the others cannot come out of theirs.
  GpuScene scene({.steps = 100, .step_us = 1'000}, {{3, {{"FAKE_NCCL_HANG_INIT", "1"}}}});
  scene.start(2);
  scene.workers.push_back(scene.boot());
  scene.leader.commit(scene.workers);
  // All addresses are there: all ranks are building, while the old generation goes on.
  REQUIRE(scene.leader.run_until([&] { return scene.leader.addresses_known() == 3; }));
  REQUIRE(scene.reaches(scene.workers[0], scene.job.diary(scene.workers[0]).steps + 10));
  CHECK(scene.job.diary(scene.workers[0]).generation == 1);
  scene.loses(2);
  REQUIRE(scene.enters(scene.workers[0], 3));
  scene.finish();
  CHECK(scene.job.diary(scene.workers[0]).retries <= 1);
}

TEST_CASE("a rank that hangs within a sum is left behind as soon as the daemon says so") {
  GpuScene scene({.steps = 100, .step_us = 1'000}, {{2, {{"FAKE_NCCL_HANG_AFTER", "80"}}}});
  scene.start(3);
  const WorkerId witness = scene.workers[0];
  REQUIRE(scene.leader.run_until([&] { return now_us() - scene.job.diary(witness).last_commit_us > 300'000; }));
  scene.loses(1);
  REQUIRE(scene.enters(witness, 2));
  scene.finish();
}

TEST_CASE("a worker whose NCCL reports a fault that the others do not see ends, and they go on without it") {
  GpuScene scene({.steps = 100, .step_us = 1'000}, {{2, {{"FAKE_NCCL_ERROR_AFTER", "80"}}}});
  scene.start(3);
  const WorkerId faulty = scene.workers[1];
  REQUIRE(scene.leader.run_until([&] { return !scene.leader.alive(faulty); }));
  CHECK(scene.leader.exits().at(faulty) == 1);
  scene.workers.erase(scene.workers.begin() + 1);
  scene.leader.commit(scene.workers, true);
  scene.finish();
}

TEST_CASE("a worker that has NCCL and cannot listen for the others sums over NCCL") {
  GpuScene scene({.steps = 60, .hosts = {{2, "192.0.2.1"}}});  // no machine has this address
  scene.start(2);
  scene.finish();
  CHECK(scene.calls()["init"] == 2);
}

TEST_CASE("one worker without NCCL takes the whole generation to Gloo, and the job goes on") {
  GpuScene scene({.steps = 150, .step_us = 1'000}, {{3, {{"CUDA_VISIBLE_DEVICES", ""}}}});
  scene.start(2);
  CHECK(scene.calls()["init"] == 2);
  scene.workers.push_back(scene.boot());
  scene.leader.commit(scene.workers);
  REQUIRE(scene.enters(scene.workers[2], 2));
  scene.finish();
  CHECK(scene.calls()["init"] == 2);
}

TEST_CASE("a worker that is to use NCCL and has none says so and ends") {
  GpuScene scene({.steps = 10},
                 {{1, {{"TIDEPOOL_NCCL_LIBRARY", kFolder + "/nowhere.so"}, {"TIDEPOOL_BACKEND", "nccl"}}}});
  const WorkerId worker = scene.leader.spawn();
  REQUIRE(scene.leader.run_until([&] { return !scene.leader.alive(worker); }));
  CHECK(scene.leader.exits().at(worker) == 2);
}

}  // namespace tidepool::test
