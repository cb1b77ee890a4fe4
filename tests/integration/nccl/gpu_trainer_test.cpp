// tidepool-trainer's own loop with workers on (fake) GPUs, which sum gradients and send state from there, and with
// workers on the CPU beside them: the losses are those of one worker on the CPU.
#include <catch2/catch.hpp>

#include <fstream>
#include <map>
#include <set>

#include "tests/support/setting.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_leader.hpp"
#include "workers/trainer/training.hpp"

namespace tidepool::test {
namespace {

const std::string kFolder = FAKE_LIBRARIES;

trainer::Settings settings_of(const std::string& model, trainer::Device device) {
  trainer::Settings settings;
  settings.model = model;
  settings.data = {model == "charlm" ? "text" : "table"};
  settings.steps = 25;
  settings.hidden = 6;
  settings.context = 3;
  settings.embedding = 2;
  settings.global_batch = 16;
  settings.per_worker_max = 5;  // a step is computed in parts
  settings.device = device;
  return settings;
}

struct Data : TemporaryFolder {
  Data() {
    std::ofstream(path() / "text") << "the quick brown fox jumps over the lazy dog and runs away from it, at last";
    std::ofstream table(path() / "table");
    for (int i = 0; i < 60; ++i) table << i % 7 << "," << (i * 5) % 11 << "," << (i % 3 == 0 ? "yes" : "no") << "\n";
  }
};

int run(const trainer::Settings& settings, const Data& data, runtime::SessionOptions options, double* loss) {
  auto task = trainer::build_task(settings, data.path().string());
  if (!task.ok()) return 2;
  apply_settings(settings, *task->data, options);
  auto session = runtime::Session::open(options);
  if (!session.ok()) return 2;
  const auto keep = [&](const trainer::StepReport& report) {
    if (loss != nullptr) *loss = report.loss;
  };
  const auto ending = trainer::train(**session, *task, settings, keep);
  session->reset();  // before what it points into
  return ending.ok() ? 0 : 1;
}

// In the worker's own process.
int work(const std::string& model, const Data& data, const WorkerPlace& place, bool on_gpu) {
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"TIDEPOOL_GPU_LIBRARY", kFolder + "/libfake_tidepool_gpu.so"},
                                          {"TIDEPOOL_CUDART_LIBRARY", kFolder + "/libfake_cudart.so"},
                                          {"TIDEPOOL_NCCL_LIBRARY", kFolder + "/libfake_nccl_2_28.so"},
                                          {"CUDA_VISIBLE_DEVICES", "GPU-" + place.worker.text()},
                                          {"FAKE_CUDA_SLOW_US", "100"}}) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  return run(settings_of(model, on_gpu ? trainer::Device::kGpu : trainer::Device::kCpu), data,
             {.agent_socket = place.socket_path, .worker = place.worker, .patience = runtime::Millis{30'000}}, nullptr);
}

}  // namespace

TEST_CASE("workers on GPUs, and beside one on the CPU, end with the loss of one worker on the CPU") {
  const std::string model = GENERATE("charlm", "mlp");
  const auto on_gpu = GENERATE(std::set<std::uint64_t>{1, 2, 3}, std::set<std::uint64_t>{1, 3});
  CAPTURE(model, on_gpu.size());
  const Data data;
  TestLeader leader(
      [&](const WorkerPlace& place) { return work(model, data, place, on_gpu.contains(place.worker.number())); });
  const auto boot = [&] {
    const WorkerId worker = leader.spawn();
    REQUIRE(leader.run_until([&] { return leader.ready(worker); }));
    return worker;
  };
  std::vector<WorkerId> workers = {boot(), boot()};
  const WorkerId joining_worker = boot();
  leader.commit(workers);
  REQUIRE(leader.run_until([&] { return !leader.received<api::StepsMessage>().empty(); }));
  workers.push_back(joining_worker);  // receives its state from the first one's GPU
  leader.commit(workers);
  REQUIRE(leader.run_until([&] { return leader.living() == 0; }, 60'000));
  const auto finished = leader.received<api::FinishedMessage>();
  REQUIRE(!finished.empty());
  for (const auto& audit : leader.received<api::EpochAuditedMessage>()) CHECK(audit.checksum_ok);
  double alone = 0;
  REQUIRE(run(settings_of(model, trainer::Device::kCpu), data, {}, &alone) == 0);
  CHECK(finished[0].loss == Approx(alone).epsilon(1e-3));
}

}  // namespace tidepool::test
