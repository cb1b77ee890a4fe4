// The trainer on the GPU library as a program loads it; the library is built for the CPU.
#include <catch2/catch.hpp>

#include <fstream>

#include "tests/support/setting.hpp"
#include "tests/support/temporary_folder.hpp"
#include "workers/trainer/gpu/gpu_library.hpp"
#include "workers/trainer/gpu_learner.hpp"
#include "workers/trainer/training.hpp"

namespace tidepool::trainer {
namespace {

using test::Setting;

const std::string kLibrary = std::string(FAKE_LIBRARIES) + "/libfake_tidepool_gpu.so";
const std::string kCuda = std::string(FAKE_LIBRARIES) + "/libfake_cudart.so";

std::vector<double> losses_on(Device device, const std::string& folder) {
  Settings settings;
  settings.model = "charlm";
  settings.data = {"text"};
  settings.steps = 3;
  settings.hidden = 6;
  settings.context = 3;
  settings.embedding = 2;
  settings.global_batch = 16;
  settings.per_worker_max = 9;  // so that a step is computed in two parts
  settings.device = device;
  auto task = build_task(settings, folder);
  REQUIRE(task.ok());
  runtime::SessionOptions options;
  apply_settings(settings, *task->data, options);
  auto session = runtime::Session::open(options);
  REQUIRE(session.ok());
  std::vector<double> losses;
  const auto observe = [&](const StepReport& report) { losses.push_back(report.loss); };
  REQUIRE(train(**session, *task, settings, observe).ok());
  return losses;
}

}  // namespace

TEST_CASE("a run on the GPU has the losses of the same run on the CPU") {
  const Setting library("TIDEPOOL_GPU_LIBRARY", kLibrary);
  const Setting cuda("TIDEPOOL_CUDART_LIBRARY", kCuda);
  const test::TemporaryFolder folder;
  std::ofstream(folder / "text") << "the quick brown fox jumps over the lazy dog and runs away";
  const auto cpu = losses_on(Device::kCpu, folder.path().string());
  const auto gpu = losses_on(Device::kGpu, folder.path().string());
  REQUIRE(cpu.size() == 3);
  REQUIRE(gpu.size() == 3);
  for (std::size_t step = 0; step < 3; ++step) CHECK(gpu[step] == Approx(cpu[step]).epsilon(1e-4));
}

TEST_CASE("a run that must have a GPU says why it has none; auto goes on with the CPU") {
  const Setting library("TIDEPOOL_GPU_LIBRARY", "/nowhere/libtidepool-gpu.so");
  const Setting given("CUDA_VISIBLE_DEVICES", "GPU-0");
  const auto automatic = choose_device(Device::kAuto);
  REQUIRE(automatic.ok());
  CHECK(*automatic == nullptr);
  const auto refused = choose_device(Device::kGpu);
  REQUIRE(!refused.ok());
  CHECK_THAT(refused.error().message,
             Catch::Contains("the GPU library cannot be loaded") && Catch::Contains("set TIDEPOOL_GPU_LIBRARY"));
}

TEST_CASE("a file that is no GPU library of ours is named") {
  const Setting library("TIDEPOOL_GPU_LIBRARY", "libm.so.6");
  const auto loaded = load_gpu_library();
  REQUIRE(!loaded.ok());
  CHECK_THAT(loaded.error().message, Catch::Contains("is no library of Tidepool"));
}

TEST_CASE("the GPU's figures: our product is cuBLAS's, and every figure is measured") {
  const Setting library("TIDEPOOL_GPU_LIBRARY", kLibrary);
  const auto gpu = load_gpu_library();
  REQUIRE(gpu.ok());
  const int size = GENERATE(1, 70);  // 70: the last tile is not full
  tidepool_gpu_figures figures{};
  REQUIRE((*gpu)->measure(size, 4'096, 1, &figures) == 0);
  CHECK(figures.matmul_error < 1e-5);
  for (const double figure : {figures.copy_gbps, figures.softmax_gbps, figures.sgd_gbps, figures.pack_gbps,
                              figures.row_sums_gbps, figures.matmul_gflops, figures.cublas_gflops}) {
    CHECK(figure > 0);
  }
  CHECK((*gpu)->measure(0, 4'096, 0, &figures) == -1);
  CHECK_THAT((*gpu)->last_error(), Catch::Contains("at least 1 x 1"));
}

}  // namespace tidepool::trainer
